/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load and latency for the tables of bench-vm and bench-busy-poll; static, so that any guest can run
 * it. Results are lines "NAME VALUE" on standard output, times in microseconds.
 *
 *   load tap IFNAME SOCKETS STEPS
 *	A slow receive path until it is killed: each IPv4 packet that arrives at IFNAME passes SOCKETS
 *	packet filters of STEPS instructions (at most 4096), which take nothing. Stands for the long
 *	list of firewall rules, where a kernel is built without netfilter.
 *   load rr-server tcp|udp ADDRESS BUSY_USEC
 *	Answers each byte by a byte, one TCP connection at a time, until it is killed.
 *   load rr tcp|udp ADDRESS BUSY_USEC SECONDS
 *	One transaction of a byte after the other; SO_BUSY_POLL is BUSY_USEC unless that is 0.
 *   load receive ADDRESS SECONDS
 *	One-way latency of the packets that "load send" sends, by the clock that both share; what
 *	comes in the first tenth of the time is for warming up and not counted.
 *   load send ADDRESS RATE SECONDS
 *	RATE packets a second, evenly spaced: by sleeping, as senders do, until the next is due; those
 *	that are due at once when it wakes up late go at once, stamped when they go.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <math.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT 7077
#define NSEC 1000000000LL

struct packet {
	long long sent_nsec;
	long long number;
};

static void die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const long long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* What has been measured, nanoseconds each */
struct samples {
	long long *nsec;
	size_t n, room;
};

static void add(struct samples *s, long long nsec)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 65536;
		s->nsec = realloc(s->nsec, s->room * sizeof(*s->nsec));
		if (!s->nsec)
			die("memory");
	}
	s->nsec[s->n++] = nsec;
}

static void print_statistics(struct samples *s)
{
	static const struct {
		const char *name;
		double share;
	} percentiles[] = {{"MIN", 0}, {"MAX", 1}, {"P50", .5}, {"P90", .9}, {"P99", .99}};
	double sum = 0, squares = 0, mean;

	if (!s->n)
		return;
	qsort(s->nsec, s->n, sizeof(*s->nsec), compare);
	for (size_t i = 0; i < s->n; i++)
		sum += (double)s->nsec[i] / 1e3;
	mean = sum / (double)s->n;
	for (size_t i = 0; i < s->n; i++)
		squares += pow((double)s->nsec[i] / 1e3 - mean, 2);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(*percentiles); i++)
		printf("%s %.1f\n", percentiles[i].name,
		       (double)s->nsec[(size_t)(percentiles[i].share * (double)(s->n - 1))] / 1e3);
	printf("MEAN %.1f\nSTDDEV %.1f\n", mean, sqrt(squares / (double)s->n));
}

static int tap(const char *ifname, int sockets, int steps)
{
	struct sock_filter *code = calloc((size_t)steps, sizeof(*code));
	struct sock_fprog program = {.len = (unsigned short)steps, .filter = code};
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};

	if (!code)
		die("memory");
	/* a load from the packet and a sum, again and again; the last instruction refuses the packet */
	for (int i = 0; i < steps - 1; i++)
		code[i] = i % 2 ? (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1)
				: (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0);
	code[steps - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	address.sll_ifindex = (int)if_nametoindex(ifname);
	if (!address.sll_ifindex)
		die(ifname);
	for (int i = 0; i < sockets; i++) {
		int fd = socket(AF_PACKET, SOCK_RAW, 0);

		if (fd < 0 ||
		    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
		    bind(fd, (struct sockaddr *)&address, sizeof(address)))
			die("packet socket");
	}
	pause();
	return 0;
}

static struct sockaddr_in address_of(const char *text)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};

	if (inet_pton(AF_INET, text, &a.sin_addr) != 1) {
		errno = EINVAL;
		die(text);
	}
	return a;
}

static int type_of(const char *protocol)
{
	return strcmp(protocol, "tcp") ? SOCK_DGRAM : SOCK_STREAM;
}

static int open_socket(int type, int busy_usec)
{
	int fd = socket(AF_INET, type, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		die("socket");
	if (busy_usec && setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &busy_usec, sizeof(busy_usec)))
		die("SO_BUSY_POLL");
	if (type == SOCK_STREAM && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("TCP_NODELAY");
	return fd;
}

static _Noreturn void rr_server(const char *protocol, const char *address, int busy_usec)
{
	struct sockaddr_in a = address_of(address), from;
	int type = type_of(protocol), fd = open_socket(type, busy_usec), c;
	socklen_t len;
	char byte;

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || (type == SOCK_STREAM && listen(fd, 5)))
		die(address);
	for (;;) {
		len = sizeof(from);
		if (type == SOCK_DGRAM) {
			if (recvfrom(fd, &byte, 1, 0, (struct sockaddr *)&from, &len) == 1)
				(void)!sendto(fd, &byte, 1, 0, (struct sockaddr *)&from, len);
			continue;
		}
		c = accept(fd, NULL, NULL);
		if (c < 0)
			die("accept");
		while (read(c, &byte, 1) == 1 && write(c, &byte, 1) == 1)
			;
		close(c);
	}
}

static int rr(const char *protocol, const char *address, int busy_usec, double seconds)
{
	struct sockaddr_in a = address_of(address);
	int fd = open_socket(type_of(protocol), busy_usec);
	struct timeval second = {.tv_sec = 1};
	struct samples s = {};
	long long begin, end, t, u;
	char byte = 0;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second)))
		die("SO_RCVTIMEO");
	/* a server that has just been started may not listen yet */
	for (int i = 0; connect(fd, (struct sockaddr *)&a, sizeof(a)) || write(fd, &byte, 1) != 1 ||
			read(fd, &byte, 1) != 1;
	     i++) {
		if (i == 100)
			die(address);
		usleep(50000);
	}
	begin = t = now();
	end = begin + (long long)(seconds * 1e9);
	while (t < end) {
		if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			die("no answer");
		u = now();
		add(&s, u - t);
		t = u;
	}
	printf("RATE %.0f\n", (double)s.n * 1e9 / (double)(t - begin));
	print_statistics(&s);
	return 0;
}

static int receive(const char *address, double seconds)
{
	struct sockaddr_in a = address_of(address);
	int fd = open_socket(SOCK_DGRAM, 0), big = 4 << 20;
	struct timeval tenth = {.tv_usec = 100000};
	long long begin = now(), end = begin + (long long)(seconds * 1e9), first = -1, last = -1, t;
	struct samples s = {};
	struct packet p;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &big, sizeof(big));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tenth, sizeof(tenth)))
		die(address);
	while ((t = now()) < end) {
		if (recv(fd, &p, sizeof(p), 0) != sizeof(p))
			continue;
		t = now();
		if (t < begin + (end - begin) / 10)
			continue;
		if (first < 0)
			first = p.number;
		last = p.number;
		add(&s, t - p.sent_nsec);
	}
	if (first < 0) {
		errno = ENODATA;
		die(address);
	}
	/* RATE is what arrived, LOST what did not, of a hundred */
	printf("RATE %.0f\n", (double)s.n / (seconds * .9));
	printf("LOST %.2f\n", 100 - 100. * (double)s.n / (double)(last - first + 1));
	print_statistics(&s);
	return 0;
}

static int send_packets(const char *address, double rate, double seconds)
{
	struct sockaddr_in a = address_of(address);
	int fd = open_socket(SOCK_DGRAM, 0);
	long long begin = now(), due;
	struct packet p = {};
	struct timespec ts;

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die(address);
	while ((due = begin + (long long)((double)p.number * 1e9 / rate)) <
	       begin + (long long)(seconds * 1e9)) {
		/* a sender that cannot keep up ends in time all the same */
		if (now() > begin + (long long)(seconds * 1e9))
			break;
		if (due > now()) {
			ts = (struct timespec){.tv_sec = due / NSEC, .tv_nsec = due % NSEC};
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		}
		p.sent_nsec = now();
		(void)!send(fd, &p, sizeof(p), 0);
		p.number++;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (argc == 5 && !strcmp(verb, "tap") && atoi(argv[4]) > 1 && atoi(argv[4]) <= BPF_MAXINSNS)
		return tap(argv[2], atoi(argv[3]), atoi(argv[4]));
	if (argc == 5 && !strcmp(verb, "rr-server"))
		rr_server(argv[2], argv[3], atoi(argv[4]));
	if (argc == 6 && !strcmp(verb, "rr"))
		return rr(argv[2], argv[3], atoi(argv[4]), atof(argv[5]));
	if (argc == 4 && !strcmp(verb, "receive"))
		return receive(argv[2], atof(argv[3]));
	if (argc == 5 && !strcmp(verb, "send"))
		return send_packets(argv[2], atof(argv[3]), atof(argv[4]));
	fprintf(stderr, "load: wrong call, see the head of load.c\n");
	return 2;
}
