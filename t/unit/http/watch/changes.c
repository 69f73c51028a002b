/*
 * Unit test of http/watch/changes: an event makes old what it is about, and
 * nothing else, whether it is read before a lookup's reply or after it.
 */
#include "t/unit/http/watch/site.h"

#define ROOT	"1B0tmp 2D0"

/* Targets, and how their lookups walk: the directory "dir" is 3, "dir/sub" 4;
 * "link" leads to "dir", "end" to "dir/file"; "none" is not there. */
static const struct {
	const char	*name, *way;
	uint32_t	 kind;
} targets[] = {
	{ "/page",		ROOT, NAMESPACE_TARGET },
	{ "/page.txt",		ROOT, NAMESPACE_TARGET },
	{ "/",			ROOT, NAMESPACE_TARGET },
	{ "/",			ROOT, NAMESPACE_LISTING },
	{ "/dir/",		ROOT " 3D3", NAMESPACE_TARGET },
	{ "/dir/page",		ROOT " 3D3", NAMESPACE_TARGET },
	{ "/dir/sub/page",	ROOT " 3D3 4D7", NAMESPACE_TARGET },
	{ "/link/page",		ROOT " 2B4link 2B4dir 3D4", NAMESPACE_TARGET },
	{ "/end",		ROOT " 2F3end 2F3dir 3F3file", NAMESPACE_TARGET },
	{ "/none/page",		ROOT " 2B4none", NAMESPACE_TARGET },
	{ "/other/page",	"1B0dev 9D0", NAMESPACE_TARGET },
	{ "/doc/page",		"1B0usr 6D0 7D3", NAMESPACE_TARGET },
};
#define TARGETS	((int)(sizeof(targets) / sizeof(targets[0])))

/* Old targets, by their place above: a bit each. */
#define PAGE	(1 << 0)
#define TEXT	(1 << 1)
#define TOP	(1 << 2)
#define LIST	(1 << 3)
#define INDEX	(1 << 4)
#define DIR	(1 << 5)
#define SUB	(1 << 6)
#define LINK	(1 << 7)
#define END	(1 << 8)
#define NONE	(1 << 9)
#define OTHER	(1 << 10)
#define DOC	(1 << 11)
#define ALL	((1 << 12) - 1)

static const struct {
	const char	*name;
	int		 number;
	enum notify_what what;
	bool		 directory;
	int		 old;
} cases[] = {
	{ "page",	2, NOTIFY_ENTRY, false, PAGE | LIST },
	{ "page.txt.gz", 2, NOTIFY_ENTRY, false, TEXT | LIST },
	{ "else",	2, NOTIFY_ENTRY, false, LIST },
	{ "index.html",	2, NOTIFY_ENTRY, false, TOP | LIST },
	{ "index.html",	3, NOTIFY_ENTRY, false, INDEX },
	{ "index.html.gz", 3, NOTIFY_ENTRY, false, INDEX },
	{ "page",	3, NOTIFY_ENTRY, false, DIR | LINK },
	{ "file",	3, NOTIFY_ENTRY, false, END },
	{ "page",	4, NOTIFY_ENTRY, false, SUB },
	{ "dir",	2, NOTIFY_ENTRY, true, LIST | INDEX | DIR | SUB | LINK |
	    END },
	{ "sub",	3, NOTIFY_ENTRY, true, SUB },
	{ "link",	2, NOTIFY_ENTRY, false, LINK | LIST },
	{ "end",	2, NOTIFY_ENTRY, false, END | LIST },
	{ "none",	2, NOTIFY_ENTRY, true, NONE | LIST },
	{ "tmp",	1, NOTIFY_ENTRY, false, ALL & ~(OTHER | DOC) },
	{ "dev",	1, NOTIFY_ENTRY, true, OTHER },
	{ "usr",	1, NOTIFY_ENTRY, true, DOC },
	{ "var",	1, NOTIFY_ENTRY, true, 0 },
	{ "doc",	6, NOTIFY_ENTRY, true, DOC },
	{ "page",	6, NOTIFY_ENTRY, false, 0 },
	{ "page",	7, NOTIFY_ENTRY, false, DOC },
	{ "page",	9, NOTIFY_ENTRY, false, OTHER },
	{ "page",	77, NOTIFY_ENTRY, false, 0 },	/* of nobody */
	{ NULL,		4, NOTIFY_GONE, false, SUB },
	{ NULL,		3, NOTIFY_GONE, false, INDEX | DIR | SUB | LINK | END },
	{ NULL,		2, NOTIFY_GONE, false, ALL & ~(OTHER | DOC) },
	{ NULL,		77, NOTIFY_GONE, false, 0 },
	{ NULL,		-1, NOTIFY_LOST, false, ALL },
};
#define DIR_CHANGES	9
#define CASES	((int)(sizeof(cases) / sizeof(cases[0])))

static void
come(int i)
{
	event_come(cases[i].what, cases[i].number, cases[i].name,
	    cases[i].directory);
}

static int
old_targets(void)
{
	int	old = 0;

	for (int i = 0; i < TARGETS; i++)
		if (is_old(targets[i].kind, targets[i].name))
			old |= 1 << i;
	return old;
}

static void
look_at_all(void)
{
	for (int i = 0; i < TARGETS; i++)
		look_up(targets[i].kind, targets[i].name, targets[i].way);
}

static void
open_site(void)
{
	site_open(100);
}

START_TEST(after_the_reply)
{
	look_at_all();
	ck_assert_int_eq(old_targets(), 0);
	come(_i);
	ck_assert_int_eq(old_targets(), cases[_i].old);	/* a pass begins */
	tidy();
	ck_assert_int_eq(old_targets(), cases[_i].old);
	ck_assert_uint_eq(w->changed, false);
}
END_TEST

/* Lookups of all targets are under way when the event is read.  More may be old
 * than need be: an event is compared by its name, and a waypoint that changes
 * concerns all. */
START_TEST(before_the_reply)
{
	struct look	looks[TARGETS];
	int		old;

	for (int i = 0; i < TARGETS; i++)
		look_begin(&looks[i], targets[i].kind, targets[i].name);
	come(_i);
	for (int i = 0; i < TARGETS; i++) {
		if (looks[i].job.find.watch == JOB_WATCH_WAY)
			look_watches(&looks[i], targets[i].way);
		(void)look_end(&looks[i]);
	}
	tidy();
	old = old_targets();
	for (int i = 0; i < TARGETS; i++)
		if (!is_watched(targets[i].name))
			old |= 1 << i;
	ck_assert_int_eq(cases[_i].old & ~old, 0);
	if (cases[_i].what == NOTIFY_ENTRY)
		ck_assert_int_ne(old & OTHER, cases[_i].old & OTHER ? 0 :
		    OTHER + 1);
}
END_TEST

/* In caches that are shared, or have many paths, a pass takes several calls; a
 * result that comes meanwhile stays, and what is not yet passed is old. */
START_TEST(half_a_pass)
{
	char	name[32];

	look_at_all();
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "/dir/%d", i);
		look_up(NAMESPACE_TARGET, name, "");
	}
	come(DIR_CHANGES);
	ck_assert(passes_tidy(http));
	for (int i = 0; i < 3000; i += 500) {
		snprintf(name, sizeof(name), "/dir/%d", i);
		ck_assert(is_old(NAMESPACE_TARGET, name));
	}
	clock_update_us(&now);
	now.ms += 5;
	ck_assert(look_up(NAMESPACE_TARGET, "/dir/page", ROOT " 5D3"));
	ck_assert(!is_old(NAMESPACE_TARGET, "/dir/page"));
	tidy();
	ck_assert(is_watched("/dir/page"));
	ck_assert(!is_old(NAMESPACE_TARGET, "/page"));
	ck_assert_int_eq(nremoved, 1);		/* 4; 3 is a link's, too */
}
END_TEST

/* A lookup meets another directory under the same name: what hangs on the first
 * one is old before its event comes. */
START_TEST(directory_replaced)
{
	look_at_all();
	event_come(NOTIFY_LOST, -1, NULL, false);
	tidy();
	ck_assert(look_up(NAMESPACE_TARGET, "/dir/sub/page",
	    ROOT " 3D3 4D7"));
	clock_update_us(&now);
	now.ms += 5;
	event_come(NOTIFY_GONE, 77, NULL, false);
	ck_assert(look_up(NAMESPACE_TARGET, "/page", ROOT));
	waypoint_find(w, http->conf->sites[0].rules.action,
	    JOB_WAYPOINT_DIRECTORY, str_of("/dir/"))->doubtful = true;
	now.ms += 5;
	(void)look_up(NAMESPACE_TARGET, "/dir/page", ROOT " 5D3");
	ck_assert(is_old(NAMESPACE_TARGET, "/dir/sub/page"));
	tidy();
	ck_assert(is_old(NAMESPACE_TARGET, "/dir/sub/page"));
	ck_assert(is_watched("/page"));
}
END_TEST

START_TEST(a_loss_ends_no_watch)
{
	look_at_all();
	event_come(NOTIFY_LOST, -1, NULL, false);
	tidy();
	ck_assert_int_eq(old_targets(), ALL);
	look_at_all();
	ck_assert_int_eq(old_targets(), 0);
	ck_assert(is_watched("/dir/sub/page"));
	ck_assert_int_eq(nremoved, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, open_site, site_close);
	tcase_add_loop_test(tests, after_the_reply, 0, CASES);
	tcase_add_loop_test(tests, before_the_reply, 0, CASES);
	tcase_add_test(tests, half_a_pass);
	tcase_add_test(tests, directory_replaced);
	tcase_add_test(tests, a_loss_ends_no_watch);
}
