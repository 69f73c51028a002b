/*
 * Tests of helpers/way: which waypoints a way has, and whether all that can
 * change an answer is watched.
 */
#include "helpers/job.h"
#include "helpers/notify.h"
#include "helpers/perform.h"
#include "helpers/way.h"
#include "lib/io.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static int	notify;

/*
 * The waypoints behind those of the root: D a directory, B beneath, F the file;
 * bytes of the path; for B and F the entry's name.
 */
static const struct {
	const char	*path;
	bool		 watched;
	const char	*waypoints;
} cases[] = {
	{ "file",		true,	"D0" },
	{ "none",		true,	"D0" },
	{ "dir",		true,	"D0" },
	{ "dir/",		true,	"D0 D3" },
	{ "dir/file",		true,	"D0 D3" },
	{ "dir/none",		true,	"D0 D3" },
	{ "none/file",		true,	"D0 B4none" },
	{ "none/none/file",	true,	"D0 B4none" },
	{ "file/none",		true,	"D0 B4file" },
	{ "in",			true,	"D0 Fdir Ffile" },
	{ "indir/file",		true,	"D0 B5indir B5dir D5" },
	{ "indir/",		true,	"D0 B5indir B5dir D5" },
	{ "dangling",		true,	"D0 Fnowhere" },
	{ "up/file",		false,	"D0 B2up B2.. B2root B2dir D2" },
								/* refused */
	{ "loop",		false,	NULL },
	{ "twin",		false,	"D0" },		/* two names */
	{ "packed",		false,	"D0" },	/* its sibling is a link */
	{ "index/",		false,	"D0 D5" },	/* so is its index */
};
#define CASES	((int)(sizeof(cases) / sizeof(cases[0])))

static void
make(void)
{
	tree_begin();
	tree_dir("root", 0755);
	tree_dir("root/dir", 0755);
	tree_dir("root/index", 0755);
	tree_file("root/file", "x", 0644);
	tree_file("root/dir/file", "x", 0644);
	tree_file("root/twin", "x", 0644);
	tree_file("root/packed", "x", 0644);
	ck_assert_int_eq(link(tree_path("root/twin"), tree_path("other")), 0);
	tree_link("file", "root/packed.gz");
	tree_link("../file", "root/index/index.html");
	tree_link("dir/file", "root/in");
	tree_link("dir", "root/indir");
	tree_link("nowhere", "root/dangling");
	tree_link("../root/dir", "root/up");
	tree_link("loop", "root/loop");
	notify = notify_open();
	notify_use(notify);
}

static void
unmake(void)
{
	notify_use(-1);
	io_close(&notify);
	tree_end();
}

static struct job
make_job(const char *path, enum job_watch watch)
{
	static char	root[256];
	struct job	job;

	snprintf(root, sizeof(root), "%s", tree_path("root"));
	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = path;
	job.find.names = (struct str){ "index.html", 11 };
	job.find.watch = watch;
	job.resolve.siblings = (struct str){ ".gz", 4 };
	return job;
}

/* The name among these that has the hash. */
static const char *
name_of(uint32_t hash)
{
	static const char *const names[] = { "none", "file", "indir", "dir",
	    "nowhere", "up", "root", ".." };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (notify_hash(names[i]) == hash)
			return names[i];
	return "?";
}

/* The waypoints from the root's own on. */
static const char *
show_waypoints(const struct job_waypoints *all)
{
	static char	text[400];
	size_t		n = 0;
	uint32_t	i = 0;

	text[0] = '\0';
	while (i < all->n && all->at[i].kind != JOB_WAYPOINT_DIRECTORY)
		i++;
	for (; i < all->n && n < sizeof(text); i++) {
		const struct job_waypoint	*p = &all->at[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c",
		    n > 0 ? " " : "", "DBF"[p->kind]);
		if (p->kind != JOB_WAYPOINT_FILE)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%u",
			    p->bytes);
		if (p->kind != JOB_WAYPOINT_DIRECTORY)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
			    name_of(p->name));
	}
	return text;
}

START_TEST(way_has_waypoints)
{
	struct job	job = make_job(cases[_i].path, JOB_WATCH_WAY);

	way_watch(&job);
	if (notify == -1 || job.find.waypoints.n == 0)
		return;		/* nothing can be watched here */
	ck_assert_msg((job.find.watched == JOB_WATCHED_ALL) ==
	    cases[_i].watched, "%s is %u", cases[_i].path, job.find.watched);
	if (cases[_i].waypoints != NULL)
		ck_assert_str_eq(show_waypoints(&job.find.waypoints),
		    cases[_i].waypoints);
}
END_TEST

/* If the directory is watched, only a link makes the helper walk. */
START_TEST(way_ends)
{
	struct job	job = make_job("dir/file", JOB_WATCH_WAY);

	way_watch(&job);
	if (job.find.waypoints.n == 0)
		return;
	job.find.watch = JOB_WATCH_END;
	way_watch(&job);
	ck_assert_uint_eq(job.find.watched, JOB_WATCHED_ALL);
	ck_assert_uint_eq(job.find.waypoints.n, 0);
	job.find.path = "in";
	way_watch(&job);
	ck_assert_uint_eq(job.find.watched, JOB_WATCHED_ALL);
	ck_assert_str_eq(show_waypoints(&job.find.waypoints), "D0 Fdir Ffile");
}
END_TEST

START_TEST(way_not_asked)
{
	struct job	job = make_job("file", JOB_WATCH_NONE);

	way_watch(&job);
	ck_assert_uint_eq(job.find.watched, JOB_WATCHED_NOT);
	ck_assert_uint_eq(job.find.waypoints.n, 0);
	notify_use(-1);
	job.find.watch = JOB_WATCH_WAY;
	way_watch(&job);
	ck_assert_uint_eq(job.find.watched, JOB_WATCHED_NOT);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, way_has_waypoints, 0, CASES);
	tcase_add_test(tests, way_ends);
	tcase_add_test(tests, way_not_asked);
}
