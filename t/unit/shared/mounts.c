/*
 * Tests of shared/mounts: which file system a path is on, by a table.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <sched.h>

#include "shared/mounts.h"
#include "t/unit/conf/confs.h"

static const char table[] =
    "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "22 21 0:20 / /proc rw shared:2 - proc proc rw\n"
    "nonsense\n"
    "\n"
    "23 21 0:30 / /srv/nfs rw - nfs server:/export rw\n"
    "24 23 0:31 / /srv/nfs/deep rw - nfs server:/other rw\n"
    "25 21 8:2 / /with\\040blank\\134 rw - ext4 /dev/sda2 rw\n"
    "26 21 0:40 / /twice rw - tmpfs tmpfs rw\n"
    "27 26 0:41 / /twice rw - tmpfs tmpfs rw\n"
    "42 26 0:42 / /twice/hidden rw - tmpfs tmpfs rw\n"
    "28 21 8:1 /srv /srv/bound rw - ext4 /dev/sda1 rw\n"
    /* Covered from above: the shorter one came later. */
    "50 21 0:50 / /over/deep rw - tmpfs tmpfs rw\n"
    "51 50 0:51 / /over/deep/er rw - tmpfs tmpfs rw\n"
    "52 21 0:52 / /over rw - tmpfs tmpfs rw\n"
    "53 52 0:53 / /over rw - tmpfs tmpfs rw\n"
    "54 53 0:54 / /over/deep/er rw - tmpfs tmpfs rw\n"
    /* An automounter's: something at its own place, and again. */
    "60 21 0:60 / /auto rw - autofs auto rw\n"
    "61 60 0:61 / /auto/home rw - nfs a:/ rw\n"
    "62 60 0:62 / /auto rw - nfs b:/ rw\n"
    "63 62 0:63 / /auto/home rw - nfs c:/ rw\n"
    /* The upper one has a later line. */
    "71 70 0:71 / /late/deep rw - tmpfs tmpfs rw\n"
    "70 21 0:70 / /late rw - tmpfs tmpfs rw";

static const struct {
	const char	*root, *path;
	unsigned	 major, minor;
	size_t		 enter;
} cases[] = {
	{ "/",			"",		8,	1,	0 },
	{ "/",			"srv",		8,	1,	0 },
	{ "/",			"srv/nfs",	0,	30,	7 },
	{ "/",			"srv/nfs/",	0,	30,	7 },
	{ "/",			"proc/x",	0,	20,	4 },
	{ "/srv",		"",		8,	1,	0 },
	{ "/srv",		"nfs",		0,	30,	3 },
	{ "/srv",		"nfs/a/b",	0,	30,	3 },
	{ "/srv",		"nfs2/a",	8,	1,	0 },
	{ "/srv",		"nf",		8,	1,	0 },
	{ "/srv",		"nfs/deep/x",	0,	31,	8 },
	{ "/srv/nfs",		"",		0,	30,	0 },
	{ "/srv/nfs",		"x",		0,	30,	0 },
	{ "/srv/nfs",		"deep",		0,	31,	4 },
	{ "/srv/nfs/deep",	"x",		0,	31,	0 },
	{ "/with blank\\",	"x",		8,	2,	0 },
	{ "/with blank",	"x",		8,	1,	0 },
	{ "/twice",		"x",		0,	41,	0 },
	{ "/twice",		"hidden/x",	0,	41,	0 },
	{ "/srv",		"bound/x",	8,	1,	5 },
	{ "/over",		"x",		0,	53,	0 },
	{ "/over",		"deep/x",	0,	53,	0 },
	{ "/over",		"deep/er/x",	0,	54,	7 },
	{ "/",			"over/deep/x",	0,	53,	4 },
	{ "/auto",		"x",		0,	62,	0 },
	{ "/auto",		"home/x",	0,	63,	4 },
	{ "/auto/home",		"x",		0,	63,	0 },
	{ "/late",		"deep/x",	0,	71,	4 },
	{ "/late",		"x",		0,	70,	0 }
};

static struct conf	*conf;
static struct mounts	*mounts;
static bool		 known;
static size_t		 enter;

static void
make(void)
{
	char	link[PATH_MAX + 8];

	setup();
	snprintf(link, sizeof(link), "%s/link", dir);
	ck_assert_int_eq(symlink("/proc/self/..", link), 0);
	make_directory("a");
	conf = good("site a.org {\nlisten *:80\nroot $/a\n"
	    "path /l { alias $/link; }\n}\n");
	mounts = mounts_new(conf);
}

static void
unmake(void)
{
	mounts_free(&mounts);
	conf_free(&conf);
	teardown();
}

static uint64_t
where(const char *root, const char *path)
{
	return mounts_find(mounts, root, path, &known, &enter);
}

START_TEST(finds)
{
	mounts_read(mounts, table);
	ck_assert_uint_eq(where(cases[_i].root, cases[_i].path),
	    makedev(cases[_i].major, cases[_i].minor));
	ck_assert(known);
	ck_assert_uint_eq(enter, cases[_i].enter);
}
END_TEST

START_TEST(has)
{
	mounts_read(mounts, table);
	ck_assert(mounts_has(mounts, makedev(0, 31)));
	ck_assert(!mounts_has(mounts, makedev(0, 32)));
	mounts_read(mounts, "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	ck_assert(!mounts_has(mounts, makedev(0, 31)));
	ck_assert_uint_eq(where("/srv/nfs", "deep/x"), makedev(8, 1));
}
END_TEST

/* Where / itself is not in the table, as in a chroot; and what the kernel
 * would not write. */
START_TEST(odd_tables)
{
	mounts_read(mounts, "9 5 0:9 / /a/b/c rw - x x rw\n"
	    "8 5 0:8 / /a/b rw - x x rw\n");
	ck_assert_uint_eq(where("/a", "b/c/d"), makedev(0, 8));
	ck_assert_uint_eq(where("/a", "x"), 0);
	mounts_read(mounts, "1 1 0:1 / / rw - x x rw\n"
	    "2 1 0:2 / / rw - x x rw\n");
	ck_assert_uint_eq(where("/a", "b"), makedev(0, 2));
	mounts_read(mounts, "1 2 0:1 / / rw - x x rw\n"
	    "2 1 0:2 / / rw - x x rw\n");
	where("/a", "b");
	mounts_read(mounts, "1 0 0:1 / / rw - x x rw\n"
	    "2 3 0:2 / /a rw - x x rw\n3 2 0:3 / /a rw - x x rw\n");
	ck_assert_uint_eq(where("/a", "b"), makedev(0, 1));
}
END_TEST

/* Roots are told apart, and nothing else. */
START_TEST(without_a_table)
{
	ck_assert(where("/a", "x") == where("/a", "y"));
	ck_assert(where("/a", "x") != where("/b", "x"));
	ck_assert(!known);
	ck_assert_uint_eq(enter, 0);
}
END_TEST

/* A root that is a link is where the link leads. */
START_TEST(of_this_system)
{
	struct stat	st;
	char		link[PATH_MAX + 8];

	snprintf(link, sizeof(link), "%s/link", dir);
	mounts_refresh(mounts);
	if (stat("/proc/self/mountinfo", &st) == -1)
		return;
	mounts_refresh(mounts);		/* nothing has changed */
	ck_assert_int_eq(stat("/proc", &st), 0);
	ck_assert_uint_eq(where("/proc", "version"), st.st_dev);
	ck_assert_uint_eq(where(link, "version"), st.st_dev);
	ck_assert(mounts_has(mounts, st.st_dev));
	ck_assert_uint_ne(where("/", "version"), st.st_dev);
}
END_TEST

static void
mount_at(const char *source, const char *name, const char *type,
    unsigned long flags)
{
	char	at[PATH_MAX + 16];

	snprintf(at, sizeof(at), "%s/%s", dir, name);
	ck_assert_int_eq(mount(source, at, type, flags, NULL), 0);
}

/* mounts_find() agrees with the kernel, however mounts lie on one another.
 * Where there may be none, there is nothing to compare. */
START_TEST(as_the_kernel)
{
	static const char *const paths[] = { "", "m", "m/n", "m/n/o", "m/p",
				    "l", "l/n", "l/n/o", "l/p" };
	char			 path[PATH_MAX + 16];
	struct stat		 st;

	if (unshare(CLONE_NEWNS) == -1 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1)
		return;
	mounts_free(&mounts);		/* that was another's table */
	mounts = mounts_new(conf);
	make_directory("m");
	make_directory("l");
	mount_at("t", "m", "tmpfs", 0);
	make_directory("m/n");
	mount_at("t", "m/n", "tmpfs", 0);
	make_directory("m/n/o");
	mount_at("t", "m/n/o", "tmpfs", 0);
	mount_at("t", "m/n", "tmpfs", 0);
	make_directory("m/n/o");
	make_directory("m/p");
	mount_at("t", "m/p", "tmpfs", 0);
	for (int turn = 0; turn < 3; turn++) {
		mounts_refresh(mounts);
		for (size_t i = 0; i < COUNT(paths); i++) {
			snprintf(path, sizeof(path), "%s/%s", dir, paths[i]);
			if (stat(path, &st) == -1)
				continue;
			ck_assert_msg(where(dir, paths[i]) == st.st_dev,
			    "turn %d: %s", turn, paths[i]);
		}
		if (turn == 0) {
			snprintf(path, sizeof(path), "%s/m", dir);
			mount_at(path, "l", NULL, MS_BIND | MS_REC);
		} else
			mount_at("t", "m", "tmpfs", 0);
	}
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, i == 0 ? "l" : "m");
		while (umount2(path, MNT_DETACH) == 0)
			continue;
	}
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, finds, 0, COUNT(cases));
	tcase_add_test(tests, has);
	tcase_add_test(tests, odd_tables);
	tcase_add_test(tests, without_a_table);
	tcase_add_test(tests, of_this_system);
	tcase_add_test(tests, as_the_kernel);
}
