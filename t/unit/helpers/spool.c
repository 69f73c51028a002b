/*
 * Tests of helpers/spool: bytes are put into a file in memory, or are an error.
 */
#include <sys/resource.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <signal.h>

#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static char	text[JOB_DATA_MAX];

static struct job
spool(int fd, const char *bytes, size_t len, int64_t offset)
{
	struct job	job;

	job_init(&job, JOB_SPOOL);
	job.fd = fd;
	job.spool.has_file = fd != -1;
	job.spool.bytes = (struct str){ bytes, len };
	job.spool.offset = offset;
	job_perform(&job);
	return job;
}

static void
check_text(int fd, const char *want, size_t len)
{
	static char	got[3 * JOB_DATA_MAX];
	struct stat	st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(st.st_size, len);
	ck_assert_int_eq(pread(fd, got, sizeof(got), 0), len);
	ck_assert_mem_eq(got, want, len);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 0);
}

/* A job that is done twice, as its helper has died, has no effect but one. */
START_TEST(first_and_more)
{
	int		before = tree_descriptors();
	struct job	job = spool(-1, "abc", 3, 0), more;

	ck_assert_int_eq(job.error, 0);
	ck_assert_int_ne(job.fd, -1);
	ck_assert_int_ne(fcntl(job.fd, F_GETFD) & FD_CLOEXEC, 0);
	check_text(job.fd, "abc", 3);
	for (int i = 0; i < 2; i++) {
		more = spool(job.fd, "def", 3, 3);
		ck_assert_int_eq(more.error, 0);
		ck_assert_int_eq(more.fd, job.fd);
		check_text(job.fd, "abcdef", 6);
	}
	ck_assert_int_eq(tree_descriptors(), before + 1);
	io_close(&job.fd);
}
END_TEST

START_TEST(largest)
{
	struct job	job;

	memset(text, 'x', sizeof(text));
	job = spool(-1, text, sizeof(text), 0);
	ck_assert_int_eq(job.error, 0);
	check_text(job.fd, text, sizeof(text));
	io_close(&job.fd);
}
END_TEST

START_TEST(empty)
{
	struct job	job = spool(-1, NULL, 0, 0);

	ck_assert_int_eq(job.error, 0);
	check_text(job.fd, "", 0);
	io_close(&job.fd);
}
END_TEST

/* The caller's file stays open, as other errors are no reason to lose it. */
START_TEST(full)
{
	struct rlimit	limit = { 4, 4 };
	int		before = tree_descriptors();
	struct job	job, more;

	signal(SIGXFSZ, SIG_IGN);		/* as helpers do */
	job = spool(-1, "ab", 2, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	more = spool(job.fd, "cdef", 4, 2);
	ck_assert_int_eq(more.error, EFBIG);
	ck_assert_int_eq(more.fd, job.fd);
	io_close(&job.fd);
	job = spool(-1, "abcdef", 6, 0);
	ck_assert_int_eq(job.error, EFBIG);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

START_TEST(no_descriptor)
{
	struct rlimit	limit, none = { 0 };
	struct job	job;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none.rlim_max = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	job = spool(-1, "a", 1, 0);
	/* The search for leaks needs some. */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(job.error, EMFILE);
	ck_assert_int_eq(job.fd, -1);
}
END_TEST

START_TEST(not_writable)
{
	int		fd = open("/dev/null", O_RDONLY);
	struct job	job = spool(fd, "a", 1, 0);

	ck_assert_int_eq(job.error, EBADF);
	ck_assert_int_eq(job.fd, fd);
	close(fd);
}
END_TEST

#ifdef SYS_memfd_create
START_TEST(without_memory_files)
{
	struct job	job;

	tree_forbid(SYS_memfd_create, ENOSYS);
	job = spool(-1, "abc", 3, 0);
	ck_assert_int_eq(job.error, 0);
	check_text(job.fd, "abc", 3);
	io_close(&job.fd);
}
END_TEST

/* As if no memory were left. */
START_TEST(no_memory)
{
	int		before = tree_descriptors();
	struct job	job;

	tree_forbid(SYS_pwrite64, ENOSPC);
	job = spool(-1, "abc", 3, 0);
	ck_assert_int_eq(job.error, ENOSPC);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST
#endif

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, first_and_more);
	tcase_add_test(tests, largest);
	tcase_add_test(tests, empty);
	tcase_add_test(tests, full);
	tcase_add_test(tests, no_descriptor);
	tcase_add_test(tests, not_writable);
#ifdef SYS_memfd_create
	tcase_add_test(tests, without_memory_files);
	tcase_add_test(tests, no_memory);
#endif
}
