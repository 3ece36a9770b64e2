/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon as it is shipped, on a captured host, and a thousand clients at its private socket, some of
 * whom do not play by the rules. It stays up, answers whoever it let in, and keeps nothing of those who
 * left. Nothing here is timed: answers are counted. (test-bus.c has each rule by itself.)
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/util.h"
#include "lib/machine.h"
#include "lib/program.h"
#include "lib/run.h"
#include "serve/bus.h"
#include "serve/manager.h"
#include "serve/socket.h"

#define CLIENTS 1000
#define ROUNDS  200
/* Of users, none of which need exist. */
#define FIRST_UID 60001
/* So long a loaded machine may take for an answer; nobody waits it out when all is well. */
#define PATIENCE_USEC (120 * USEC_PER_SEC)

static const struct machine_nic i40e[] = {{.name = "eth0", .kind = MACHINE_I40E, .queues = 2}};
static const struct machine_spec two_cpus = {.cpus = 2, .nics = i40e, .n_nics = 1};

static struct machine *m;
static struct tree *config;
static char *softnetd;
static pid_t daemon_pid;
/* Shared by all processes here. */
static struct counts {
	unsigned answered, turned_away;
} * counts;

static int connect_raw(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" SOCKET_PATH, tree_path(m->tree));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* NULL: nobody takes connections, or this one was ended at once. */
static sd_bus *connect_bus(bool *ret_connected)
{
	sd_bus *bus = NULL;
	int fd = connect_raw();

	*ret_connected = fd >= 0;
	if (fd < 0)
		return NULL;
	ck_assert_int_ge(sd_bus_new(&bus), 0);
	ck_assert_int_ge(sd_bus_set_fd(bus, fd, fd), 0);
	if (sd_bus_start(bus) < 0 || sd_bus_set_method_call_timeout(bus, PATIENCE_USEC) < 0)
		bus = sd_bus_unref(bus);
	return bus;
}

/* 0: it answered; -ETIMEDOUT: it did not; another error: the connection was ended. */
static int ask(sd_bus *bus)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *text;
	int r;

	r = sd_bus_call_method(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, "Describe", NULL, &reply,
			       NULL);
	if (r >= 0)
		r = sd_bus_message_read(reply, "s", &text);
	return r < 0 ? r : *text == '{' ? 0 : -EBADMSG;
}

static bool answers(void)
{
	bool connected;
	sd_bus *bus = connect_bus(&connected);
	int r = bus ? ask(bus) : -ENOTCONN;

	sd_bus_unref(bus);
	return r == 0;
}

static void setup(void)
{
	config = tree_new();
	tree_write(config, "softnetd.conf", "mode = \"apply\";\n");
	tree_write(config, "profiles/balanced.conf", "busy_poll = 50;\n");
	m = machine_new(&two_cpus);
	/* For the other users. */
	ck_assert_int_eq(chmod(tree_path(m->tree), 0755), 0);
	daemon_pid = fork();
	ck_assert_int_ge(daemon_pid, 0);
	if (daemon_pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDERR_FILENO);
		unsetenv("NOTIFY_SOCKET");
		execl(softnetd, softnetd, "--root", tree_path(m->tree), "--config-dir",
		      tree_path(config), NULL);
		_exit(99);
	}
	while (!answers()) {
		ck_assert_int_eq(waitpid(daemon_pid, NULL, WNOHANG), 0);
		usleep(20000);
	}
}

static void teardown(void)
{
	_cleanup_free_ char *original = NULL;
	int status;

	/* It is still the same process, ends as it should, and what it had changed is back. */
	ck_assert_int_eq(kill(daemon_pid, SIGTERM), 0);
	ck_assert_int_eq(waitpid(daemon_pid, &status, 0), daemon_pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "softnetd ended with %x",
		      status);
	original = tree_read(m->tree, "proc/sys/net/core/busy_poll");
	ck_assert_str_eq(original, "0");
	machine_free(m);
	tree_free(config);
}

static unsigned descriptors(void)
{
	char path[64];
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", daemon_pid);
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Those who left are noticed at the daemon's next turns. */
static void expect_descriptors(unsigned n)
{
	for (unsigned i = 0; i < 1200 && descriptors() > n; i++)
		usleep(100000);
	ck_assert_uint_le(descriptors(), n);
}

/* N clients of one user, all at the same time, until they are killed. */
static void be_many(unsigned n, int ready)
{
	for (unsigned i = 0; i < n; i++) {
		bool connected;
		sd_bus *bus = connect_bus(&connected);
		int r = bus ? ask(bus) : -ENOTCONN;

		if (r == 0)
			__atomic_add_fetch(&counts->answered, 1, __ATOMIC_SEQ_CST);
		else if (connected && r != -ETIMEDOUT)
			__atomic_add_fetch(&counts->turned_away, 1, __ATOMIC_SEQ_CST);
		/* … and stays. */
	}
	(void)!write(ready, "", 1);
	close(ready);
	pause();
}

START_TEST(all_at_once)
{
	/* A place more of each than they get, so that both bounds are met. */
	const unsigned each = BUS_CLIENTS_PER_UID + 1, n = (CLIENTS + each - 1) / each;
	const bool root = geteuid() == 0;
	/* Who is not root can only be himself, and has the places of one user. */
	const unsigned places = root ? BUS_CLIENTS_OTHERS : BUS_CLIENTS_PER_UID;
	_cleanup_free_ pid_t *pid = calloc(n, sizeof(*pid));
	unsigned before = descriptors(), left = CLIENTS;
	int ready[2];
	char byte;

	ck_assert_ptr_nonnull(pid);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	for (unsigned i = 0; i < n; i++) {
		unsigned mine = MIN(each, left);

		left -= mine;
		pid[i] = fork();
		ck_assert_int_ge(pid[i], 0);
		if (pid[i] == 0) {
			if (root && (setresgid(FIRST_UID + i, FIRST_UID + i, FIRST_UID + i) < 0 ||
				     setresuid(FIRST_UID + i, FIRST_UID + i, FIRST_UID + i) < 0))
				_exit(1);
			close(ready[0]);
			be_many(mine, ready[1]);
			_exit(0);
		}
	}
	close(ready[1]);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	ck_assert_uint_eq(left, 0);
	ck_assert_uint_eq(counts->answered, places);
	ck_assert_uint_eq(counts->turned_away, CLIENTS - places);
	/* While all of them are there root is not concerned. */
	for (unsigned i = 0; root && i < 20; i++)
		ck_assert(answers());
	for (unsigned i = 0; i < n; i++) {
		ck_assert_int_eq(kill(pid[i], SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid[i], NULL, 0), pid[i]);
	}
	expect_descriptors(before);
	ck_assert(answers());
}
END_TEST

START_TEST(one_after_the_other)
{
	unsigned before = descriptors(), answered = 0;

	for (unsigned i = 0; i < CLIENTS; i++)
		answered += answers();
	/* Who is not root may find the places of those taken who have just left. */
	ck_assert_uint_ge(answered, geteuid() == 0 ? CLIENTS : 1);
	expect_descriptors(before);
}
END_TEST

/* Sends what goes without waiting. */
static void push(int fd, const void *data, size_t size)
{
	(void)!send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static const char handshake[] = "\0AUTH ANONYMOUS\r\nBEGIN\r\n";

static int misbehave(unsigned kind, unsigned *seed)
{
	/* The head of a call of 100 MiB. */
	static const unsigned char oversized[16] = {'l', 1, 0, 1, 0,  0, 0x40, 0x06,
						    1,   0, 0, 0, 16, 0, 0,    0};
	static char filler[256U << 10];
	int fd = connect_raw();

	ck_assert_int_ge(fd, 0);
	if (kind % 5 > 0)
		push(fd, handshake, sizeof(handshake) - 1);
	switch (kind % 5) {
	case 0: /* says nothing */
		break;
	case 1: /* half a message */
		push(fd, oversized, 9);
		break;
	case 2: /* a whole one that is too long */
		push(fd, oversized, sizeof(oversized));
		push(fd, filler, sizeof(filler));
		push(fd, filler, sizeof(filler));
		break;
	case 3: /* garbage */
		for (unsigned i = 0; i < 512; i++)
			filler[i] = (char)rand_r(seed);
		push(fd, filler, 512);
		break;
	case 4: /* a head, and then it leaves */
		push(fd, oversized, sizeof(oversized));
		shutdown(fd, SHUT_RDWR);
		break;
	}
	return fd;
}

static int not_reached(sd_bus_message *reply _unused_, void *userdata _unused_,
		       sd_bus_error *error _unused_)
{
	ck_abort();
	return 0;
}

START_TEST(with_those_who_do_not_play_by_the_rules)
{
	unsigned before = descriptors(), seed = 11, answered = 0, asked = 0;
	/* Who is not root has 16 places, and needs one. */
	int bad[8];
	bool connected;
	sd_bus *good = connect_bus(&connected), *deaf = connect_bus(&connected);

	ck_assert_ptr_nonnull(good);
	ck_assert_ptr_nonnull(deaf);
	ck_assert_int_eq(ask(deaf), 0);
	for (unsigned i = 0; i < ELEMENTSOF(bad); i++)
		bad[i] = -1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned place = round % ELEMENTSOF(bad);

		if (bad[place] >= 0)
			close(bad[place]);
		bad[place] = misbehave(round, &seed);
		/* Asks and asks, and reads no answer. */
		for (unsigned i = 0; i < 20 && sd_bus_is_open(deaf) > 0; i++, asked++)
			if (sd_bus_call_method_async(deaf, NULL, NULL, MANAGER_PATH,
						     MANAGER_INTERFACE, "Describe", not_reached,
						     NULL, NULL) < 0)
				break;
		answered += ask(good) == 0;
	}
	ck_assert_uint_eq(answered, ROUNDS);
	ck_assert_uint_gt(asked, BUS_UNREAD_MESSAGES);
	for (unsigned i = 0; i < ELEMENTSOF(bad); i++)
		close(bad[i]);
	sd_bus_unref(deaf);
	sd_bus_unref(good);
	expect_descriptors(before);
	ck_assert(answers());
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("a thousand");
	int failed;

	softnetd = program_path("softnetd");
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (!softnetd || counts == MAP_FAILED)
		return 1;
	tcase_set_timeout(t, 600);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, all_at_once);
	tcase_add_test(t, one_after_the_other);
	tcase_add_test(t, with_those_who_do_not_play_by_the_rules);
	failed = run_suite("clients", t);
	free(softnetd);
	printf("# of %u clients at once %u were answered and %u turned away\n", CLIENTS,
	       counts->answered, counts->turned_away);
	return failed;
}
