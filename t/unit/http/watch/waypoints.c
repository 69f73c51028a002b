/*
 * Unit test of http/watch/waypoints: what is watched ends when nothing needs
 * it, and stays within limits, whatever clients, helpers and other programs do.
 */
#include <errno.h>

#include "t/unit/http/watch/site.h"

#define ROOT	"1B0tmp 2D0"
#define MAX	20

static void
open_site(void)
{
	site_open(MAX);
}

/* A lookup of /dNUMBER/page. */
static bool
look_in(int number)
{
	char	name[32], way[64];

	snprintf(name, sizeof(name), "/d%04d/page", number);
	snprintf(way, sizeof(way), ROOT " %dD5", number);
	return look_up(NAMESPACE_TARGET, name, way);
}

START_TEST(way_then_end)
{
	struct look	l;

	look_begin(&l, NAMESPACE_TARGET, "/dir/page");
	ck_assert_int_eq(l.job.find.watch, JOB_WATCH_WAY);
	look_watches(&l, ROOT " 3D3");
	ck_assert(look_end(&l));
	look_begin(&l, NAMESPACE_TARGET, "/dir/other");
	ck_assert_int_eq(l.job.find.watch, JOB_WATCH_END);
	l.job.find.watched = JOB_WATCHED_ALL;
	ck_assert(look_end(&l));
	ck_assert_uint_eq(w->directories, 3);
}
END_TEST

/* A way that cannot be watched is not tried again, if it led to a file. */
START_TEST(unwatched)
{
	struct look	l;

	for (int error = 0; error <= ENOENT; error += ENOENT) {
		look_begin(&l, NAMESPACE_TARGET, error == 0 ? "/a/page" :
		    "/b/page");
		look_watches(&l, ROOT);
		l.job.find.watched = JOB_WATCHED_NOT;
		l.job.error = error;
		ck_assert(!look_end(&l));
	}
	look_begin(&l, NAMESPACE_TARGET, "/a/page");
	ck_assert_int_eq(l.job.find.watch, JOB_WATCH_NONE);
	look_end(&l);
	look_begin(&l, NAMESPACE_TARGET, "/b/page");
	ck_assert_int_eq(l.job.find.watch, JOB_WATCH_WAY);
	look_end(&l);
}
END_TEST

/* Names that are not there count up to a limit in their directory. */
START_TEST(absences)
{
	char		name[32], way[64];
	struct look	l;

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "/x%d/page", i);
		snprintf(way, sizeof(way), ROOT " 2B%zux%d", strcspn(name + 1,
		    "/"), i);
		look_begin(&l, NAMESPACE_TARGET, name);
		look_watches(&l, way);
		l.job.error = ENOENT;
		ck_assert(!look_end(&l));
	}
	ck_assert_uint_eq(w->directories, 2);
	ck_assert_uint_eq(w->n, 2 + 64);
	/* What is there is watched; what has come makes room for another. */
	ck_assert(look_in(5));
	event_come(NOTIFY_ENTRY, 2, "x7", true);
	tidy();
	ck_assert_uint_eq(directory_find(w, 2)->absences, 63);
}
END_TEST

/* What is behind a program hangs on the program's name. */
START_TEST(program)
{
	static const char	*const names[] = { "/dir/a.php/b/c",
				    "/dir/a.php/", "/dir/a.php" };
	struct look		 l;

	for (int i = 0; i < 3; i++) {
		look_begin(&l, NAMESPACE_TARGET, names[i]);
		if (l.job.find.watch == JOB_WATCH_WAY)
			look_watches(&l, i < 2 ? ROOT " 3D3 3B9a.php" :
			    ROOT " 3D3");
		l.job.find.watched = JOB_WATCHED_ALL;
		l.job.resolve.program = true;
		l.job.resolve.split = strlen("dir/a.php");
		ck_assert(look_end(&l));
	}
	event_come(NOTIFY_ENTRY, 3, "b.php", false);
	tidy();
	for (int i = 0; i < 3; i++)
		ck_assert(is_watched(names[i]));
	event_come(NOTIFY_ENTRY, 3, "a.php", false);
	tidy();
	for (int i = 0; i < 3; i++)
		ck_assert(is_old(NAMESPACE_TARGET, names[i]));
}
END_TEST

/* A directory that no waypoint needs is watched until all lookups that were
 * under way when main heard of it have ended. */
START_TEST(unknown_directory)
{
	struct look	slow, other;

	look_begin(&slow, NAMESPACE_TARGET, "/slow/page");
	event_come(NOTIFY_ENTRY, 9, "some", false);
	for (int i = 0; i < 3; i++) {
		look_begin(&other, NAMESPACE_TARGET, "/other/page");
		look_watches(&other, "7B0dev 8D0");
		ck_assert(look_end(&other));
		event_come(NOTIFY_ENTRY, 9, "some", false);
	}
	ck_assert_int_eq(nremoved, 0);
	if (_i == 0) {			/* it was that lookup's */
		look_watches(&slow, ROOT " 9D4");
		ck_assert(look_end(&slow));
		ck_assert_int_eq(nremoved, 0);
		return;
	}
	slow.job.error = ECANCELED;	/* its helper was killed */
	(void)look_end(&slow);
	ck_assert_int_eq(nremoved, 1);
	ck_assert_int_eq(removed[0], 9);
}
END_TEST

/* No lookup is outdated by an unknown directory, but by a name of its own. */
START_TEST(unknown_event)
{
	struct look	l;

	look_begin(&l, NAMESPACE_TARGET, "/link/page");
	ck_assert(waypoints_may_join(http->caches, &l.job, &l.watching));
	event_come(NOTIFY_ENTRY, 3, _i == 0 ? "else" : "target", false);
	ck_assert(!waypoints_may_join(http->caches, &l.job, &l.watching));
	look_watches(&l, ROOT " 2B4link 3B4target 4D4");
	ck_assert_int_eq(look_end(&l), _i == 0);
	ck_assert_int_eq(is_old(NAMESPACE_TARGET, "/link/page"), _i == 1);
}
END_TEST

START_TEST(unknown_goes)
{
	struct look	slow;

	look_begin(&slow, NAMESPACE_TARGET, "/slow/page");
	event_come(NOTIFY_ENTRY, 9, "some", false);
	ck_assert_uint_eq(w->directories, 1);
	event_come(NOTIFY_GONE, 9, NULL, false);
	ck_assert_uint_eq(w->directories, 0);
	(void)look_end(&slow);
}
END_TEST

/* A number stands for a directory until its watch has ended, by an event or by
 * main: a lookup that was told of it before does not note it. */
START_TEST(number_has_ended)
{
	struct look	l;

	look_begin(&l, NAMESPACE_TARGET, "/dir/sub/page");
	look_watches(&l, ROOT " 3D3 4D7");
	event_come(NOTIFY_GONE, 3, NULL, false);
	ck_assert(!look_end(&l));
	/* Nor would anything tell of the path. */
	ck_assert(is_old(NAMESPACE_TARGET, "/dir/sub/page"));
	ck_assert_ptr_null(directory_find(w, 3));
	/* Without 3 nothing would tell of 4. */
	ck_assert_ptr_null(directory_find(w, 4));
	ck_assert_int_eq(nremoved, 1);
	ck_assert_int_eq(removed[0], 4);
	ck_assert(look_up(NAMESPACE_TARGET, "/dir/sub/page",
	    ROOT " 5D3 6D7"));
}
END_TEST

/* A lookup in a known directory is not watched if the watch began after it. */
START_TEST(watched_since)
{
	struct look	early;

	ck_assert(look_in(3));
	look_begin(&early, NAMESPACE_TARGET, "/d0003/other");
	ck_assert_int_eq(early.job.find.watch, JOB_WATCH_END);
	early.job.find.watched = JOB_WATCHED_ALL;
	event_come(NOTIFY_GONE, 3, NULL, false);
	tidy();
	clock_update_us(&now);
	now.ms += 5;
	ck_assert(look_up(NAMESPACE_TARGET, "/d0003/page", ROOT " 4D5"));
	ck_assert(!look_end(&early));
}
END_TEST

/* At the limit the directories go whose files were asked for once. */
START_TEST(limit)
{
	struct path	*p;

	for (int i = 3; i < 8; i++) {
		char	name[32];

		ck_assert(look_in(i));
		snprintf(name, sizeof(name), "/d%04d/page", i);
		p = pathname_hold(&http->caches->paths, 0, str_of(name));
		pathname_release(&http->caches->paths, &p);
	}
	for (int i = 8; i < 500; i++) {
		(void)look_in(i);
		now.ms += 200;		/* not more than once a second */
		tidy();
		ck_assert_uint_le(w->directories, MAX + MAX / 4 + 1);
	}
	now.ms += 1000;
	(void)look_in(500);
	tidy();
	ck_assert_uint_le(w->directories, MAX);
	ck_assert(is_watched("/d0003/page"));
	ck_assert(is_watched("/d0007/page"));
	ck_assert(!is_watched("/d0010/page"));
	ck_assert_int_eq(nremoved, 64);	/* as many as the test keeps */
}
END_TEST

/* Clients that ask for deep names do not fill the memory. */
START_TEST(bytes)
{
	char		name[3000];
	struct look	l;

	for (int i = 0; i < 200; i++) {
		memset(name, 'x', sizeof(name));
		snprintf(name, 16, "/%04d", i);
		name[5] = 'y';
		strcpy(name + sizeof(name) - 3, "/p");
		look_begin(&l, NAMESPACE_TARGET, name);
		look_watches(&l, ROOT);
		l.job.find.watched = JOB_WATCHED_NOT;
		(void)look_end(&l);
	}
	tidy();
	ck_assert_uint_le(w->bytes, MAX * 1024 * 5 / 4 + sizeof(name));
}
END_TEST

/* A change of a directory with many beneath it, and others beside it. */
START_TEST(only_beneath)
{
	char	name[64], way[64];

	for (int i = 10; i < 16; i++) {
		snprintf(name, sizeof(name), "/dir/%04d/page", i);
		snprintf(way, sizeof(way), ROOT " 3D3 %dD8", i);
		ck_assert(look_up(NAMESPACE_TARGET, name, way));
	}
	ck_assert(look_in(4));
	event_come(NOTIFY_ENTRY, 2, "dir", true);
	tidy();
	ck_assert(is_old(NAMESPACE_TARGET, "/dir/0010/page"));
	ck_assert(is_old(NAMESPACE_TARGET, "/dir/0015/page"));
	ck_assert(is_watched("/d0004/page"));
	ck_assert_uint_eq(w->directories, 3);
	ck_assert_int_eq(nremoved, 7);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, open_site, site_close);
	tcase_add_test(tests, way_then_end);
	tcase_add_test(tests, unwatched);
	tcase_add_test(tests, absences);
	tcase_add_test(tests, program);
	tcase_add_loop_test(tests, unknown_directory, 0, 2);
	tcase_add_loop_test(tests, unknown_event, 0, 2);
	tcase_add_test(tests, unknown_goes);
	tcase_add_test(tests, number_has_ended);
	tcase_add_test(tests, watched_since);
	tcase_add_test(tests, limit);
	tcase_add_test(tests, bytes);
	tcase_add_test(tests, only_beneath);
}
