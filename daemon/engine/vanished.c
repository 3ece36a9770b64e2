/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device that went away takes its settings with it: there is nothing left to give back, and the numbers
 * of its interrupts may be another device's by now. Its entries leave the ledger, and that is said once.
 * So does what was set by hand of it: when a device comes again, perhaps another one in the same slot, it
 * finds the profile as every new device does.
 *
 * Gone is only what sysfs does not have any more. A NIC that is merely down has freed its interrupts, and
 * finds them as they were when it comes up again.
 */
#include <stdio.h>

#include "base/log.h"
#include "engine/internal.h"

/* The sysfs device of an identity, "devices/…|name"; false for one of another kind. */
static bool device_of(const char *identity, char *buf, size_t size)
{
	return startswith(identity, "devices/") &&
	       format_into(buf, size, "sys/%.*s", (int)strcspn(identity, "|"), identity) >= 0;
}

/* One line and one entry of the history for all that a device had. */
static void say(struct engine *e, const char *device, unsigned n)
{
	char text[640];

	snprintf(text, sizeof(text),
		 "/%s is gone, and %u changed setting%s with it: nothing is left to give back",
		 device, n, n == 1 ? "" : "s");
	log_notice("%s", text);
	engine_remember(e, &(struct history_entry){.kind = HISTORY_EVENT}, NULL, NULL, text);
}

static void drop_pins(struct engine *e)
{
	char device[IDENTITY_MAX + 4];

	for (size_t i = e->n_pins; i > 0; i--) {
		const struct pin *pin = &e->pins[i - 1];

		if (!device_of(pin->target.identity, device, sizeof(device)) ||
		    io_exists(e->io, device))
			continue;
		log_notice("/%s is gone, and %s=%s, which was set by hand there, with it", device,
			   tunables[pin->tunable].id, pin->value);
		engine_drop_pin(e, pin->tunable, pin->target.identity);
	}
}

void engine_drop_vanished(struct engine *e)
{
	char gone[IDENTITY_MAX + 4] = "", device[IDENTITY_MAX + 4];
	unsigned n = 0;

	for (size_t i = ledger_size(e->ledger); i > 0; i--) {
		const struct ledger_entry *entry = ledger_at(e->ledger, i - 1);
		enum tunable_id id = entry->tunable;
		char identity[IDENTITY_MAX];
		int r;

		if (!device_of(entry->identity, device, sizeof(device)) || io_exists(e->io, device))
			continue;
		identity[0] = '\0';
		append_text(identity, sizeof(identity), "%s", entry->identity);
		r = ledger_drop(e->ledger, id, identity);
		if (r < 0) {
			log_warning_errno(r, "/%s is gone, but the ledger cannot be updated",
					  device);
			continue;
		}
		if (n > 0 && !streq(gone, device)) {
			say(e, gone, n);
			n = 0;
		}
		strcpy(gone, device);
		n++;
	}
	if (n > 0)
		say(e, gone, n);
	drop_pins(e);
}
