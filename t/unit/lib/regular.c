/*
 * Tests of lib/regular: each kind of file.
 */
#include "lib/regular.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
	const char	*name, *wrong;
	int		 error;
} cases[] = {
	{ "file",	NULL,		0 },
	{ "link",	NULL,		0 },
	{ "null",	NULL,		0 },
	{ "none",	NULL,		ENOENT },
	{ "loop",	NULL,		ELOOP },
	{ "fifo",	"a FIFO",	EINVAL },
	{ "to-fifo",	"a FIFO",	EINVAL },
	{ "socket",	"a socket",	EINVAL },
	{ "dir",	"a directory",	EINVAL },
	{ "zero",	"a device",	EINVAL },
};

static void
begin(void)
{
	tree_begin();
	tree_file("file", "text", 0644);
	tree_link("file", "link");
	tree_link("/dev/null", "null");
	tree_link("loop", "loop");
	tree_fifo("fifo");
	tree_link("fifo", "to-fifo");
	tree_socket("socket");
	tree_dir("dir", 0755);
	tree_link("/dev/zero", "zero");
}

START_TEST(kinds)
{
	const char	*name = tree_path(cases[_i].name);
	const char	*wrong = regular_other_kind(name);
	int		 fd = regular_open(name), error = errno;

	ck_assert_msg(wrong == NULL ? cases[_i].wrong == NULL :
	    cases[_i].wrong != NULL && strcmp(wrong, cases[_i].wrong) == 0,
	    "%s: %s", cases[_i].name, wrong);
	ck_assert_int_eq(fd == -1 ? error : 0, cases[_i].error);
	if (fd != -1)
		close(fd);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, begin, tree_end);
	tcase_add_loop_test(tests, kinds, 0, COUNT(cases));
}
