/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/irq-names.h"

#include <ctype.h>
#include <strings.h>

/* Words (runs of letters) that tell what a vector is for. Seen in drivers/net of 6.1 … 7.3. */
static const struct {
	const char *word;
	bool rx, tx, other;
} words[] = {
	{.word = "rx", .rx = true},
	{.word = "input", .rx = true},
	{.word = "tx", .tx = true},
	{.word = "output", .tx = true},
	{.word = "txrx", .rx = true, .tx = true},
	{.word = "rxtx", .rx = true, .tx = true},
	{.word = "comp", .rx = true, .tx = true},       /* mlx5 */
	{.word = "fp", .rx = true, .tx = true},         /* bnx2x, qede: fast path */
	{.word = "q", .rx = true, .tx = true},          /* be2net */
	{.word = "queue", .rx = true, .tx = true},      /* iwlwifi */
	{.word = "blk", .rx = true, .tx = true},        /* gve-ntfy-blk0 */
	{.word = "virtqueues", .rx = true, .tx = true}, /* virtio_net without a vector per queue */
	{.word = "config", .other = true},              /* virtio */
	{.word = "control", .other = true},
	{.word = "ctrl", .other = true},
	{.word = "misc", .other = true},  /* i40e, ice */
	{.word = "mgmnt", .other = true}, /* ena, gve */
	{.word = "mgmt", .other = true},
	{.word = "async", .other = true}, /* mlx4, mlx5 */
	{.word = "cmd", .other = true},
	{.word = "pages", .other = true},
	{.word = "event", .other = true},    /* vmxnet3 */
	{.word = "fweventq", .other = true}, /* cxgb4 */
	{.word = "mbx", .other = true},      /* iavf */
	{.word = "mailbox", .other = true},  /* idpf */
	{.word = "admin", .other = true},
	{.word = "adminq", .other = true},
	{.word = "link", .other = true},
	{.word = "lsc", .other = true}, /* nfp */
	{.word = "exn", .other = true},
	{.word = "mac", .other = true}, /* stmmac */
	{.word = "wol", .other = true},
	{.word = "lpi", .other = true},
	{.word = "sfty", .other = true},
	{.word = "safety", .other = true},
	{.word = "err", .other = true},
	{.word = "ptp", .other = true},
	{.word = "fw", .other = true},
	{.word = "sp", .other = true}, /* qede: slow path */
};

/* WORD inside TEXT with no letter or digit beside it; NULL when it is not there. */
static const char *find_whole(const char *text, const char *word)
{
	size_t n = strlen(word);

	if (n == 0)
		return NULL;
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[n]))
			return at;
	return NULL;
}

/* Length of the PCI address that TEXT begins with ("0000:3d:00.0"), or 0. */
static size_t pci_address(const char *text)
{
	static const char shape[] = "xx:xx.x"; /* behind the segment of four digits or more */
	size_t segment = strspn(text, "0123456789abcdef");
	const char *c = text + segment + 1;

	if (segment < 4 || text[segment] != ':')
		return 0;
	for (const char *s = shape; *s; s++, c++)
		if (*s == 'x' ? !isxdigit((unsigned char)*c) : *c != *s)
			return 0;
	return (size_t)(c - text);
}

struct irq_name irq_name_read(const char *action, const char *ifname)
{
	/* Behind @ stands the device's address: "@pci:0000:3b:00.0". */
	const char *end = strchrnul(action, '@'), *own = find_whole(action, ifname);
	bool rx = false, tx = false, other = false, queue_word = false;
	int queue = -1;

	for (const char *c = action; c < end;) {
		const char *start = c;
		size_t address = pci_address(c);

		if (c == own) {
			c += strlen(ifname);
		} else if (address > 0) {
			c += address;
		} else if (isalpha((unsigned char)*c)) {
			while (c < end && isalpha((unsigned char)*c))
				c++;
			queue_word = false;
			for (size_t i = 0; i < ELEMENTSOF(words); i++) {
				if (strlen(words[i].word) != (size_t)(c - start) ||
				    strncasecmp(words[i].word, start, (size_t)(c - start)) != 0)
					continue;
				rx |= words[i].rx;
				tx |= words[i].tx;
				other |= words[i].other;
				queue_word = words[i].rx || words[i].tx;
			}
			queue = -1;
		} else if (isdigit((unsigned char)*c)) {
			/* A queue's number follows a word for queues, or a separator: not "eth0",
			 * and not "48484000.ethernet". */
			bool alone = c > action && !isalnum((unsigned char)c[-1]);
			unsigned v = 0;

			for (; c < end && isdigit((unsigned char)*c); c++)
				v = MIN(v * 10 + (unsigned)(*c - '0'), 1000000U);
			queue = (queue_word || alone) && v < 65536 ? (int)v : -1;
		} else {
			c++;
		}
	}
	if (rx || tx)
		return (struct irq_name){rx && tx ? IRQ_RXTX : rx ? IRQ_RX : IRQ_TX, queue, true};
	if (other)
		return (struct irq_name){IRQ_OTHER, -1, true};
	return (struct irq_name){IRQ_RXTX, queue, false};
}

bool irq_name_belongs(const char *action, const char *ifname, const char *device)
{
	const char *slash = strrchr(device, '/');

	return find_whole(action, ifname) || find_whole(action, slash ? slash + 1 : device);
}
