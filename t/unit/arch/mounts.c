/*
 * Tests of arch/mounts: which file system a path is on, by a table.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "arch/mounts.h"
#include "t/unit/confs.h"

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
    "28 21 8:1 /srv /srv/bound rw - ext4 /dev/sda1 rw";

static const struct {
	const char	*root, *path;
	unsigned	 major, minor;
	bool		 stays;
} cases[] = {
	{ "/",			"",		8,	1,	true },
	{ "/",			"srv",		8,	1,	true },
	{ "/",			"srv/nfs",	0,	30,	false },
	{ "/",			"srv/nfs/",	0,	30,	false },
	{ "/",			"proc/x",	0,	20,	false },
	{ "/srv",		"",		8,	1,	true },
	{ "/srv",		"nfs",		0,	30,	false },
	{ "/srv",		"nfs/a/b",	0,	30,	false },
	{ "/srv",		"nfs2/a",	8,	1,	true },
	{ "/srv",		"nf",		8,	1,	true },
	{ "/srv",		"nfs/deep/x",	0,	31,	false },
	{ "/srv/nfs",		"",		0,	30,	true },
	{ "/srv/nfs",		"x",		0,	30,	true },
	{ "/srv/nfs",		"deep",		0,	31,	false },
	{ "/srv/nfs/deep",	"x",		0,	31,	true },
	{ "/with blank\\",	"x",		8,	2,	true },
	{ "/with blank",	"x",		8,	1,	true },
	{ "/twice",		"x",		0,	41,	true },
	{ "/srv",		"bound/x",	8,	1,	false }
};

static struct conf	*conf;
static struct mounts	*mounts;
static bool		 stays;

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
	return mounts_find(mounts, root, path, &stays);
}

START_TEST(finds)
{
	mounts_read(mounts, table);
	ck_assert_uint_eq(where(cases[_i].root, cases[_i].path),
	    makedev(cases[_i].major, cases[_i].minor));
	ck_assert(stays == cases[_i].stays);
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

/* Roots are told apart, and nothing else. */
START_TEST(without_a_table)
{
	ck_assert(where("/a", "x") == where("/a", "y"));
	ck_assert(where("/a", "x") != where("/b", "x"));
	ck_assert(!stays);
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

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, finds, 0, COUNT(cases));
	tcase_add_test(tests, has);
	tcase_add_test(tests, without_a_table);
	tcase_add_test(tests, of_this_system);
}
