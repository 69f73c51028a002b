/* Tests of helpers/resolve: files in languages, beside a file. */
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include "helpers/job.h"
#include "helpers/perform.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static void
make_old(const char *name)
{
	const struct timespec	times[2] = { { 900, 0 }, { 900, 0 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, tree_path(name), times, 0), 0);
}

static void
make(void)
{
	tree_begin();
	tree_dir("a", 0755);
	tree_file("a/a.b.html", "file", 0644);
	tree_file("a/a.b.html.gz", "old", 0644);
	tree_file("a/a.b.de.html", "de", 0644);
	tree_file("a/a.b.html.fr", "fr", 0644);
	tree_file("a/a.b.it.html", "", 0644);
	tree_dir("a/a.b.es.html", 0755);
	/* Only the first of both forms counts, if it is a file. */
	tree_file("a/a.b.html.de", "de", 0644);
	tree_file("a/a.b.html.it", "it", 0644);
	tree_file("a/a.b.html.es", "es", 0644);
	tree_file("plain", "file", 0644);
	tree_file("plain.es", "es", 0644);
	make_old("a/a.b.html.gz");
	make_old("a/a.b.de.html");
}

/* The path, the siblings that count, and those without programs. */
static const struct {
	const char	*path;
	uint64_t	 counting, others;
} cases[] = {
	{ "a/a.b.html",	2 | 4 | 16,	4 | 16 },
	{ "plain",	16,	16 },
};

/* They count however old they are, unless they are programs. */
START_TEST(counting)
{
	static const char	tags[] = ".gz\0de\0fr\0it\0es";
	static const char	programs[] = "*.de.html";
	struct job		job;
	int			before = tree_descriptors();

	for (int i = 0; i < 2; i++) {
		job_init(&job, JOB_RESOLVE);
		job.find.root = tree_path("");
		job.find.path = cases[_i].path;
		job.resolve.siblings = (struct str){ tags, sizeof(tags) };
		if (i == 1)
			job.find.programs = (struct str){ programs,
			    sizeof(programs) };
		job_perform(&job);
		ck_assert_int_eq(job.error, 0);
		ck_assert_uint_eq(job.resolve.counting, i == 0 ?
		    cases[_i].counting : cases[_i].others);
		close(job.fd);
	}
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

/* The path, the form, the name; NULL: there is none. */
static const struct {
	const char	*path;
	unsigned	 form;
	const char	*name;
} names[] = {
	{ "a.html",	0,	"a.de.html" },
	{ "a.html",	1,	"a.html.de" },
	{ "a.b.html",	0,	"a.b.de.html" },
	{ "d.d/a.html",	0,	"d.d/a.de.html" },
	{ "d.d/a",	0,	NULL },
	{ "d.d/a",	1,	"d.d/a.de" },
	{ "d/.a",	0,	NULL },
	{ ".a",		1,	".a.de" },
	{ "a.",		0,	"a.de." },
	{ "too-long.htm", 1,	NULL },
	{ "too-long.htm", 0,	NULL },
};

START_TEST(named)
{
	char	name[15];
	bool	is_name = job_language_name(name, sizeof(name),
		    names[_i].path, "de", names[_i].form);

	ck_assert(is_name == (names[_i].name != NULL));
	if (is_name)
		ck_assert_str_eq(name, names[_i].name);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, tree_end);
	tcase_add_loop_test(tests, counting, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tests, named, 0, sizeof(names) / sizeof(names[0]));
}
