/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What systemd-udevd sets when a NIC appears: .link files (systemd.link(5)) can spread its interrupts
 * (IRQAffinityPolicy=, IRQAffinity=, IRQAffinityNUMA=: systemd#40195, 2026), set its channels, its
 * coalescing, and its RPS mask (ReceivePacketSteeringCPUMask=). It does so once, when the link is set up,
 * so it is no rival that fights; but after the next driver reset or boot its values are there again, and
 * an admin who looks for who set them should read the file and the line.
 *
 * Read as udev reads them: /etc over /run over /usr/local/lib over /usr/lib, a file name in a stronger
 * directory replaces the weaker one, an empty file or a link to /dev/null masks; then NAME.link.d/ drop-ins
 * by the same rule, and the last assignment of a key counts, an empty one takes it back. Which NICs a
 * file's [Match] fits is not worked out: it may ask for names and properties that only udev knows.
 */
#pragma once

#include "base/io.h"
#include "base/util.h"

struct link_claim {
	char *file; /* "/etc/systemd/network/10-lan.link" */
	unsigned line;
	const char *key; /* "IRQAffinityPolicy"; a constant */
	char value[64];  /* as much as fits, without what a terminal would obey */
	const char *of;  /* what of a NIC it sets: "interrupts", "channels", "coalescing", "RPS" */
	const char *setting; /* softnetd's that is the same; NULL: none */
};

struct link_claims {
	size_t n;
	struct link_claim *claim; /* by file name, then in the order of the file */
	size_t unread;            /* files that are too large, no files, or cannot be read */
};

/* Replaces what RET held. 0, or -ENOMEM: RET is then empty. A host without such files has none. */
int link_claims_read(struct io *io, struct link_claims *ret);
void link_claims_done(struct link_claims *c);
