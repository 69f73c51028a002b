/*
 * Tests of lib/io: messages arrive whole, each descriptor once.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "t/unit/unit.h"

static int
count_descriptors(void)
{
	int	n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static int
send_text(int sock, const char *text, int fd)
{
	char		copy[64];
	struct iovec	part = { .iov_base = copy, .iov_len = strlen(text) };

	memcpy(copy, text, part.iov_len);
	return io_send_message(sock, &part, 1, fd);
}

START_TEST(flags)
{
	int	fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(io_nonblock(fd[0]), 0);
	ck_assert_int_eq(fcntl(fd[0], F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	ck_assert_int_eq(io_cloexec(fd[0], true), 0);
	ck_assert_int_eq(fcntl(fd[0], F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(io_cloexec(fd[0], false), 0);
	ck_assert_int_eq(fcntl(fd[0], F_GETFD), 0);
	ck_assert_int_eq(io_nonblock(-1), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_int_eq(io_cloexec(-1, true), -1);
}
END_TEST

START_TEST(closing)
{
	int	none = -1, fd = dup(0), was = fd;

	errno = ENOTTY;
	io_close(&none);
	io_close(&fd);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_int_eq(fcntl(was, F_GETFD), -1);
	fd = was;
	errno = ENOTTY;
	io_close(&fd);			/* a close that fails */
	ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

START_TEST(pipe_is_a_stream_both_ways)
{
	int		fd[2], type;
	socklen_t	len = sizeof(type);
	char		got[8];

	ck_assert_int_eq(io_pipe(fd), 0);
	getsockopt(fd[0], SOL_SOCKET, SO_TYPE, &type, &len);
	ck_assert_int_eq(type, SOCK_STREAM);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(fcntl(fd[i], F_GETFD), FD_CLOEXEC);
		ck_assert_int_eq(write(fd[i], "abc", 3), 3);
		ck_assert_int_eq(read(fd[!i], got, sizeof(got)), 3);
	}
}
END_TEST

static void
on_signal(int sig)
{
	(void)sig;
}

/* Writes one byte at a time, and signals the reader after each. */
static void
write_with_signals(int fd, size_t n)
{
	pid_t	parent = getppid();

	for (size_t i = 0; i < n; i++) {
		kill(parent, SIGUSR1);
		if (write(fd, "x", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

START_TEST(read_all_through_signals_and_pieces)
{
	struct sigaction action = { .sa_handler = on_signal };	/* no restart */
	char		got[2000];
	int		fd[2];

	sigaction(SIGUSR1, &action, NULL);
	ck_assert_int_eq(io_pipe(fd), 0);
	if (fork() == 0)
		write_with_signals(fd[1], 1500);
	close(fd[1]);
	ck_assert_int_eq(io_read_all(fd[0], got, 1000), 1000);
	ck_assert_int_eq(io_read_all(fd[0], got, 1000), 500);
	ck_assert_int_eq(io_read_all(fd[0], got, 1000), 0);
	ck_assert_int_eq(io_read_all(-1, got, 1), -1);
	ck_assert_int_eq(errno, EBADF);
	wait(NULL);
}
END_TEST

/* Reads in small pieces; 0 if it was n times x. */
static int
count_slowly(int fd, size_t n)
{
	char	got[777];
	ssize_t	count;

	while ((count = read(fd, got, sizeof(got))) > 0)
		for (; count > 0; count--, n--)
			if (got[count - 1] != 'x' || n == 0)
				return 1;
	return n == 0 ? 0 : 1;
}

START_TEST(write_all_in_pieces)
{
	static char	data[1000000];
	int		fd[2], status;

	memset(data, 'x', sizeof(data));
	ck_assert_int_eq(io_pipe(fd), 0);
	if (fork() == 0) {
		close(fd[1]);
		_exit(count_slowly(fd[0], sizeof(data)));
	}
	close(fd[0]);
	ck_assert_int_eq(io_write_all(fd[1], data, sizeof(data)), 0);
	close(fd[1]);
	wait(&status);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(io_write_all(-1, data, 1), -1);
	ck_assert_int_eq(io_write_all(-1, data, 0), 0);
}
END_TEST

START_TEST(record_of_parts)
{
	char		a[] = "one", b[] = "", c[] = "three", got[32];
	struct iovec	parts[] = { { b, 0 }, { a, 3 }, { b, 0 }, { c, 5 } };
	int		fd[2], came = 7;

	ck_assert_int_eq(io_pipe(fd), 0);
	ck_assert_int_eq(io_send_message(fd[0], parts, 4, -1), 0);
	ck_assert_int_eq(io_recv_message(fd[1], got, sizeof(got), &came, 0), 8);
	ck_assert_mem_eq(got, "onethree", 8);
	ck_assert_int_eq(came, -1);
	ck_assert_ptr_eq(parts[1].iov_base, a);		/* unchanged */
	ck_assert_uint_eq(parts[1].iov_len, 3);
}
END_TEST

START_TEST(descriptor_travels)
{
	struct stat	sent, got;
	char		byte;
	int		fd[2], came;

	ck_assert_int_eq(io_pipe(fd), 0);
	ck_assert_int_eq(send_text(fd[0], "ab", fd[0]), 0);
	ck_assert_int_eq(send_text(fd[0], "c", -1), 0);
	ck_assert_int_eq(io_recv_message(fd[1], &byte, 1, &came, 0), 1);
	ck_assert_int_ne(came, -1);
	ck_assert_int_eq(fcntl(came, F_GETFD), FD_CLOEXEC);
	fstat(fd[0], &sent);
	fstat(came, &got);
	ck_assert_uint_eq(sent.st_ino, got.st_ino);
	close(came);
	/* The descriptor comes once, with the first byte. */
	ck_assert_int_eq(io_recv_message(fd[1], &byte, 1, &came, 0), 1);
	ck_assert_int_eq(came, -1);
	close(fd[0]);
	ck_assert_int_eq(io_recv_message(fd[1], &byte, 1, &came, 0), 1);
	ck_assert_int_eq(byte, 'c');
	ck_assert_int_eq(io_recv_message(fd[1], &byte, 1, &came, 0), 0);
	ck_assert_int_eq(came, -1);
}
END_TEST

static int	drain_fd, drained_fds;
static size_t	drained;

/*
 * Empties the pipe in a signal handler, which interrupts a send: alternately
 * with a part sent and with nothing sent.
 */
static void
drain_socket(int sig)
{
	static unsigned	turn;
	char		bytes[5000];
	ssize_t		n;
	int		came, before = errno;

	if (sig != 0 && turn++ % 2 == 0)
		return;
	while ((n = io_recv_message(drain_fd, bytes, sizeof(bytes),
	    &came, MSG_DONTWAIT)) > 0) {
		drained += (size_t)n;
		drained_fds += came != -1;
		io_close(&came);
	}
	errno = before;
}

/* A blocking send goes on after a signal; its descriptor is sent once. */
START_TEST(large_record_with_descriptor)
{
	static char	 data[2000000];
	struct sigaction action = { .sa_handler = drain_socket }; /* no restart */
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct iovec	 part = { .iov_base = data, .iov_len = sizeof(data) };
	int		 fd[2];

	ck_assert_int_eq(io_pipe(fd), 0);
	drain_fd = fd[1];
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	ck_assert_int_eq(io_send_message(fd[0], &part, 1, fd[0]), 0);
	signal(SIGALRM, SIG_IGN);
	drain_socket(0);
	ck_assert_uint_eq(drained, sizeof(data));
	ck_assert_int_eq(drained_fds, 1);
}
END_TEST

/* A message with three descriptors, which amped never sends. */
START_TEST(too_many_descriptors)
{
	union {
		struct cmsghdr	head;
		char		room[CMSG_SPACE(3 * sizeof(int))];
	} beside = { .head = { .cmsg_level = SOL_SOCKET,
	    .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(3 * sizeof(int)) } };
	char		byte = 'x';
	struct iovec	part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr	message = { .msg_iov = &part, .msg_iovlen = 1,
	    .msg_control = beside.room, .msg_controllen = sizeof(beside.room) };
	int		fd[2], fds[3], came, before;

	ck_assert_int_eq(io_pipe(fd), 0);
	for (int i = 0; i < 3; i++)
		fds[i] = fd[0];
	memcpy(CMSG_DATA(&beside.head), fds, sizeof(fds));
	ck_assert_int_eq(sendmsg(fd[0], &message, 0), 1);
	before = count_descriptors();
	ck_assert_int_eq(io_recv_message(fd[1], &byte, 1, &came, 0), 1);
	ck_assert_int_ne(came, -1);
	ck_assert_int_eq(count_descriptors(), before + 1);
}
END_TEST

START_TEST(full_pipe)
{
	static char	data[4000000];
	struct iovec	part = { .iov_base = data, .iov_len = sizeof(data) };
	int		fd[2];

	ck_assert_int_eq(io_pipe(fd), 0);
	io_nonblock(fd[0]);
	ck_assert_int_eq(io_send_message(fd[0], &part, 1, -1), -1);
	ck_assert_int_eq(errno, EMSGSIZE);		/* a part was sent */
	while (write(fd[0], data, sizeof(data)) > 0)
		continue;
	ck_assert_int_eq(io_send_message(fd[0], &part, 1, -1), -1);
	ck_assert_int_eq(errno, EAGAIN);		/* nothing was sent */
}
END_TEST

/* A SIGPIPE would end this test. */
START_TEST(nobody_at_the_other_end)
{
	int	fd[2];

	signal(SIGPIPE, SIG_DFL);
	ck_assert_int_eq(io_pipe(fd), 0);
	close(fd[1]);
	ck_assert_int_eq(send_text(fd[0], "x", -1), -1);
	ck_assert_int_eq(errno, EPIPE);
}
END_TEST

/* The pipe is in blocking mode. */
START_TEST(receive_without_waiting)
{
	char	got[4];
	int	fd[2], came = 7;

	ck_assert_int_eq(io_pipe(fd), 0);
	ck_assert_int_eq(io_recv_message(fd[1], got, 4, &came, MSG_DONTWAIT), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(came, -1);
	send_text(fd[0], "abc", fd[0]);
	ck_assert_int_eq(io_recv_message(fd[1], got, 4, &came, MSG_DONTWAIT), 3);
	ck_assert_int_ne(came, -1);
	close(came);
	close(fd[0]);
	ck_assert_int_eq(io_recv_message(fd[1], got, 4, &came, MSG_DONTWAIT), 0);
}
END_TEST

/* A handle cannot be read, but opens the same file again even after another
 * file has its name. */
START_TEST(handles)
{
	char	name[] = "/tmp/amped-unit-XXXXXX", byte = 'x';
	int	file = mkstemp(name), handle, again, copy;

	ck_assert_int_ne(file, -1);
	ck_assert_int_eq(unlink(name), 0);
	handle = io_handle(file);
	if (handle == -1 && errno == ENOSYS)
		return;
	ck_assert_int_ne(handle, -1);
	ck_assert_int_eq(write(handle, &byte, 1), -1);
	ck_assert_int_eq(errno, EBADF);
	again = io_reopen(handle, O_WRONLY | O_APPEND);
	ck_assert_int_ne(again, -1);
	ck_assert_int_eq(fcntl(again, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(write(again, &byte, 1), 1);
	byte = '\0';
	ck_assert_int_eq(pread(file, &byte, 1, 0), 1);
	ck_assert_int_eq(byte, 'x');
	/* No handle: the same open file. */
	copy = io_reopen(file, O_RDONLY);
	ck_assert_int_ne(copy, -1);
	ck_assert_int_eq(lseek(file, 7, SEEK_SET), 7);
	ck_assert_int_eq(lseek(copy, 0, SEEK_CUR), 7);
	ck_assert_int_eq(io_reopen(-1, O_RDONLY), -1);
	ck_assert_int_eq(io_handle(-1), -1);
	close(copy);
	close(again);
	close(handle);
	close(file);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, flags);
	tcase_add_test(tests, closing);
	tcase_add_test(tests, pipe_is_a_stream_both_ways);
	tcase_add_test(tests, read_all_through_signals_and_pieces);
	tcase_add_test(tests, write_all_in_pieces);
	tcase_add_test(tests, record_of_parts);
	tcase_add_test(tests, descriptor_travels);
	tcase_add_test(tests, large_record_with_descriptor);
	tcase_add_test(tests, too_many_descriptors);
	tcase_add_test(tests, full_pipe);
	tcase_add_test(tests, nobody_at_the_other_end);
	tcase_add_test(tests, receive_without_waiting);
	tcase_add_test(tests, handles);
}
