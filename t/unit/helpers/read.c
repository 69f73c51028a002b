/*
 * Tests of helpers/read: ranges, and descriptors that cannot be read.
 */
#include <sys/mman.h>

#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

enum { SIZE = 300001 };			/* of the file: some calls' worth */

static const struct {
	int64_t		offset;
	uint64_t	length, done;
} cases[] = {
	{ 0,		0,		0 },
	{ 0,		1,		1 },
	{ 0,		4096,		4096 },
	{ 0,		65536,		65536 },
	{ 0,		65537,		65537 },
	{ 0,		SIZE,		SIZE },
	{ 0,		SIZE + 1,	SIZE },
	{ 0,		INT64_MAX,	SIZE },
	{ 4095,		8194,		8194 },
	{ 200000,	SIZE,		SIZE - 200000 },
	{ SIZE - 1,	1,		1 },
	{ SIZE,		1,		0 },
	{ SIZE + 1,	1,		0 },
	{ INT64_MAX - 1, 1,		0 }
};

static void
make(void)
{
	static char	text[SIZE + 1];

	tree_begin();
	memset(text, 'x', SIZE);	/* a hole need not be in memory */
	tree_file("file", text, 0644);
}

START_TEST(ranges)
{
	struct job	job;

	job_init(&job, JOB_READ);
	job.fd = open(tree_path("file"), O_RDONLY);
	job.range.offset = cases[_i].offset;
	job.range.length = cases[_i].length;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.range.done, cases[_i].done);
	ck_assert_int_eq(lseek(job.fd, 0, SEEK_CUR), 0);
	close(job.fd);
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

	job_init(&job, JOB_READ);
	if (refused[_i].path != NULL)
		job.fd = open(tree_path(refused[_i].path), refused[_i].flags);
	job.range.length = 10;
	job.range.done = 5;			/* of an earlier attempt */
	job_perform(&job);
	ck_assert_int_eq(job.error, refused[_i].error);
	ck_assert_uint_eq(job.range.done, 0);
}
END_TEST

/* The range is in memory: mincore() says so to the owner of the file. */
START_TEST(is_in_memory_after)
{
	struct job	 job;
	unsigned char	 resident[(SIZE + 4095) / 4096];
	size_t		 page = (size_t)sysconf(_SC_PAGESIZE);
	void		*map;

	job_init(&job, JOB_READ);
	job.fd = open(tree_path("file"), O_RDWR);
	job.range.offset = 8192;
	job.range.length = 65536;
	fsync(job.fd);
	posix_fadvise(job.fd, 0, 0, POSIX_FADV_DONTNEED);
	job_perform(&job);
	ck_assert_uint_eq(job.range.done, job.range.length);
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, job.fd, 0);
	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(mincore(map, SIZE, resident), 0);
	for (size_t i = 8192 / page; i * page < 8192 + 65536; i++)
		ck_assert_msg(resident[i] & 1, "page %zu", i);
	munmap(map, SIZE);
	job_perform(&job);
	ck_assert(job.read.was_in_memory == io_can_read_nowait(job.fd, SIZE));
	close(job.fd);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, tree_end);
	tcase_add_loop_test(tests, ranges, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tests, errors, 0,
	    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tests, is_in_memory_after);
}
