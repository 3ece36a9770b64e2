// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sockets FILE    a service with a UDP socket, a TCP listener and an epoll instance, open from its start.
 *
 * Five times a second FILE becomes "UDP TCP EPOLL": the busy-poll times in µs that it finds in them by
 * itself, "-" where the kernel has none. Until it is killed.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* include/uapi/linux/eventpoll.h since 6.9 */
struct params {
	uint32_t busy_poll_usecs;
	uint16_t busy_poll_budget;
	uint8_t prefer_busy_poll, pad;
};
#define GET_PARAMS _IOR(0x8A, 0x02, struct params)

static int of_socket(int fd)
{
	int usec;
	socklen_t size = sizeof(usec);

	return getsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &usec, &size) < 0 ? -1 : usec;
}

static int of_epoll(int fd)
{
	struct params p;

	return ioctl(fd, GET_PARAMS, &p) < 0 ? -1 : (int)p.busy_poll_usecs;
}

int main(int argc, char **argv)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
	int epoll = epoll_create1(0);
	char next[4096];

	if (argc != 2 || udp < 0 || tcp < 0 || epoll < 0 || listen(tcp, 5) < 0) {
		fprintf(stderr, "usage: sockets FILE\n");
		return 2;
	}
	snprintf(next, sizeof(next), "%s.next", argv[1]);
	for (;;) {
		int usec[] = {of_socket(udp), of_socket(tcp), of_epoll(epoll)};
		FILE *f = fopen(next, "w");

		if (!f) {
			perror(next);
			return 1;
		}
		for (int i = 0; i < 3; i++)
			usec[i] < 0 ? fprintf(f, "- ") : fprintf(f, "%d ", usec[i]);
		fclose(f);
		rename(next, argv[1]);
		usleep(200000);
	}
}
