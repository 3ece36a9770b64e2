/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/irqbalance.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/scan.h"

#define FOLDER     "run/irqbalance"
#define ANSWER_MAX (256 * 1024)
#define READS_MAX  64
#define WAIT_USEC  (500 * 1000)
#define READ_UNIT  4096

static bool is_socket_name(const char *name)
{
	size_t n = strlen(name), k = strlen(".sock");

	return startswith(name, "irqbalance") && n > k && streq(name + n - k, ".sock");
}

uint64_t irqbalance_sockets(struct io *io)
{
	_cleanup_(strv_freep) char **names = NULL;
	uint64_t hash = 0;

	if (io_list(io, FOLDER, &names) < 0)
		return 0;
	for (char **name = names; *name; name++)
		if (is_socket_name(*name))
			hash = hash_add(hash ?: HASH_START, *name);
	return hash;
}

int irqbalance_parse(const char *text, size_t length, struct irqbalance *ret)
{
	struct slice rest = slice_of(text, length), word;
	bool irq = false, end = false;
	uint64_t number;

	ret->n = 0;
	ret->told = false;
	if (!slice_word(&rest, &word) || !slice_is(word, "SLEEP"))
		return -EBADMSG;
	while (!end && slice_word(&rest, &word)) {
		if (irq) {
			if (slice_decimal(word, UINT32_MAX, &number) < 0 ||
			    ret->n == BANNED_IRQS_MAX)
				return -EBADMSG;
			ret->banned[ret->n++] = (unsigned)number;
		}
		irq = !irq && slice_is(word, "IRQ");
		/* The banned CPUs stand last: an answer without was cut off. */
		end = slice_is(word, "BANNED");
	}
	if (!end)
		return -EBADMSG;
	ret->told = true;
	return 0;
}

static int open_socket(struct io *io, const char *name)
{
	static const struct timeval wait = {.tv_usec = WAIT_USEC};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;

	/* Below the root, and short enough wherever that is. */
	if (format_into(address.sun_path, sizeof(address.sun_path),
			"/proc/self/fd/%d/" FOLDER "/%s", io->root, name) < 0)
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* The one that somebody listens at: a killed irqbalance leaves its socket behind. */
static int open_any(struct io *io)
{
	_cleanup_(strv_freep) char **names = NULL;
	int r = io_list(io, FOLDER, &names);

	if (r < 0)
		return r;
	r = -ENOENT;
	for (char **name = names; *name && r < 0; name++)
		if (is_socket_name(*name))
			r = open_socket(io, *name);
	return r;
}

static int send_request(int fd)
{
	struct ucred own = {.pid = getpid(), .uid = geteuid(), .gid = getegid()};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control = {};
	struct iovec text = {.iov_base = (char[]){"setup"}, .iov_len = strlen("setup")};
	struct msghdr message = {.msg_iov = &text,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_CREDENTIALS,
					  .cmsg_len = CMSG_LEN(sizeof(own))};
	memcpy(CMSG_DATA(&control.header), &own, sizeof(own));
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int irqbalance_ask(struct io *io, struct irqbalance *ret)
{
	uint64_t began = io_now(io, CLOCK_MONOTONIC);
	_cleanup_free_ char *answer = NULL;
	_cleanup_close_ int fd = -1;
	size_t length = 0;
	ssize_t n = 1;
	int r;

	*ret = (struct irqbalance){};
	fd = open_any(io);
	if (fd < 0)
		return fd;
	r = send_request(fd);
	if (r < 0)
		return r;
	answer = malloc(ANSWER_MAX);
	if (!answer)
		return -ENOMEM;
	for (unsigned i = 0; i < READS_MAX && n > 0; i++) {
		n = recv(fd, answer + length, MIN((size_t)READ_UNIT, ANSWER_MAX - length), 0);
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		length += (size_t)n;
		/* One that sends a byte at a time must not hold the loop. */
		if (io_now(io, CLOCK_MONOTONIC) - began > WAIT_USEC)
			return -ETIMEDOUT;
	}
	return irqbalance_parse(answer, length, ret);
}
