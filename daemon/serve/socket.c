/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_DIR  "run/softnetd"
#define SOCKET_NAME "bus"

static int open_directory(struct io *io)
{
	return io_open(io, SOCKET_DIR, O_PATH | O_DIRECTORY);
}

static int make_directory(struct io *io)
{
	int r;

	r = io->ops->mkdir(io, "run", 0755);
	if (r < 0 && r != -EEXIST)
		return r;
	r = io->ops->mkdir(io, SOCKET_DIR, 0755);
	return r == -EEXIST ? 0 : r;
}

/* DIR must stay open as long as the address is used. */
static struct sockaddr_un socket_address(int dir)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SOCKET_NAME, dir);
	return address;
}

static int connect_in(int dir, int *ret)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = socket_address(dir);

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

int socket_connect(struct io *io, int *ret)
{
	_cleanup_close_ int dir = open_directory(io);

	if (dir < 0)
		return dir;
	return connect_in(dir, ret);
}

/* Makes room for a socket of ours, where nobody answers any more. */
static int remove_stale(int dir)
{
	_cleanup_close_ int other = -1;
	struct stat st;
	int r;

	if (fstatat(dir, SOCKET_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	r = connect_in(dir, &other);
	/* -EAGAIN: somebody lives there and is behind with accept(2). */
	if (r >= 0 || r == -EAGAIN)
		return -EADDRINUSE;
	return unlinkat(dir, SOCKET_NAME, 0) < 0 ? -errno : 0;
}

int socket_listen(struct io *io, int *ret)
{
	_cleanup_close_ int dir = -1, fd = -1;
	struct sockaddr_un address;
	int r;

	r = make_directory(io);
	if (r < 0)
		return r;
	dir = open_directory(io);
	if (dir < 0)
		return dir;
	r = remove_stale(dir);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	address = socket_address(dir);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	/* Whatever the umask: who may do what is decided per call. */
	if (fchmodat(dir, SOCKET_NAME, 0666, 0) < 0 || listen(fd, SOMAXCONN) < 0) {
		r = -errno;
		unlinkat(dir, SOCKET_NAME, 0);
		return r;
	}
	*ret = TAKE_FD(fd);
	return 0;
}

int socket_remove(struct io *io)
{
	return io->ops->unlink(io, SOCKET_PATH);
}
