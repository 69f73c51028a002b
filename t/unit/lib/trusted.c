/*
 * Tests of lib/trusted: links of root and of others, in each part of a path.
 * Needs root.
 */
#include <sys/wait.h>

#include <signal.h>

#include "lib/buf.h"
#include "lib/log.h"
#include "lib/trusted.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))
#define OTHER		20001
#define FLAGS		(O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK)

/* A path, and the log line if it is refused, or the file that is opened; both
 * NULL: the error.  The tree is root's, except "theirs" and all in it. */
static const struct {
	const char	*name, *said, *opened;
	int		 flags, error;
} cases[] = {
	{ "plain",		NULL, "plain", 0, 0 },
	{ "new",		NULL, "new", 0, 0 },
	{ "link",		NULL, "secret/file", 0, 0 },
	{ "absolute",		NULL, "secret/file", 0, 0 },
	{ "over-two",		NULL, "secret/file", 0, 0 },
	{ "linked/file",	NULL, "secret/file", 0, 0 },
	{ "linked/../plain",	NULL, "plain", 0, 0 },
	{ "./secret//file",	NULL, "secret/file", 0, 0 },
	{ "dangling",		NULL, "secret/made", 0, 0 },
	{ "link",		NULL, NULL, O_NOFOLLOW, ELOOP },
	{ "linked/file",	NULL, "secret/file", O_NOFOLLOW, 0 },
	{ "loop",		NULL, NULL, 0, ELOOP },
	{ "none/file",		NULL, NULL, 0, ENOENT },
	{ "plain/file",		NULL, NULL, 0, ENOTDIR },
	{ "secret",		NULL, NULL, 0, EISDIR },
	/* Made by another user in a directory that is root's now. */
	{ "given",		"the link given in it", NULL, 0, EPERM },
	/* In a directory of another user. */
	{ "theirs/own",		NULL, "theirs/own", 0, 0 },
	{ "theirs/roots",	NULL, "theirs/roots", 0, 0 },
	{ "theirs/new",		NULL, "theirs/new", 0, 0 },
	{ "theirs/link",	"the link link in it", NULL, 0, EPERM },
	{ "theirs/roots-link",	"the link roots-link in it", NULL, 0, EPERM },
	{ "theirs/dangling",	"the link dangling in it", NULL, 0, EPERM },
	{ "theirs/away/file",	"the link away in it", NULL, 0, EPERM },
	{ "theirs/away/file",	"the link away in it", NULL, O_NOFOLLOW,
	    EPERM },
	{ "theirs/below/file",	NULL, "theirs/below/file", 0, 0 },
	{ "to-theirs",		"the link link in it", NULL, 0, EPERM },
	{ "theirs/hard",	"made it as a second name", NULL, 0, EPERM },
	{ "theirs/own-hard",	NULL, "theirs/own", 0, 0 },
	/* In a directory of root's that others may write to. */
	{ "shared/link",	"the link link in it", NULL, 0, EPERM },
	{ "shared/hard",	"made it as a second name", NULL, 0, EPERM },
	{ "shared/plain",	NULL, "shared/plain", 0, 0 },
	{ "sticky/link",	"the link link in it", NULL, 0, EPERM },
	{ "sticky/mine/link",	NULL, "secret/file", 0, 0 },
};

static struct buf	lines;

static void
append_line(void *context, const char *line, size_t n)
{
	(void)context;
	buf_add(&lines, line, n);
}

static void
fill_tree(const char *directory, uid_t owner, mode_t mode)
{
	char	name[100];

	tree_dir(directory, 0755);
	snprintf(name, sizeof(name), "%s/link", directory);
	tree_link("../secret/file", name);
	tree_own(name, owner);
	snprintf(name, sizeof(name), "%s/hard", directory);
	ck_assert_int_eq(link(tree_path("secret/file"), tree_path(name)), 0);
	snprintf(name, sizeof(name), "%s/plain", directory);
	tree_file(name, "", 0640);
	tree_own(directory, owner);
	ck_assert_int_eq(chmod(tree_path(directory), mode), 0);
}

static void
fill_theirs(void)
{
	fill_tree("theirs", OTHER, 0755);
	tree_file("theirs/own", "", 0640);
	tree_own("theirs/own", OTHER);
	ck_assert_int_eq(link(tree_path("theirs/own"),
	    tree_path("theirs/own-hard")), 0);
	tree_file("theirs/roots", "", 0640);
	tree_link("../secret/file", "theirs/roots-link");
	tree_link("../secret/never", "theirs/dangling");
	tree_own("theirs/dangling", OTHER);
	tree_link("../secret", "theirs/away");
	tree_own("theirs/away", OTHER);
	tree_dir("theirs/below", 0755);
	tree_file("theirs/below/file", "", 0640);
}

static void
begin(void)
{
	tree_begin();
	if (geteuid() != 0)
		return;
	tree_dir("secret", 0700);
	tree_file("secret/file", "", 0600);
	tree_file("plain", "", 0640);
	tree_link("secret/file", "link");
	tree_link(tree_path("secret/file"), "absolute");
	tree_link("link", "over-two");
	tree_link("secret", "linked");
	tree_link("secret/made", "dangling");
	tree_link("loop", "loop");
	tree_link("secret/file", "given");
	tree_own("given", OTHER);
	tree_link("theirs/link", "to-theirs");
	fill_theirs();
	fill_tree("shared", 0, 0775);
	fill_tree("sticky", 0, 01777);
	tree_dir("sticky/mine", 0755);
	tree_link("../../secret/file", "sticky/mine/link");
	log_init("test", LOG_LEVEL_NOTICE);
	log_set_output(append_line, NULL);
}

static void
check_same(int fd, const char *name)
{
	struct stat	a, b;

	ck_assert_int_eq(fstat(fd, &a), 0);
	ck_assert_int_eq(stat(tree_path(name), &b), 0);
	ck_assert_msg(a.st_ino == b.st_ino && a.st_dev == b.st_dev,
	    "another than %s", name);
}

START_TEST(names)
{
	const char	*said = cases[_i].said;
	int		 fd, error;

	if (geteuid() != 0)
		return;
	fd = trusted_open(tree_path(cases[_i].name), FLAGS | cases[_i].flags,
	    0640);
	error = errno;
	ck_assert_msg((fd != -1) == (cases[_i].opened != NULL), "%s: %s",
	    cases[_i].name, strerror(error));
	if (fd != -1)
		check_same(fd, cases[_i].opened);
	else
		ck_assert_int_eq(error, cases[_i].error);
	ck_assert_msg(said == NULL ? lines.len == 0 :
	    strstr(buf_string(&lines), said) != NULL, "%s: %s",
	    cases[_i].name, buf_string(&lines));
	ck_assert_int_eq(access(tree_path("secret/never"), F_OK), -1);
}
END_TEST

/* Links in /proc lead to files without a path. */
START_TEST(kernels)
{
	int	pipes[2], fd;
	char	name[64];

	ck_assert_int_eq(pipe(pipes), 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", pipes[1]);
	fd = trusted_open(name, FLAGS, 0640);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	ck_assert_int_eq(read(pipes[0], name, 1), 1);
	close(fd);
	ck_assert_int_ne(dup2(pipes[1], STDOUT_FILENO), -1);
	fd = trusted_open("/dev/stdout", FLAGS, 0640);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, "y", 1), 1);
	ck_assert_int_eq(read(pipes[0], name, 1), 1);
	fd = trusted_open("/dev/null", FLAGS, 0640);
	ck_assert_int_ne(fd, -1);
}
END_TEST

/* A file that another process replaces by a link and back, all the time. */
START_TEST(swapped)
{
	static const char *const	pairs[][2] = {
		{ "theirs/own", "theirs/link" }, { "theirs/below",
		"theirs/away" }
	};
	struct stat			st;
	pid_t				child;
	int				fd;

	if (geteuid() != 0)
		return;
	child = tree_swap(pairs, 2);
	for (int turn = 0; turn < 3000; turn++) {
		fd = trusted_open(tree_path(turn % 2 == 0 ? "theirs/own" :
		    "theirs/below/file"), FLAGS, 0640);
		if (fd != -1) {
			ck_assert_int_eq(write(fd, "x", 1), 1);
			close(fd);
		}
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert_int_eq(stat(tree_path("secret/file"), &st), 0);
	ck_assert_int_eq(st.st_size, 0);
}
END_TEST

START_TEST(directories)
{
	const char	*last = NULL;
	int		 directory;

	directory = trusted_directory(tree_path("none"), &last);
	ck_assert_int_ne(directory, -1);
	ck_assert_str_eq(last, "none");
	close(directory);
	ck_assert_int_eq(trusted_directory(tree_path("none/none"), &last), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(trusted_directory("here", &last), -1);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(trusted_directory(tree_path("theirs/away/x"), &last),
	    -1);
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

/* A file, and the mode of its directory afterwards; 0: there is none. */
static const struct {
	const char	*name;
	mode_t		 mode;
} made[] = {
	{ "fresh/file", 0755 },
	{ "linked/fresh/file", 0755 },
	{ "secret/file", 0700 },
	{ "fresh/fresh/file", 0 },
	{ "theirs/fresh/file", 0 },
	{ "shared/fresh/file", 0 },
	{ "theirs/away/fresh/file", 0 },
};

START_TEST(making)
{
	char		*path = strdup(tree_path(made[_i].name));
	struct stat	 st = { 0 };
	mode_t		 mask = umask(0077);

	trusted_make_directory(path);
	trusted_make_directory("here");
	umask(mask);
	*strrchr(path, '/') = '\0';
	ck_assert_int_eq(stat(path, &st), made[_i].mode == 0 ? -1 : 0);
	ck_assert_uint_eq(st.st_mode & 07777, made[_i].mode);
	free(path);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, begin, tree_end);
	tcase_add_loop_test(tests, names, 0, COUNT(cases));
	tcase_add_test(tests, kernels);
	tcase_add_test(tests, swapped);
	tcase_add_test(tests, directories);
	if (geteuid() == 0)
		tcase_add_loop_test(tests, making, 0, COUNT(made));
}
