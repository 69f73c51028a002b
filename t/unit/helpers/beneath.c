/*
 * Tests of helpers/beneath: both methods, also while the tree changes.
 */
#include <sys/inotify.h>
#include <sys/wait.h>

#include <signal.h>
#include <stdbool.h>

#include "helpers/beneath.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static int	root;

static const struct way {
	const char	*name;
	int		(*open)(int, const char *, int);
} ways[] = {
	{ "open", beneath_open },
	{ "kernel", beneath_openat2 },
	{ "walk", beneath_walk }
};

/* Results with BENEATH_STAT, 0 or an errno: by the kernel, by walking. */
static const struct {
	const char	*path;
	int		 kernel, walk;
} cases[] = {
	{ "",			0,		0 },
	{ "file",		0,		0 },
	{ "dir",		0,		0 },
	{ "dir/",		0,		0 },
	{ "dir/file",		0,		0 },
	{ "dir//file",		0,		0 },
	{ "dir/./file",		0,		0 },
	{ "./file",		0,		0 },
	{ "dir/deep/file",	0,		0 },
	{ "file/",		ENOTDIR,	ENOTDIR },
	{ "file/x",		ENOTDIR,	ENOTDIR },
	{ "fifo/",		ENOTDIR,	ENOTDIR },
	{ "none",		ENOENT,		ENOENT },
	{ "none/",		ENOENT,		ENOENT },
	{ "none/file",		ENOENT,		ENOENT },
	{ "..",			EXDEV,		EXDEV },
	{ "../",		EXDEV,		EXDEV },
	{ "../outside",		EXDEV,		EXDEV },
	{ "dir/../../outside",	EXDEV,		EXDEV },
	{ "/",			EXDEV,		EXDEV },
	{ "/etc/passwd",	EXDEV,		EXDEV },
	{ "in",			0,		ELOOP },
	{ "indir/file",		0,		ELOOP },
	{ "indir/",		0,		ELOOP },
	{ "dir/up",		0,		ELOOP },
	{ "out",		EXDEV,		ELOOP },
	{ "outdir/outside",	EXDEV,		ELOOP },
	{ "absolute",		EXDEV,		ELOOP },
	{ "absolute-in",	EXDEV,		ELOOP },
	{ "dangling",		ENOENT,		ELOOP },
	{ "loop",		ELOOP,		ELOOP },
	{ "fifo",		0,		ENOTSUP },
	{ "socket",		0,		ENOTSUP }
};

static void
make(void)
{
	tree_begin();
	tree_file("outside", "secret", 0644);
	tree_dir("root", 0755);
	tree_file("root/file", "f", 0644);
	tree_dir("root/dir", 0755);
	tree_file("root/dir/file", "df", 0644);
	tree_dir("root/dir/deep", 0755);
	tree_file("root/dir/deep/file", "ddf", 0644);
	tree_link("file", "root/in");
	tree_link("dir", "root/indir");
	tree_link("../file", "root/dir/up");
	tree_link("../outside", "root/out");
	tree_link("..", "root/outdir");
	tree_link("/etc/passwd", "root/absolute");
	tree_link(tree_path("root/file"), "root/absolute-in");
	tree_link("nothing", "root/dangling");
	tree_link("loop", "root/loop");
	tree_fifo("root/fifo");
	tree_socket("root/socket");
	root = open(tree_path("root"), BENEATH_STAT | O_DIRECTORY);
	ck_assert_int_ne(root, -1);
}

static void
unmake(void)
{
	close(root);
	tree_end();
}

static int
error_of(int (*way)(int, const char *, int), const char *path)
{
	int	fd = way(root, path, BENEATH_STAT);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

/* Whether this system's kernel confines paths. */
static bool
kernel_can(void)
{
	return error_of(beneath_openat2, "") == 0;
}

START_TEST(looks)
{
	int	before = tree_descriptors();
	int	kernel = cases[_i].kernel, walk = cases[_i].walk;

	ck_assert_msg(error_of(beneath_walk, cases[_i].path) == walk,
	    "walking \"%s\": %s", cases[_i].path, strerror(errno));
	if (kernel_can()) {
		ck_assert_msg(error_of(beneath_openat2, cases[_i].path) ==
		    kernel, "\"%s\": %s", cases[_i].path, strerror(errno));
		walk = kernel;
	}
	ck_assert_int_eq(error_of(beneath_open, cases[_i].path), walk);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

START_TEST(reads)
{
	char	text[8];
	int	fd = ways[_i].open(root, "dir/file", BENEATH_READ);

	if (fd == -1 && errno == ENOSYS && !kernel_can())
		return;
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(read(fd, text, sizeof(text)), 2);
	ck_assert_mem_eq(text, "df", 2);
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	close(fd);
}
END_TEST

/* A path, or a segment, that is too long. */
START_TEST(too_long)
{
	static char	path[5000];

	memset(path, 'a', 300);
	ck_assert_int_eq(error_of(beneath_open, path), ENAMETOOLONG);
	ck_assert_int_eq(error_of(beneath_walk, path), ENAMETOOLONG);
	for (size_t i = 0; i + 2 < sizeof(path); i += 2)
		memcpy(path + i, "./", 2);
	ck_assert_int_eq(error_of(beneath_open, path), ENAMETOOLONG);
	ck_assert_int_eq(error_of(beneath_walk, path), ENAMETOOLONG);
}
END_TEST

/* BENEATH_STAT, and a walk with BENEATH_READ, never open a FIFO. */
START_TEST(fifo_stays_shut)
{
	char	event[4096];
	int	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	ck_assert_int_ne(inotify_add_watch(watch, tree_path("root/fifo"),
	    IN_OPEN), -1);
	error_of(beneath_open, "fifo");
	error_of(beneath_openat2, "fifo");
	ck_assert_int_eq(beneath_walk(root, "fifo", BENEATH_READ), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	ck_assert_int_eq(read(watch, event, sizeof(event)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	/* Else inotify has an event. */
	fd = open(tree_path("root/fifo"), O_RDONLY | O_NONBLOCK);
	ck_assert_int_gt(read(watch, event, sizeof(event)), 0);
	close(fd);
	close(watch);
}
END_TEST

/* A directory is swapped with a link to the outside, again and again. */
static const char *const swapped[][2] = { { "root/turn", "root/exit" } };

START_TEST(never_outside_in_a_race)
{
	char	text[8];
	pid_t	child;
	int	fd, found = 0, refused = 0;

	if (_i == 0) {
		tree_dir("root/turn", 0755);
		tree_file("root/turn/outside", "inside", 0644);
		tree_link("..", "root/exit");
	}
	child = tree_swap(swapped, 1);
	while (refused < 200 || (found < 200 && kernel_can())) {
		fd = ways[_i].open(root, "turn/outside", BENEATH_READ);
		if (fd == -1) {
			refused++;
			continue;
		}
		found++;
		ck_assert_int_eq(read(fd, text, sizeof(text)), 6);
		ck_assert_mem_eq(text, "inside", 6);
		close(fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	int	count = sizeof(ways) / sizeof(ways[0]);

	tcase_add_unchecked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, looks, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tests, reads, 0, count);
	tcase_add_test(tests, too_long);
	tcase_add_test(tests, fifo_stays_shut);
	tcase_add_loop_test(tests, never_outside_in_a_race, 0, count);
}
