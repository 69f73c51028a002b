/*
 * Tests of helpers/resolve: programs, which are found and not opened, and the
 * part of a path that leads to one.  Files: resolve.c.
 */
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "helpers/beneath.h"
#include "helpers/file_version.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static char		root[256];
static const char	patterns[] = "*.php\0*.cgi";
static const char	all[] = "*";
static const char	index_names[] = "index.php\0index.html";
static const char	try_suffixes[] = ".php";

#define PATTERNS	{ patterns, sizeof(patterns) }
#define ALL		{ all, sizeof(all) }
#define INDEX		{ index_names, sizeof(index_names) }
#define TRY		{ try_suffixes, sizeof(try_suffixes) }
#define NONE		{ NULL, 0 }

/* which: of the names; split -1: a file, or an error, and no program. */
static const struct {
	const char	*path;
	struct str	 programs, names;
	int		 kernel, walk;		/* expected errors */
	int		 split;
	unsigned	 which;
	bool		 executable;
} cases[] = {
	{ "a.php",	PATTERNS, NONE,	0,	 0,	  5, 0, false },
	{ "a.php",	NONE,	  NONE,	0,	 0,	 -1, 0, false },
	{ "a.php/info", PATTERNS, NONE,	0,	 0,	  5, 0, false },
	{ "a.php/info", NONE,	  NONE,	ENOTDIR, ENOTDIR, -1, 0, false },
	{ "a.php/",	PATTERNS, NONE,	0,	 0,	  5, 0, false },
	{ "a.php/",	PATTERNS, INDEX, 0,	 0,	  5, 0, false },
	{ "a.php/x.php/y", PATTERNS, NONE, 0,	 0,	  5, 0, false },
	{ "a.php/x/",	PATTERNS, INDEX, 0,	 0,	  5, 0, false },
	{ "a.php/..x",	PATTERNS, NONE,	0,	 0,	  5, 0, false },
	{ "dir/run.cgi/i/j", PATTERNS, NONE, 0,	 0,	 11, 0, true },
	{ "dir/run.cgi", PATTERNS, NONE, 0,	 0,	 11, 0, true },
	{ "dir.php/f",	PATTERNS, NONE,	0,	 0,	 -1, 0, false },
	{ "dir.php/b.php/i", PATTERNS, NONE, 0,	 0,	 13, 0, false },
	{ "dir.php",	PATTERNS, NONE,	EISDIR,	 EISDIR, -1, 0, false },
	{ "dir.php/",	PATTERNS, NONE,	EISDIR,	 EISDIR, -1, 0, false },
	{ "dir",	PATTERNS, INDEX, EISDIR, EISDIR, -1, 0, false },
	{ "dir/",	PATTERNS, INDEX, 0,	 0,	  4, 1, false },
	{ "dir/",	ALL,	  INDEX, 0,	 0,	  4, 1, false },
	{ "pages/",	PATTERNS, INDEX, 0,	 0,	 -1, 2, false },
	{ "",		PATTERNS, INDEX, 0,	 0,	  0, 1, false },
	{ "a",		PATTERNS, TRY,	0,	 0,	  1, 1, false },
	{ "a/info",	PATTERNS, TRY,	ENOENT,	 ENOENT, -1, 0, false },
	{ "file",	PATTERNS, NONE,	0,	 0,	 -1, 0, false },
	{ "file",	ALL,	  NONE,	0,	 0,	  4, 0, false },
	{ "file/info",	PATTERNS, NONE,	ENOTDIR, ENOTDIR, -1, 0, false },
	{ "file/a.php",	PATTERNS, NONE,	ENOTDIR, ENOTDIR, -1, 0, false },
	{ "file/info",	ALL,	  NONE,	0,	 0,	  4, 0, false },
	{ "none.php",	PATTERNS, NONE,	ENOENT,	 ENOENT, -1, 0, false },
	{ "none.php/i", PATTERNS, NONE,	ENOENT,	 ENOENT, -1, 0, false },
	{ "in.php",	PATTERNS, NONE,	0,	 ELOOP,	  6, 0, false },
	{ "in.php/i",	PATTERNS, NONE,	0,	 ELOOP,	  6, 0, false },
	{ "indir/run.cgi/i", PATTERNS, NONE, 0,	 ELOOP,	 13, 0, true },
	{ "out.php",	PATTERNS, NONE,	EXDEV,	 ELOOP,	 -1, 0, false },
	{ "out.php/i",	PATTERNS, NONE,	EXDEV,	 ELOOP,	 -1, 0, false },
	{ "../out.php",	PATTERNS, NONE,	EXDEV,	 EXDEV,	 -1, 0, false },
	{ "text.php",	PATTERNS, NONE,	0,	 ELOOP,	  8, 0, false },
	{ "plain",	PATTERNS, NONE,	0,	 ELOOP,	 -1, 0, false },
	{ "fifo.php",	PATTERNS, NONE,	ENOTSUP, ENOTSUP, -1, 0, false },
	{ "fifo.php/i",	PATTERNS, NONE,	ENOTSUP, ENOTSUP, -1, 0, false },
	{ "secret.php",	PATTERNS, NONE,	0,	 0,	 10, 0, false },
	{ "secret.cgi/i", PATTERNS, NONE, 0,	 0,	 10, 0, true },
	{ "closed/a.php", PATTERNS, NONE, EACCES, EACCES, -1, 0, false },
};
#define CASES	((int)(sizeof(cases) / sizeof(cases[0])))

static void
make(void)
{
	tree_begin();
	snprintf(root, sizeof(root), "%s", tree_path("root"));
	tree_dir("root", 0755);
	tree_dir("root/dir", 0755);
	tree_dir("root/dir.php", 0755);
	tree_dir("root/pages", 0755);
	tree_dir("root/pages/index.php", 0755);
	tree_dir("root/closed", 0755);
	tree_file("out.php", "out", 0755);
	tree_file("root/a.php", "a", 0644);
	tree_file("root/index.php", "i", 0644);
	tree_file("root/file", "f", 0644);
	tree_file("root/dir/run.cgi", "r", 0755);
	tree_file("root/dir/index.php", "i", 0644);
	tree_file("root/dir/index.html", "i", 0644);
	tree_file("root/dir.php/f", "f", 0644);
	tree_file("root/dir.php/b.php", "b", 0644);
	tree_file("root/pages/index.html", "i", 0644);
	tree_file("root/secret.php", "s", 0);
	tree_file("root/secret.cgi", "s", 0711);
	tree_file("root/closed/a.php", "a", 0644);
	tree_link("a.php", "root/in.php");
	tree_link("dir", "root/indir");
	tree_link("../out.php", "root/out.php");
	tree_link("file", "root/text.php");
	tree_link("a.php", "root/plain");
	tree_fifo("root/fifo.php");
	ck_assert_int_eq(chmod(tree_path("root/closed"), 0600), 0);
}

static void
unmake(void)
{
	chmod(tree_path("root/closed"), 0700);
	tree_end();
}

static void
check_facts(const struct job *job, const char *path)
{
	struct job_version	v;
	struct stat		st;
	char			whole[600];

	snprintf(whole, sizeof(whole), "%s/%.*s%s", root,
	    (int)job->resolve.split, path, job->find.name_number == 0 ? "" :
	    job->find.names.at);
	ck_assert_int_eq(stat(whole, &st), 0);
	v = file_version_of(&st);
	ck_assert_mem_eq(&job->find.version, &v, sizeof(v));
	ck_assert_uint_eq(job->find.facts.mode, st.st_mode);
	ck_assert_uint_eq(job->find.facts.uid, st.st_uid);
}

static void
check_case(int i, bool walking)
{
	int		before = tree_descriptors();
	int		error = walking ? cases[i].walk : cases[i].kernel;
	bool		program = error == 0 && cases[i].split != -1;
	struct job	job;

	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = cases[i].path;
	job.find.programs = cases[i].programs;
	job.find.names = cases[i].names;
	job_perform(&job);
	ck_assert_msg(job.error == error, "\"%s\"%s: %s", job.find.path,
	    walking ? " walking" : "", strerror(job.error));
	ck_assert_msg(job.resolve.program == program, "\"%s\"", job.find.path);
	ck_assert_int_eq(job.fd != -1, error == 0 && !program);
	ck_assert_uint_eq(job.resolve.split, program ? cases[i].split : 0);
	ck_assert_int_eq(job.resolve.executable, program &&
	    cases[i].executable);
	ck_assert(!job.find.unchanged);
	if (error == 0)
		ck_assert_uint_eq(job.find.name_number, cases[i].which);
	if (program)
		check_facts(&job, cases[i].path);
	io_close(&job.fd);
	ck_assert_int_eq(tree_descriptors(), before);
}

static bool
kernel_can(void)
{
	int	here = open("/", BENEATH_STAT | O_DIRECTORY), fd;

	fd = beneath_openat2(here, "", BENEATH_STAT);
	close(here);
	close(fd);
	return fd != -1;
}

START_TEST(as_the_system_can)
{
	tree_be_nobody();
	check_case(_i, !kernel_can());
}
END_TEST

#ifdef SYS_openat2
START_TEST(on_an_older_kernel)
{
	tree_forbid(SYS_openat2, ENOSYS);
	tree_be_nobody();
	for (int i = 0; i < CASES; i++)
		check_case(i, true);
}
END_TEST
#endif

/* The policies on links hold on the way to a program, and for it. */
static const struct {
	enum job_links	 links;
	const char	*path;
	int		 error;
} policies[] = {
	{ JOB_LINKS_NONE, "in.php/i", ELOOP },
	{ JOB_LINKS_NONE, "indir/run.cgi/i", ELOOP },
	{ JOB_LINKS_NONE, "a.php/i", 0 },
	{ JOB_LINKS_OWNER, "out.php/i", 0 },
	{ JOB_LINKS_ALL, "out.php/i", 0 },
	{ JOB_LINKS_ALL, "../out.php/i", EXDEV },
	{ JOB_LINKS_BENEATH, "out.php/i", EXDEV },
};

START_TEST(links)
{
	struct job	job;

	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = policies[_i].path;
	job.find.links = policies[_i].links;
	job.find.programs = (struct str)PATTERNS;
	job_perform(&job);
	ck_assert_int_eq(job.error, policies[_i].error);
	ck_assert(job.resolve.program == (job.error == 0));
	ck_assert_int_eq(job.fd, -1);
}
END_TEST

/* A program's source never goes out as another form of a file. */
START_TEST(no_variants)
{
	struct job	job;

	tree_file("root/dir/index.php.gz", "z", 0644);
	tree_file("root/file.php", "z", 0644);
	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = "dir/";
	job.find.names = (struct str)INDEX;
	job.find.programs = (struct str)PATTERNS;
	job.resolve.siblings = (struct str){ ".gz", 4 };
	job_perform(&job);
	ck_assert(job.resolve.program);
	ck_assert_uint_eq(job.resolve.counting, 0);
	job.resolve.sibling = 1;
	job_perform(&job);
	ck_assert_int_eq(job.error, ESTALE);
	ck_assert_int_eq(job.fd, -1);
	job.find.path = "file";
	job.resolve.siblings = (struct str){ ".php", 5 };
	job_perform(&job);
	ck_assert_int_eq(job.error, ESTALE);
	job.resolve.sibling = 0;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.resolve.counting, 0);
	io_close(&job.fd);
	job_init(&job, JOB_COMPRESS);
	job.find.root = root;
	job.find.path = "dir/";
	job.find.names = (struct str)INDEX;
	job.find.programs = (struct str)PATTERNS;
	job.compress.size_max = 1000;
	job_perform(&job);
	ck_assert_int_eq(job.error, ESTALE);
	ck_assert_int_eq(job.fd, -1);
}
END_TEST

/* Main may have had a file there before. */
START_TEST(known_version)
{
	struct job	job;

	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = "a.php";
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	io_close(&job.fd);
	job.find.has_version = true;
	job.find.programs = (struct str)PATTERNS;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert(job.resolve.program && !job.find.unchanged);
	job.find.path = "none";
	job_perform(&job);
	ck_assert_int_eq(job.error, ENOENT);
	ck_assert(!job.resolve.program && !job.resolve.executable);
	ck_assert_uint_eq(job.resolve.split, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, as_the_system_can, 0, CASES);
#ifdef SYS_openat2
	tcase_add_test(tests, on_an_older_kernel);
#endif
	tcase_add_loop_test(tests, links, 0,
	    sizeof(policies) / sizeof(policies[0]));
	tcase_add_test(tests, no_variants);
	tcase_add_test(tests, known_version);
}
