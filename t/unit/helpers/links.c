/*
 * Tests of helpers/links: each policy with and without openat2, and the walk
 * while links and owners change.
 *
 * Only root can make links of several owners.
 */
#include <sys/wait.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <signal.h>
#include <stdbool.h>

#include "helpers/beneath.h"
#include "helpers/links.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

enum { EVE = 20002 };		/* a uid */

static int	root;

/* Results with BENEATH_STAT, by policy: 0 or an errno. */
static const struct {
	const char	*path;
	int		 beneath, none, owner, all;
	bool		 owned;			/* only as root */
} cases[] = {
	{ "",			0, 0, 0, 0, false },
	{ "file",		0, 0, 0, 0, false },
	{ "dir/file",		0, 0, 0, 0, false },
	{ "dir/",		0, 0, 0, 0, false },
	{ "none",		ENOENT, ENOENT, ENOENT, ENOENT, false },
	{ "file/",		ENOTDIR, ENOTDIR, ENOTDIR, ENOTDIR, false },
	{ "../outside",		EXDEV, EXDEV, EXDEV, EXDEV, false },
	{ "dir/../../outside",	EXDEV, EXDEV, EXDEV, EXDEV, false },
	{ "/etc/passwd",	EXDEV, EXDEV, EXDEV, EXDEV, false },
	{ "in",			0, ELOOP, 0, 0, false },
	{ "indir/file",		0, ELOOP, 0, 0, false },
	{ "indir/",		0, ELOOP, 0, 0, false },
	{ "loop",		ELOOP, ELOOP, ELOOP, ELOOP, false },
	{ "out",		EXDEV, ELOOP, 0, 0, false },
	{ "out/",		EXDEV, ELOOP, ENOTDIR, ENOTDIR, false },
	{ "up/outside",		EXDEV, ELOOP, 0, 0, false },
	{ "up/root/file",	EXDEV, ELOOP, 0, 0, false },
	{ "up/none",		EXDEV, ELOOP, ENOENT, ENOENT, false },
	{ "absolute",		EXDEV, ELOOP, 0, 0, false },
	{ "outdir/sub/",	EXDEV, ELOOP, 0, 0, false },
	{ "outdir/sub/file",	EXDEV, ELOOP, 0, 0, false },
	{ "outdir/file/x",	EXDEV, ELOOP, ENOTDIR, ENOTDIR, false },
	{ "slashed/file",	EXDEV, ELOOP, 0, 0, false },
	{ "slashed-file",	EXDEV, ELOOP, ENOTDIR, ENOTDIR, false },
	{ "outer-loop",		EXDEV, ELOOP, ELOOP, ELOOP, false },
	{ "out-dangling",	EXDEV, ELOOP, ENOENT, ENOENT, false },
	{ "chain",		EXDEV, ELOOP, 0, 0, false },
	{ "eve/in",		0, ELOOP, 0, 0, true },
	{ "eve/out",		EXDEV, ELOOP, EXDEV, 0, true },
	{ "eve/hers",		EXDEV, ELOOP, 0, 0, true },
	{ "eve/hersdir/file",	EXDEV, ELOOP, 0, 0, true },
	{ "eve/notdir/file",	EXDEV, ELOOP, EXDEV, 0, true },
	{ "eve/chain",		EXDEV, ELOOP, EXDEV, 0, true },
	{ "chain-to-eve",	EXDEV, ELOOP, EXDEV, 0, true },
	{ "eve/good-chain",	EXDEV, ELOOP, 0, 0, true },
	/* Each link is checked: the second is good, the first is not. */
	{ "eve/in-out/file",	EXDEV, ELOOP, EXDEV, 0, true },
	{ "eve/top/etc",	EXDEV, ELOOP, EXDEV, 0, true },
#ifdef __linux__
	{ "proc/cwd",		EXDEV, ELOOP, ELOOP, 0, false },
	{ "proc/exe",		EXDEV, ELOOP, ELOOP, 0, false },
#endif
};
#define CASES	((int)(sizeof(cases) / sizeof(cases[0])))

static void
make_owned(void)
{
	static const char *const hers[] = { "hers", "hersdir", "hersdir/chain",
	    "root/eve/in", "root/eve/out", "root/eve/hers", "root/eve/hersdir",
	    "root/eve/notdir", "root/eve/chain", "root/eve/good-chain",
	    "root/eve/in-out", "root/eve/top" };

	for (size_t i = 0; i < sizeof(hers) / sizeof(hers[0]); i++)
		tree_own(hers[i], EVE);
}

static void
make(void)
{
	tree_begin();
	tree_file("outside", "secret", 0644);
	tree_file("hers", "hers", 0644);
	tree_dir("hersdir", 0755);
	tree_file("hersdir/file", "hf", 0644);
	tree_link("../hers", "hersdir/chain");
	tree_dir("outdir", 0755);
	tree_file("outdir/file", "of", 0644);
	tree_dir("outdir/sub", 0755);
	tree_file("outdir/sub/file", "osf", 0644);
	tree_dir("root", 0755);
	tree_dir("root/dir", 0755);
	tree_dir("root/eve", 0755);
	tree_file("root/file", "f", 0644);
	tree_file("root/dir/file", "df", 0644);
	tree_link("file", "root/in");
	tree_link("dir", "root/indir");
	tree_link("loop", "root/loop");
	tree_link("../outside", "root/out");
	tree_link("..", "root/up");
	tree_link(tree_path("outside"), "root/absolute");
	tree_link("../outdir", "root/outdir");
	tree_link("..//outdir//", "root/slashed");
	tree_link("../outside/", "root/slashed-file");
	tree_link("../root/outer-loop", "root/outer-loop");
	tree_link("../nothing", "root/out-dangling");
	tree_link("up/root/./indir/../out", "root/chain");
	tree_link("../file", "root/eve/in");
	tree_link("../../outside", "root/eve/out");
	tree_link("../../hers", "root/eve/hers");
	tree_link("../../hersdir", "root/eve/hersdir");
	tree_link("../../outdir", "root/eve/notdir");
	tree_link("../out", "root/eve/chain");
	tree_link("../hersdir/chain", "root/chain-to-eve");
	tree_link("hersdir/chain", "root/eve/good-chain");
	tree_link("../outdir/", "root/eve/in-out");
	tree_link("/", "root/eve/top");
	tree_link("/proc/self", "root/proc");
	if (geteuid() == 0)
		make_owned();
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
error_of(const char *path, int flags, enum job_links links)
{
	int	fd = links_open(root, path, flags, links);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

static void
check_policy(int i, enum job_links links, int error)
{
	int	before = tree_descriptors();
	int	got = error_of(cases[i].path, BENEATH_STAT, links);

	ck_assert_msg(got == error, "\"%s\" with %d: %s, not %s",
	    cases[i].path, (int)links, strerror(got), strerror(error));
	if (error == 0)
		ck_assert_int_eq(error_of(cases[i].path, BENEATH_READ, links),
		    0);
	ck_assert_int_eq(tree_descriptors(), before);
}

START_TEST(policies)
{
	if (cases[_i].owned && geteuid() != 0)
		return;			/* there is only one owner */
	check_policy(_i, JOB_LINKS_BENEATH, cases[_i].beneath);
	check_policy(_i, JOB_LINKS_NONE, cases[_i].none);
	check_policy(_i, JOB_LINKS_OWNER, cases[_i].owner);
	check_policy(_i, JOB_LINKS_ALL, cases[_i].all);
}
END_TEST

#ifdef SYS_openat2
/* Without openat2 links are followed by OWNER and ALL only. */
START_TEST(on_an_older_kernel)
{
	static const struct {
		const char	*path;
		enum job_links	 links;
		int		 error;
		bool		 owned;
	} older[] = {
		{ "dir/file", JOB_LINKS_NONE, 0, false },
		{ "in", JOB_LINKS_NONE, ELOOP, false },
		{ "in", JOB_LINKS_BENEATH, ELOOP, false },
		{ "in", JOB_LINKS_OWNER, 0, false },
		{ "indir/file", JOB_LINKS_OWNER, 0, false },
		{ "out", JOB_LINKS_OWNER, 0, false },
		{ "loop", JOB_LINKS_OWNER, ELOOP, false },
		{ "eve/out", JOB_LINKS_OWNER, EXDEV, true },
		{ "eve/in", JOB_LINKS_OWNER, EXDEV, true },
		{ "eve/hers", JOB_LINKS_OWNER, 0, true },
		{ "out", JOB_LINKS_ALL, 0, false },
		{ "../outside", JOB_LINKS_OWNER, EXDEV, false },
	};

	tree_forbid(SYS_openat2, ENOSYS);
	for (size_t i = 0; i < sizeof(older) / sizeof(older[0]); i++) {
		if (older[i].owned && geteuid() != 0)
			continue;
		ck_assert_msg(error_of(older[i].path, BENEATH_READ,
		    older[i].links) == older[i].error, "%s with %d: %s",
		    older[i].path, (int)older[i].links, strerror(errno));
	}
}
END_TEST
#endif

/* The limit on links is the kernel's; targets that grow reach a limit. */
START_TEST(walk_has_limits)
{
	char	name[16], target[300];

	tree_link("../outside", "root/l0");
	for (int i = 1; i <= 41; i++) {
		snprintf(name, sizeof(name), "root/l%d", i);
		snprintf(target, sizeof(target), "l%d", i - 1);
		tree_link(target, name);
	}
	ck_assert_int_eq(error_of("l39", BENEATH_STAT, JOB_LINKS_OWNER), 0);
	ck_assert_int_eq(error_of("l39", BENEATH_STAT, JOB_LINKS_ALL), 0);
	ck_assert_int_eq(error_of("l40", BENEATH_STAT, JOB_LINKS_OWNER),
	    ELOOP);
	ck_assert_int_eq(error_of("l40", BENEATH_STAT, JOB_LINKS_ALL), ELOOP);
	/* Each link leads to itself and more. */
	memset(target, '/', sizeof(target));
	memcpy(target, "../root/grow", 12);
	memcpy(target + 240, "x", 2);
	tree_link(target, "root/grow");
	ck_assert_int_ne(error_of("grow", BENEATH_STAT, JOB_LINKS_OWNER), 0);
}
END_TEST

/* OWNER does not open a FIFO. */
START_TEST(fifo_stays_shut)
{
	tree_fifo("fifo");
	tree_link("../fifo", "root/to-fifo");
	ck_assert_int_eq(error_of("to-fifo", BENEATH_STAT, JOB_LINKS_OWNER),
	    0);
	ck_assert_int_eq(error_of("to-fifo", BENEATH_READ, JOB_LINKS_OWNER),
	    ENOTSUP);
}
END_TEST

/* EVE's link is swapped between a target of hers and another one. */
static const char *const swapped[][2] = {
	{ "root/turn", "root/exit" },
	{ "turning", "turned" },
	{ "hersdir/turn", "hersdir/exit" }
};

static void
make_turning(void)
{
	tree_file("turning", "hers", 0644);
	tree_file("turned", "secret", 0644);
	tree_own("turning", EVE);
	tree_link("../turning", "root/turn");
	tree_link("../outside", "root/exit");
	tree_own("root/turn", EVE);
	tree_own("root/exit", EVE);
	tree_file("hersdir/turn", "hers", 0644);
	tree_link("../outside", "hersdir/exit");
	tree_own("hersdir/exit", EVE);
}

/* A link is swapped, and a file behind a good link becomes a link. */
static const char *const ways[] = { "turn", "eve/hersdir/turn" };

START_TEST(never_elsewhere_in_a_race)
{
	char	text[8];
	pid_t	child;
	int	fd, found = 0, refused = 0;

	if (geteuid() != 0)
		return;			/* there is only one owner */
	if (_i == 0)
		make_turning();
	child = tree_swap(swapped, 3);
	for (int i = 0; i < 200000 && (found < 200 || refused < 200); i++) {
		fd = links_open(root, ways[_i], BENEATH_READ, JOB_LINKS_OWNER);
		if (fd == -1) {
			refused++;
			continue;
		}
		found++;
		ck_assert_int_eq(read(fd, text, sizeof(text)), 4);
		ck_assert_mem_eq(text, "hers", 4);
		close(fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert(found > 0 && refused > 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, policies, 0, CASES);
#ifdef SYS_openat2
	tcase_add_test(tests, on_an_older_kernel);
#endif
	tcase_add_test(tests, walk_has_limits);
	tcase_add_test(tests, fifo_stays_shut);
	tcase_add_loop_test(tests, never_elsewhere_in_a_race, 0,
	    sizeof(ways) / sizeof(ways[0]));
}
