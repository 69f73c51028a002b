/*
 * Tests of helpers/explain_path: the component that is named for an error.
 */
#include "helpers/explain_path.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static const char	no_names[] = "";
static const char	index_names[] = "none\0index";

/* The expected text behind the path of the tree's top. */
static const struct {
	const char	*path, *names;
	size_t		 names_len;
	int		 error;
	const char	*want;			/* NULL: nothing */
} cases[] = {
#define NONE	no_names, 0
#define INDEX	index_names, sizeof(index_names)
	{ "a/b",	NONE,	ENOENT,	"/a is not there" },
	{ "dir/b/c",	NONE,	ENOENT,	"/dir/b is not there" },
	{ "dir/b/",	INDEX,	ENOENT,	"/dir/b is not there" },
	{ "dangling",	NONE,	ENOENT,
	    "/dangling is a link to nowhere, which is not there" },
	{ "file/x",	NONE,	ENOTDIR, "/file is a file, not a directory" },
	{ "file/",	INDEX,	ENOTDIR, "/file is a file, not a directory" },
	{ "dir/fifo/x",	NONE,	ENOTDIR,
	    "/dir/fifo is a FIFO, not a directory" },
	{ "closed/x",	NONE,	EACCES, "/closed is a directory with mode "
	    "0000, of user $ and group $; $ may not enter it" },
	{ "secret",	NONE,	EACCES, "/secret is a file with mode "
	    "0000, of user $ and group $; $ may not read it" },
	{ "barred/",	INDEX,	EACCES, "/barred/index is a file with mode "
	    "0000, of user $ and group $; $ may not read it" },
	{ "file",	NONE,	EACCES,	NULL },
	{ "in",		NONE,	EXDEV,	NULL },
	{ "out",	NONE,	EXDEV,	"/out is a link to ../.., out of the root" },
	{ "out/x/y",	NONE,	EXDEV,	"/out is a link to ../.., out of the root" },
	{ "absolute",	NONE,	EXDEV,	"/absolute is a link to "
	    "/dev/null, out of the root" },
	{ "leaving/",	INDEX,	EXDEV,
	    "/leaving/index is a link to /dev/null, out of the root" },
	{ "in",		NONE,	ELOOP,	"/in is a link to file" },
	{ "dir/fifo",	NONE,	ENOTSUP, "/dir/fifo is a FIFO" },
	{ "socket",	NONE,	ENOTSUP, "/socket is a socket" },
	{ "piped/",	INDEX,	ENOTSUP, "/piped/index is a FIFO" },
	{ "file",	NONE,	ENOTSUP, NULL },
	{ "file",	NONE,	EIO,	NULL },
	{ "dir/",	INDEX,	EISDIR,	NULL },
	{ "",		INDEX,	EISDIR,	NULL },
};
#define CASES	((int)(sizeof(cases) / sizeof(cases[0])))

static void
begin(void)
{
	tree_begin();
	tree_file("file", "f", 0644);
	tree_file("secret", "s", 0);
	tree_dir("dir", 0755);
	tree_fifo("dir/fifo");
	tree_socket("socket");
	tree_link("file", "in");
	tree_link("../..", "out");
	tree_link("/dev/null", "absolute");
	tree_link("nowhere", "dangling");
	tree_dir("barred", 0755);
	tree_file("barred/index", "", 0);
	tree_dir("leaving", 0755);
	tree_link("/dev/null", "leaving/index");
	tree_dir("piped", 0755);
	tree_fifo("piped/index");
	tree_dir("closed", 0);
	tree_link(".", "self");
}

/* Whether the text is as expected, with any word for each $. */
static bool
matches(const char *got, const char *want)
{
	for (; *want != '\0'; want++) {
		if (*want != '$') {
			if (*got++ != *want)
				return false;
			continue;
		}
		if (*got == ' ' || *got == '\0')
			return false;
		got += strcspn(got, " ;");
	}
	return *got == '\0';
}

static void
check(const char *root, int i)
{
	struct job	job;
	struct buf	text = { 0 };

	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = cases[i].path;
	job.find.names.at = cases[i].names;
	job.find.names.len = cases[i].names_len;
	job.error = cases[i].error;
	explain_path(&job, &text);
	if (cases[i].want == NULL)
		ck_assert_str_eq(buf_string(&text), "");
	else
		ck_assert_msg(strncmp(buf_string(&text), root,
		    strlen(root)) == 0 && matches(text.at + strlen(root),
		    cases[i].want), "%s: %s", cases[i].path, text.at);
	buf_free(&text);
}

START_TEST(table)
{
	tree_be_nobody();
	check(tree_top, _i);
}
END_TEST

/* A link at the root itself explains no error. */
START_TEST(linked_root)
{
	const char	*root = tree_path("self");

	for (int i = 0; i < CASES; i++)
		if (cases[i].error == EXDEV || cases[i].error == ELOOP)
			check(root, i);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_unchecked_fixture(t, begin, tree_end);
	tcase_add_loop_test(t, table, 0, CASES);
	tcase_add_test(t, linked_root);
}
