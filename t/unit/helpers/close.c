/*
 * Tests of helpers/close: who closes a file last, and what stays in memory.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include <errno.h>

#include "helpers/beneath.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "helpers/wire.h"
#include "lib/io.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

#define SIZE	((size_t)1 << 20)

static void
make(void)
{
	static char	text[SIZE];

	memset(text, 'x', sizeof(text) - 1);
	tree_begin();
	tree_file("file", text, 0644);
}

START_TEST(closes)
{
	struct job	job;
	int		fd = open(tree_path("file"), _i == 0 ? O_RDONLY :
			    BENEATH_STAT);

	ck_assert_int_ne(fd, -1);
	job_init(&job, JOB_CLOSE);
	job.fd = fd;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

START_TEST(nothing_to_close)
{
	struct job	job;

	job_init(&job, JOB_CLOSE);
	job_perform(&job);
	ck_assert_int_eq(job.error, EBADF);
}
END_TEST

/* How many bytes of a file of SIZE are in memory, as mincore() tells its
 * owner. */
static size_t
count_resident(int fd)
{
	size_t		 page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	unsigned char	 is[SIZE / 4096];
	void		*map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);

	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(mincore(map, SIZE, is), 0);
	munmap(map, SIZE);
	for (size_t i = 0; i < SIZE / page; i++)
		n += (is[i] & 1) * page;
	return n;
}

static int
open_resident(void)
{
	static char	bytes[SIZE];
	int		fd = open(tree_path("file"), O_RDWR);

	ck_assert_int_eq(fsync(fd), 0);
	ck_assert_int_eq(io_read_all_at(fd, bytes, SIZE, 0), SIZE - 1);
	ck_assert_uint_eq(count_resident(fd), SIZE);
	return fd;
}

/* Where the file system is in memory, no page can be given back. */
START_TEST(gives_back)
{
	struct job	job;
	int		seen = open_resident();
	bool		can;

	posix_fadvise(seen, 0, 0, POSIX_FADV_DONTNEED);
	can = count_resident(seen) == 0;
	close(seen);
	for (int length = 0; length <= 1; length++) {
		seen = open_resident();
		job_init(&job, JOB_CLOSE);
		job.fd = open(tree_path("file"), O_RDONLY);
		job.range.length = length * SIZE;
		job_perform(&job);
		ck_assert_int_eq(job.error, 0);
		ck_assert_uint_eq(job.range.done, 0);
		ck_assert_uint_eq(count_resident(seen),
		    length == 0 || !can ? SIZE : 0);
		close(seen);
	}
}
END_TEST

/* A pipe: EOF at one end shows that the other has been closed. */
static int
other_end(int *given)
{
	int	pair[2];

	ck_assert_int_eq(io_pipe(pair), 0);
	*given = pair[1];
	return pair[0];
}

static bool
is_closed(int fd)
{
	char	byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* The receiver of a request is the last to have the file open. */
START_TEST(receiver_is_last)
{
	static char	buffer[WIRE_MAX];
	struct job	job, got;
	int		sock[2], seen;

	ck_assert_int_eq(io_pipe(sock), 0);
	job_init(&job, JOB_CLOSE);
	job.id = 5;
	seen = other_end(&job.fd);
	ck_assert_int_eq(wire_send_request(sock[0], &job), 0);
	ck_assert_int_eq(job.fd, -1);
	ck_assert(!is_closed(seen));		/* in the stream pipe */
	ck_assert_int_eq(wire_recv_request(sock[1], &got, buffer), 1);
	ck_assert(!is_closed(seen));
	job_perform(&got);
	ck_assert(is_closed(seen));
	close(sock[0]);
	close(sock[1]);
	close(seen);
}
END_TEST

/* A receiver that dies closes the file. */
START_TEST(receiver_dies)
{
	struct job	job;
	int		sock[2], seen;

	ck_assert_int_eq(io_pipe(sock), 0);
	job_init(&job, JOB_CLOSE);
	seen = other_end(&job.fd);
	ck_assert_int_eq(wire_send_request(sock[0], &job), 0);
	close(sock[1]);
	ck_assert(is_closed(seen));
	/* Without a receiver the file stays open. */
	close(seen);
	seen = other_end(&job.fd);
	ck_assert_int_eq(wire_send_request(sock[0], &job), -1);
	ck_assert_int_ne(job.fd, -1);
	ck_assert(!is_closed(seen));
	close(job.fd);
	close(sock[0]);
	close(seen);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, tree_end);
	tcase_add_loop_test(tests, closes, 0, 2);
	tcase_add_test(tests, nothing_to_close);
	tcase_add_test(tests, gives_back);
	tcase_add_test(tests, receiver_is_last);
	tcase_add_test(tests, receiver_dies);
}
