/*
 * Tests of helpers/resolve: small files of a file system without RWF_NOWAIT,
 * which come as copies.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include "helpers/file_version.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static void
make(void)
{
	tree_begin();
	tree_file("file", "f", 0644);
	tree_file("page.html", "ph", 0644);
	tree_file("both", "bo", 0644);
	tree_file("both.gz", "packed", 0644);
	tree_file("nothing", "", 0644);
}

static const struct {
	const char	*path, *sibling;	/* "": none */
	int64_t		 copy_max;
	const char	*text;			/* NULL: not copied */
} cases[] = {
	{ "file",	"",	0,	NULL },
	{ "file",	"",	1,	"f" },
	{ "page",	"",	2,	"ph" },		/* with a suffix */
	{ "page",	"",	1,	NULL },
	{ "nothing",	"",	10,	NULL },
	{ "file",	".gz",	10,	"f" },
	{ "both",	".gz",	10,	NULL }		/* sent in its place */
};

static void
resolve(struct job *job, int i, int64_t copy_max)
{
	static const char	names[] = ".html";
	size_t			len = strlen(cases[i].sibling);

	job_init(job, JOB_RESOLVE);
	job->find.root = tree_path("");
	job->find.path = cases[i].path;
	job->find.names = (struct str){ names, sizeof(names) };
	job->resolve.siblings = (struct str){ cases[i].sibling,
	    len > 0 ? len + 1 : 0 };
	job->resolve.copy_max = copy_max;
	job_perform(job);
	ck_assert_int_eq(job->error, 0);
}

static void
check_text(const struct job *job, const char *text)
{
	char	got[10];
	ssize_t	n = pread(job->fd, got, sizeof(got), 0);

	ck_assert_int_eq(n, (ssize_t)strlen(text));
	ck_assert_int_eq(n, job->find.version.size);
	ck_assert_mem_eq(got, text, strlen(text));
}

START_TEST(copied)
{
#if defined(SYS_preadv2) && defined(O_PATH)
	struct job	job;
	bool		in_memory;

	tree_forbid(SYS_preadv2, EOPNOTSUPP);
	resolve(&job, _i, 0);
	in_memory = job.find.facts.in_memory;
	close(job.fd);
	if (in_memory)			/* main may read it */
		return;
	resolve(&job, _i, cases[_i].copy_max);
	ck_assert(job.find.facts.handle == (cases[_i].text == NULL));
	ck_assert(S_ISREG(job.find.facts.mode) == (cases[_i].text == NULL));
	ck_assert(job.find.facts.copy == (cases[_i].text != NULL));
	if (cases[_i].text != NULL)
		check_text(&job, cases[_i].text);
	close(job.fd);
#endif
}
END_TEST

/* A file that can be read without waiting is not copied. */
START_TEST(not_needed)
{
	struct job	job;

	resolve(&job, 1, 0);
	if (!job.find.facts.handle) {
		close(job.fd);
		resolve(&job, 1, 10);
		ck_assert(S_ISREG(job.find.facts.mode));
	}
	close(job.fd);
}
END_TEST

/* Without one version from the beginning to the end there is no copy. */
START_TEST(changes)
{
	struct job_version	version;
	struct stat		st;
	bool			in_memory;
	int			fd = open(tree_path("file"), O_RDONLY);
	int			copy, before;

	ck_assert_int_eq(fstat(fd, &st), 0);
	version = file_version_of(&st);
	copy = copy_whole(fd, &version, &in_memory);
	ck_assert_int_ne(copy, -1);
	close(copy);
	before = tree_descriptors();
	version.size = 2;		/* the file has shrunk */
	ck_assert_int_eq(copy_whole(fd, &version, &in_memory), -1);
	version.size = 1;
	version.ctime_ns ^= 1;		/* it has been written */
	ck_assert_int_eq(copy_whole(fd, &version, &in_memory), -1);
	ck_assert_int_eq(tree_descriptors(), before);
	close(fd);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, tree_end);
	tcase_add_loop_test(tests, copied, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, not_needed);
	tcase_add_test(tests, changes);
}
