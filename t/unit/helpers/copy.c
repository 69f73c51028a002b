/*
 * Tests of helpers/copy: ranges of files and handles.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include "helpers/file_version.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

enum { SIZE = 200001 };			/* of the file: some calls' worth */

static const struct {
	int64_t		offset;
	uint64_t	length, done;
} cases[] = {
	{ 0,		0,		0 },
	{ 0,		1,		1 },
	{ 0,		65536,		65536 },
	{ 65536,	65537,		65537 },
	{ 0,		SIZE,		SIZE },
	{ 100000,	SIZE,		SIZE - 100000 },
	{ SIZE,		1,		0 },
	{ INT64_MAX - 1, 1,		0 }
};

static char	text[SIZE + 1];

static void
make(void)
{
	tree_begin();
	for (int i = 0; i < SIZE; i++)
		text[i] = (char)('a' + i % 23);
	tree_file("file", text, 0644);
}

static void
check_copy(int flags, int64_t offset, uint64_t length, uint64_t done)
{
	static char	got[SIZE + 1];
	struct stat	st;
	struct job	job;
	int		fd = open(tree_path("file"), flags);

	job_init(&job, JOB_COPY);
	job.fd = fd;
	job.range.offset = offset;
	job.range.length = length;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.range.done, done);
	ck_assert_int_ne(job.fd, fd);
	ck_assert_int_eq(fstat(job.fd, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 0);	/* anonymous */
	ck_assert_int_eq(pread(job.fd, got, sizeof(got), 0), (ssize_t)done);
	ck_assert_mem_eq(got, text + (done > 0 ? offset : 0), done);
	ck_assert_int_eq(close(job.fd), 0);
	ck_assert_int_eq(close(fd), 0);		/* still the caller's */
}

START_TEST(ranges)
{
	check_copy(O_RDONLY, cases[_i].offset, cases[_i].length,
	    cases[_i].done);
#ifdef O_PATH
	check_copy(O_PATH, cases[_i].offset, cases[_i].length, cases[_i].done);
#endif
}
END_TEST

/* A file that has changed is not mixed with its earlier version. */
START_TEST(other_version)
{
	struct job	job;
	int		fd = open(tree_path("file"), O_RDWR);
	struct stat	st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	job_init(&job, JOB_COPY);
	job.fd = fd;
	job.range.length = SIZE;
	job.copy.has_version = true;
	job.range.version = file_version_of(&st);
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_int_eq(close(job.fd), 0);
	ck_assert_int_eq(ftruncate(fd, SIZE - 1), 0);
	job.fd = fd;
	job.range.done = 0;
	job_perform(&job);
	ck_assert_int_eq(job.error, ESTALE);
	ck_assert_int_eq(job.fd, fd);
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

/* A program writes and puts the mtime back: the ctime shows it. */
START_TEST(mtime_put_back)
{
	struct job	job;
	struct stat	st;
	int		fd = open(tree_path("file"), O_RDWR);

	ck_assert_int_eq(fstat(fd, &st), 0);
	job_init(&job, JOB_COPY);
	job.range.length = SIZE;
	job.copy.has_version = true;
	job.range.version = file_version_of(&st);
	do {			/* until the clock of time stamps has gone on */
		ck_assert_int_eq(pwrite(fd, "other", 5, 0), 5);
		ck_assert_int_eq(futimens(fd, (struct timespec[]){ st.st_atim,
		    st.st_mtim }), 0);
		job.fd = fd;
		job.range.done = 0;
		job_perform(&job);
	} while (job.error == 0 && close(job.fd) == 0);
	ck_assert_int_eq(job.error, ESTALE);

	job.error = 0;
	job.fd = fd;
	job.range.done = 0;
	job.range.version.ctime = JOB_CTIME_ANY;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_int_eq(close(job.fd), 0);
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(without_memory)
{
#ifdef SYS_memfd_create
	tree_forbid(SYS_memfd_create, ENOSYS);
	check_copy(O_RDONLY, 100, 1000, 1000);
#endif
}
END_TEST

/* A handle stays valid when the file is renamed. */
START_TEST(renamed)
{
#ifdef O_PATH
	struct job	job;
	char		got[10];

	struct stat	st;

	job_init(&job, JOB_COPY);
	job.fd = open(tree_path("file"), O_PATH);
	ck_assert_int_eq(fstat(job.fd, &st), 0);
	job.copy.has_version = true;
	job.range.version = file_version_of(&st);
	job.range.offset = 1000;
	job.range.length = sizeof(got);
	ck_assert_int_eq(unlink(tree_path("file")), 0);
	tree_file("file", "another", 0644);
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_int_eq(pread(job.fd, got, sizeof(got), 0), sizeof(got));
	ck_assert_mem_eq(got, text + 1000, sizeof(got));
#endif
}
END_TEST

static const struct {
	const char	*path;		/* NULL: no descriptor at all */
	int		 flags, error;
} refused[] = {
	{ NULL,		0,		EBADF },
	{ "file",	O_WRONLY,	EBADF },
	{ "",		O_RDONLY,	EISDIR }
};

START_TEST(errors)
{
	struct job	job;
	int		fd = -1;

	job_init(&job, JOB_COPY);
	if (refused[_i].path != NULL)
		fd = open(tree_path(refused[_i].path), refused[_i].flags);
	job.fd = fd;
	job.range.length = 10;
	job_perform(&job);
	ck_assert_int_eq(job.error, refused[_i].error);
	ck_assert_int_eq(job.fd, fd);		/* not closed */
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, tree_end);
	tcase_add_loop_test(tests, ranges, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, other_version);
	tcase_add_test(tests, mtime_put_back);
	tcase_add_test(tests, without_memory);
	tcase_add_test(tests, renamed);
	tcase_add_loop_test(tests, errors, 0,
	    sizeof(refused) / sizeof(refused[0]));
}
