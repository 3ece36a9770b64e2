// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spin wait ADDRESS    waits for UDP packets to ADDRESS:7777 in poll(2), a millisecond at a time
 * spin epoll ADDRESS   the same in epoll_wait(2)
 * spin send ADDRESS    sends it twelve packets a second
 *
 * With busy polling of a millisecond the first is on its CPU all the time, the second is not (see
 * daemon/decide/poll-burn.h). Each until it is killed.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void send_packets(int fd, const struct sockaddr_in *to)
{
	for (;;) {
		if (sendto(fd, "x", 1, 0, (const struct sockaddr *)to, sizeof(*to)) < 0)
			perror("spin: sendto"); /* the other end may not be up yet */
		usleep(1000000 / 12);
	}
}

static int wait_for_packets(int fd, int epoll)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct epoll_event e = {.events = EPOLLIN}, got;
	char packet[64];

	if (epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0)
		return -1;
	for (;;) {
		int n = epoll >= 0 ? epoll_wait(epoll, &got, 1, 1) : poll(&p, 1, 1);

		if (n < 0 || (n > 0 && recv(fd, packet, sizeof(packet), 0) < 0))
			return -1;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7777)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int r;

	if (argc != 3 || fd < 0 || inet_pton(AF_INET, argv[2], &a.sin_addr) != 1) {
		fprintf(stderr, "usage: spin wait|epoll|send ADDRESS\n");
		return 2;
	}
	if (strcmp(argv[1], "send") == 0)
		send_packets(fd, &a);
	r = bind(fd, (struct sockaddr *)&a, sizeof(a));
	if (r >= 0)
		r = wait_for_packets(fd, strcmp(argv[1], "epoll") == 0 ? epoll_create1(0) : -1);
	perror("spin");
	return r < 0;
}
