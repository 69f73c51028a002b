/*
 * Tests of helpers/digest: sums of ranges, of files and handles.
 */
#include <sys/stat.h>

#include "helpers/file_version.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

enum { SIZE = 200001 };			/* of the file: some blocks' worth */

static char	text[SIZE + 1];

static void
make(void)
{
	tree_begin();
	for (int i = 0; i < SIZE; i++)
		text[i] = (char)('a' + i % 23);
	tree_file("file", text, 0644);
	text[SIZE - 1] = '!';
	tree_file("other", text, 0644);
}

/* The sum of a range, which must be in the file. */
static uint64_t
sum(const char *name, int flags, int64_t offset, uint64_t length)
{
	struct job	job;
	int		fd = open(tree_path(name), flags);

	job_init(&job, JOB_DIGEST);
	job.fd = fd;
	job.range.offset = offset;
	job.range.length = length;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.range.done, length);
	ck_assert_int_eq(job.fd, fd);
	ck_assert_int_eq(close(fd), 0);		/* still the caller's */
	return job.digest.sum;
}

/* A sum is the same on each machine, in each release. */
START_TEST(known_sums)
{
	ck_assert_uint_eq(sum("file", O_RDONLY, 0, 0), 0);
	ck_assert_uint_eq(sum("file", O_RDONLY, 0, 5), 4664449624594011751U);
	ck_assert_uint_eq(sum("file", O_RDONLY, 0, SIZE), 16625484170849018233U);
#ifdef O_PATH
	ck_assert_uint_eq(sum("file", O_PATH, 0, SIZE), 16625484170849018233U);
#endif
}
END_TEST

START_TEST(bytes_alone_count)
{
	/* The text repeats itself after 23 bytes. */
	ck_assert_uint_eq(sum("file", O_RDONLY, 0, 100000),
	    sum("file", O_RDONLY, 23, 100000));
	ck_assert_uint_eq(sum("file", O_RDONLY, 0, SIZE - 1),
	    sum("other", O_RDONLY, 0, SIZE - 1));
	ck_assert_uint_ne(sum("file", O_RDONLY, 0, SIZE),
	    sum("other", O_RDONLY, 0, SIZE));
	ck_assert_uint_ne(sum("file", O_RDONLY, 0, 100000),
	    sum("file", O_RDONLY, 0, 100001));
}
END_TEST

START_TEST(other_version)
{
	struct job	job;
	int		fd = open(tree_path("file"), O_RDWR);
	struct stat	st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	job_init(&job, JOB_DIGEST);
	job.fd = fd;
	job.range.length = 10;
	job.digest.has_version = true;
	job.range.version = file_version_of(&st);
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_int_eq(ftruncate(fd, SIZE - 1), 0);
	job_perform(&job);
	ck_assert_int_eq(job.error, ESTALE);
	job.digest.has_version = false;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

static const struct {
	const char	*path;		/* NULL: no descriptor at all */
	int		 flags;
	uint64_t	 length;
	int		 error;
} refused[] = {
	{ NULL,		0,		10,		EBADF },
	{ "file",	O_WRONLY,	10,		EBADF },
	{ "file",	O_RDONLY,	SIZE + 1,	ESTALE },
	{ "",		O_RDONLY,	10,		EISDIR }
};

START_TEST(errors)
{
	struct job	job;
	int		fd = -1;

	job_init(&job, JOB_DIGEST);
	if (refused[_i].path != NULL)
		fd = open(tree_path(refused[_i].path), refused[_i].flags);
	job.fd = fd;
	job.range.length = refused[_i].length;
	job_perform(&job);
	ck_assert_int_eq(job.error, refused[_i].error);
	ck_assert_int_eq(job.fd, fd);		/* not closed */
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, tree_end);
	tcase_add_test(tests, known_sums);
	tcase_add_test(tests, bytes_alone_count);
	tcase_add_test(tests, other_version);
	tcase_add_loop_test(tests, errors, 0,
	    sizeof(refused) / sizeof(refused[0]));
}
