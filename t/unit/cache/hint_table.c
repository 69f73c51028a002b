/* Tests of the lists of pages: what is noted, what goes, and the brakes. */
#include <stdio.h>
#include <string.h>

#include "cache/hint_table.h"
#include "t/unit/unit.h"

static struct hint_table	*table;
static struct hint		 hint;
static int64_t			 now = 1000000;

/* What the paths of the cache have: uses; -1: it has gone. */
static int	uses[HINT_BROUGHT_MAX + 1];

static struct hint_page
page(const char *name)
{
	return (struct hint_page){ 0, str_of(name) };
}

static void
note(const char *name, const char *target, unsigned times)
{
	struct hint_page	key = page(name);

	while (times-- > 0)
		hint_table_note(table, &key, str_of(target));
}

static void
note_number(unsigned name, unsigned target)
{
	char	names[2][40];

	snprintf(names[0], sizeof(names[0]), "/page%u", name);
	snprintf(names[1], sizeof(names[1]), "/file%u", target);
	note(names[0], names[1], 1);
}

/* Sends the list of a page, long after any other. */
static bool
send_list(const char *name)
{
	struct hint_page	key = page(name);
	struct hint_asker	asker = { 3, STR("host:80"), STR("gzip") };

	now += HINT_PAUSE;
	return hint_table_send(table, &key, &asker, now);
}

static const char *
next(void)
{
	return hint_table_next(table, now, &hint) ? hint.target.at : "none";
}

/* Sends a list, and brings all of it in. */
static unsigned
bring(const char *name, unsigned number)
{
	struct hint_path	path = { 0, STR("x"), 0 };
	unsigned		n = 0;

	(void)send_list(name);
	for (; hint_table_next(table, now, &hint); n++) {
		path.namespace = number + n;
		path.uses = 0;
		hint_table_brought(table, hint.page, str_of(hint.target.at),
		    &path);
	}
	return n;
}

static bool
look(void *context, struct hint_path *p)
{
	(void)context;
	if (uses[p->namespace] == -1)
		return false;
	p->uses = (uint16_t)uses[p->namespace];
	return true;
}

static void
settle(int all)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		uses[i] = all;
	hint_table_settle(table, look, NULL);
}

static struct hint_counts
counts(void)
{
	struct hint_counts	c;

	hint_table_get_counts(table, &c);
	return c;
}

START_TEST(sent)
{
	ck_assert(!send_list("/"));
	note("/", "/b", 1);
	note("/", "/a", 3);
	note("/", "/c", 2);
	ck_assert(!send_list("/other"));
	ck_assert(send_list("/"));
	ck_assert_uint_eq(hint_table_queued(table), 3);
	ck_assert_str_eq(next(), "/a");
	ck_assert_str_eq(hint.host.at, "host:80");
	ck_assert_str_eq(hint.codings.at, "gzip");
	ck_assert_uint_eq(hint.listener, 3);
	ck_assert_str_eq(next(), "/c");
	ck_assert_str_eq(next(), "/b");
	ck_assert_str_eq(next(), "none");
}
END_TEST

START_TEST(same_name_of_another_site)
{
	struct hint_page	key = { 1, STR("/") };

	note("/", "/a", 1);
	hint_table_note(table, &key, STR("/b"));
	ck_assert(send_list("/"));
	ck_assert_str_eq(next(), "/a");
	ck_assert_str_eq(next(), "none");
}
END_TEST

START_TEST(not_again_at_once)
{
	struct hint_page	key = page("/");
	struct hint_asker	asker = { 0, STR("h"), STR("") };

	note("/", "/a", 1);
	ck_assert(send_list("/"));
	now += HINT_PAUSE - 1;
	ck_assert(!hint_table_may_send(table, &key, now));
	ck_assert(!hint_table_send(table, &key, &asker, now));
	now++;
	ck_assert(hint_table_may_send(table, &key, now));
	ck_assert(hint_table_send(table, &key, &asker, now));
}
END_TEST

START_TEST(too_late)
{
	note("/", "/a", 1);
	ck_assert(send_list("/"));
	now += HINT_LATE + 1;
	ck_assert_str_eq(next(), "none");
	ck_assert_uint_eq(hint_table_queued(table), 0);
}
END_TEST

/* A full list halves the uses of all, so a file that was asked for once gives
 * way to another one. */
START_TEST(ages_when_full)
{
	char	name[20];

	note("/", "/often", 4);
	for (unsigned i = 1; i < HINT_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "/%u", i);
		note("/", name, 1);
	}
	note("/", "/new", 1);
	ck_assert(send_list("/"));
	ck_assert_uint_eq(hint_table_queued(table), 2);
	ck_assert_str_eq(next(), "/often");
	ck_assert_str_eq(next(), "/new");
}
END_TEST

/* All of a full list are asked for often: another one has no place yet. */
START_TEST(full)
{
	for (unsigned i = 0; i < 2 * HINT_FILES_MAX; i++)
		note_number(0, i % HINT_FILES_MAX);
	note("/page0", "/new", 1);
	ck_assert(send_list("/page0"));
	ck_assert_uint_eq(hint_table_queued(table), HINT_FILES_MAX);
	note("/page0", "/new", 1);
	ck_assert(send_list("/page0"));
	while (strcmp(next(), "none") != 0)
		;
	ck_assert(send_list("/page0"));
	ck_assert_str_eq(next(), "/new");
}
END_TEST

/* What was asked for most long ago does not stay so for ever. */
START_TEST(ages_by_halving)
{
	note("/", "/old", 10 * HINT_USES_MAX);
	note("/", "/new", HINT_USES_MAX);
	note("/", "/new", 1);
	note("/", "/old", 1);
	ck_assert(send_list("/"));
	ck_assert_str_eq(next(), "/old");
	note("/", "/new", 5);
	ck_assert(send_list("/"));
	ck_assert_str_eq(next(), "/new");
}
END_TEST

START_TEST(pages_are_limited)
{
	for (unsigned i = 0; i <= HINT_PAGES_MAX; i++)
		note_number(i, 0);
	ck_assert_uint_le(hint_table_pages(table), HINT_PAGES_MAX);
	ck_assert_uint_le(hint_table_bytes(table), HINT_BYTES_MAX);
	ck_assert(!send_list("/page0"));
	ck_assert(send_list("/page4096"));
}
END_TEST

START_TEST(bytes_are_limited)
{
	char	name[HINT_NAME_MAX + 2], key[20];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	note("/", name, 1);			/* too long to be noted */
	ck_assert_uint_eq(hint_table_pages(table), 0);
	name[HINT_NAME_MAX] = '\0';
	for (unsigned i = 0; i < HINT_PAGES_MAX; i++) {
		snprintf(key, sizeof(key), "/page%u", i);
		for (unsigned k = 0; k < HINT_FILES_MAX; k++) {
			name[0] = (char)('a' + k);
			note(key, name, 1);
		}
		ck_assert_uint_le(hint_table_bytes(table), HINT_BYTES_MAX);
	}
	ck_assert_uint_gt(hint_table_pages(table), 40);
}
END_TEST

START_TEST(queue_is_limited)
{
	char	name[20];

	for (unsigned i = 0; i < 20; i++)
		for (unsigned k = 0; k < HINT_FILES_MAX; k++)
			note_number(i, k);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "/page%u", i);
		(void)send_list(name);
		ck_assert_uint_le(hint_table_queued(table), HINT_QUEUE_MAX);
	}
}
END_TEST

START_TEST(used_and_wasted)
{
	note("/", "/a", 2);
	note("/", "/b", 1);
	ck_assert_uint_eq(bring("/", 0), 2);
	settle(0);
	ck_assert_uint_eq(counts().brought, 2);
	ck_assert_uint_eq(counts().used + counts().wasted, 0);
	uses[0] = 1;
	uses[1] = -1;
	hint_table_settle(table, look, NULL);
	ck_assert_uint_eq(counts().used, 1);
	ck_assert_uint_eq(counts().wasted, 1);
	settle(-1);				/* each is judged once */
	ck_assert_uint_eq(counts().used + counts().wasted, 2);
}
END_TEST

/* The policy of a cache may make uses less, which is no use. */
START_TEST(fewer_uses)
{
	struct hint_path	path = { 0, STR("x"), 4 };

	note("/", "/a", 1);
	(void)send_list("/");
	ck_assert_str_eq(next(), "/a");
	hint_table_brought(table, hint.page, STR("/a"), &path);
	settle(2);
	ck_assert_uint_eq(counts().used, 0);
	settle(3);
	ck_assert_uint_eq(counts().used, 1);
}
END_TEST

/* A list that is set anew has these targets, in their order. */
START_TEST(set)
{
	struct hint_page	key = page("/");
	const struct str	targets[] = { STR("/c"), STR("/a"), STR("/b") };

	note("/", "/old", 3);
	hint_table_set(table, &key, targets, 3);
	ck_assert(send_list("/"));
	ck_assert_str_eq(next(), "/c");
	ck_assert_str_eq(next(), "/a");
	ck_assert_str_eq(next(), "/b");
	ck_assert_str_eq(next(), "none");
	note("/", "/b", 1);			/* kept by the same list */
	hint_table_set(table, &key, targets, 3);
	ck_assert(send_list("/"));
	ck_assert_str_eq(next(), "/b");
	hint_table_set(table, &key, targets, 0);
	ck_assert(!send_list("/"));
	ck_assert_uint_eq(hint_table_queued(table), 2);
}
END_TEST

/* A page whose files are brought in for nothing stops, until a request has
 * noted another file behind it. */
START_TEST(stops)
{
	for (unsigned k = 0; k < HINT_JUDGED_MIN; k++)
		note_number(0, k);
	ck_assert_uint_eq(bring("/page0", 0), HINT_JUDGED_MIN);
	for (unsigned k = 0; k < HINT_JUDGED_MIN; k++)
		uses[k] = k < 2 ? 1 : -1;	/* a quarter */
	hint_table_settle(table, look, NULL);
	ck_assert(!send_list("/page0"));
	note_number(0, 1);
	ck_assert(!send_list("/page0"));
	note_number(0, 20);
	ck_assert(send_list("/page0"));
}
END_TEST

START_TEST(goes_on)
{
	for (unsigned k = 0; k < HINT_JUDGED_MIN; k++)
		note_number(0, k);
	ck_assert_uint_eq(bring("/page0", 0), HINT_JUDGED_MIN);
	for (unsigned k = 0; k < HINT_JUDGED_MIN; k++)
		uses[k] = k < 3 ? 1 : -1;	/* 37 % */
	hint_table_settle(table, look, NULL);
	ck_assert(send_list("/page0"));
}
END_TEST

/* Brings lists of other pages in until no more may be read. */
static unsigned
bring_most(unsigned first)
{
	unsigned	n = 0, more;
	char		name[20];

	for (unsigned i = first;; i++) {
		for (unsigned k = 0; k < HINT_FILES_MAX; k++)
			note_number(i, k);
		snprintf(name, sizeof(name), "/page%u", i);
		more = bring(name, n);
		n += more;
		if (more < HINT_FILES_MAX)
			return n;
	}
}

/* Reads for nothing are at most a tenth of the reads that clients wait for. */
START_TEST(extra_reads)
{
	ck_assert_uint_eq(bring_most(0), HINT_RESERVE);
	settle(-1);
	now += HINT_LATE + 1;
	ck_assert_uint_eq(bring_most(100), 0);
	for (unsigned i = 0; i < 30 * HINT_READS_EACH; i++)
		hint_table_count_read(table);
	ck_assert_uint_eq(bring_most(200), 30);
	settle(-1);
	for (unsigned i = 0; i < 10000; i++)	/* no more than the reserve */
		hint_table_count_read(table);
	now += HINT_LATE + 1;
	ck_assert_uint_eq(bring_most(300), HINT_RESERVE);
}
END_TEST

/* A read that was used, or that was none, is no extra read. */
START_TEST(no_extra_reads)
{
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_uint_eq(bring_most(100 * i), HINT_RESERVE);
		settle(1);
	}
	ck_assert_uint_eq(counts().used, 5 * HINT_RESERVE);
	for (unsigned i = 0; i < 2 * HINT_RESERVE; i++) {
		note("/", "/a", 1);
		ck_assert(send_list("/"));
		ck_assert_str_eq(next(), "/a");
		hint_table_brought(table, hint.page, STR("/a"), NULL);
	}
	ck_assert_uint_eq(counts().brought, 5 * HINT_RESERVE);
}
END_TEST

/* Of files of whose use nothing is known, the oldest counts as wasted. */
START_TEST(brought_are_limited)
{
	struct hint_path	path = { 0, STR("x"), 0 };

	for (unsigned i = 0; i <= HINT_BROUGHT_MAX; i++) {
		path.namespace = i;
		hint_table_brought(table, 0, STR("/a"), &path);
	}
	ck_assert_uint_eq(counts().wasted, 1);
	settle(1);
	ck_assert_uint_eq(counts().used, HINT_BROUGHT_MAX);
}
END_TEST

/* The lists that a table tells of, as text. */
static struct buf	told;
static struct hint_list	lists[3];
static unsigned		nlists;

static void
tell(void *context, const struct hint_list *list)
{
	ck_assert_ptr_eq(context, &told);
	if (nlists < sizeof(lists) / sizeof(lists[0]))
		lists[nlists] = *list;
	nlists++;
	buf_addf(&told, "%u %.*s:", list->page.site, (int)list->page.name.len,
	    list->page.name.at);
	for (unsigned i = 0; i < list->n; i++)
		buf_addf(&told, " %.*s", (int)list->targets[i].len,
		    list->targets[i].at);
	buf_addc(&told, '\n');
}

static const char *
tell_all(void)
{
	size_t	bucket = 0;

	told.len = 0;
	nlists = 0;
	while (hint_table_visit(table, &bucket, tell, &told))
		;
	return buf_string(&told);
}

/* Another table takes a list, and sends it in the same order. */
START_TEST(handed_on)
{
	struct hint_table	*old = table;

	ck_assert_str_eq(tell_all(), "");
	note("/", "/b", 1);
	note("/", "/a", 3);
	ck_assert_str_eq(tell_all(), "0 /: /a /b\n");
	table = hint_table_new(false);
	hint_table_restore(table, &lists[0]);
	hint_table_free(&old);
	ck_assert_str_eq(tell_all(), "0 /: /a /b\n");
	ck_assert(send_list("/"));
	ck_assert_str_eq(next(), "/a");
	ck_assert_str_eq(next(), "/b");
}
END_TEST

/* What the table has noted itself stays, and is not counted twice. */
START_TEST(joined)
{
	struct hint_list	list = { .page = page("/"), .n = 2, .targets = {
				    STR("/old"), STR("/both") } };

	note("/", "/both", 1);
	note("/", "/often", HINT_USES_RESTORED + 1);
	note("/", "/new", 2);
	hint_table_restore(table, &list);
	ck_assert_str_eq(tell_all(), "0 /: /often /old /new /both\n");
	for (unsigned i = 0; i < HINT_FILES_MAX; i++)
		note_number(0, i);
	list.page = page("/page0");
	hint_table_restore(table, &list);
	ck_assert(send_list("/page0"));
	while (strcmp(next(), "none") != 0)
		ck_assert_ptr_ne(strstr(hint.target.at, "/file"), NULL);
}
END_TEST

/* A list of another table survives one file that is asked for now and then. */
START_TEST(restored_stays)
{
	struct hint_list	list = { .page = page("/"), .n = 1, .targets = {
				    STR("/old") } };
	char			name[20];

	hint_table_restore(table, &list);
	for (unsigned i = 0; i < HINT_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "/%u", i);
		note("/", name, 1);
	}
	ck_assert(send_list("/"));
	ck_assert_str_eq(next(), "/old");
}
END_TEST

START_TEST(restored_is_limited)
{
	char			 name[HINT_NAME_MAX + 2], key[20];
	struct hint_list	 list = { .n = HINT_FILES_MAX };

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned i = 0; i < HINT_FILES_MAX; i++)
		list.targets[i] = str_of(name);
	list.page = page(name);
	hint_table_restore(table, &list);
	ck_assert_uint_eq(hint_table_pages(table), 0);
	list.page = page("/");
	hint_table_restore(table, &list);
	ck_assert_str_eq(tell_all(), "");
	for (unsigned i = 0; i < 2 * HINT_PAGES_MAX; i++) {
		snprintf(key, sizeof(key), "/page%u", i);
		list.page = page(key);
		list.n = 1;
		list.targets[0] = str_of(name + 1);
		hint_table_restore(table, &list);
	}
	ck_assert_uint_le(hint_table_pages(table), HINT_PAGES_MAX);
	ck_assert_uint_le(hint_table_bytes(table), HINT_BYTES_MAX);
	(void)tell_all();
	ck_assert_uint_eq(nlists, hint_table_pages(table));
}
END_TEST

/* Lists of another table displace none that was learned here. */
START_TEST(restored_displace_none)
{
	char			 key[20];
	struct hint_list	 list = { .n = 1, .targets = { STR("/a") } };

	note("/", "/b", 1);
	for (unsigned i = 0; i < 2 * HINT_PAGES_MAX; i++) {
		snprintf(key, sizeof(key), "/page%u", i);
		list.page = page(key);
		hint_table_restore(table, &list);
	}
	ck_assert(send_list("/"));
	ck_assert_str_eq(next(), "/b");
}
END_TEST

/* A list whose files are brought in for nothing is of no use to another. */
START_TEST(useless_list)
{
	note("/", "/a", 1);
	for (unsigned k = 0; k < HINT_JUDGED_MIN; k++)
		note_number(0, k);
	ck_assert_uint_eq(bring("/page0", 0), HINT_JUDGED_MIN);
	settle(-1);
	ck_assert_str_eq(tell_all(), "0 /: /a\n");
}
END_TEST

static void
begin(void)
{
	memset(uses, 0, sizeof(uses));
	table = hint_table_new(true);
}

static void
end(void)
{
	hint_table_free(&table);
	hint_table_free_hint(&hint);
	buf_free(&told);
	hint_table_free(&table);		/* none is there */
}

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, sent);
	tcase_add_test(tests, same_name_of_another_site);
	tcase_add_test(tests, not_again_at_once);
	tcase_add_test(tests, too_late);
	tcase_add_test(tests, ages_when_full);
	tcase_add_test(tests, full);
	tcase_add_test(tests, ages_by_halving);
	tcase_add_test(tests, pages_are_limited);
	tcase_add_test(tests, bytes_are_limited);
	tcase_add_test(tests, queue_is_limited);
	tcase_add_test(tests, used_and_wasted);
	tcase_add_test(tests, fewer_uses);
	tcase_add_test(tests, set);
	tcase_add_test(tests, stops);
	tcase_add_test(tests, goes_on);
	tcase_add_test(tests, extra_reads);
	tcase_add_test(tests, no_extra_reads);
	tcase_add_test(tests, brought_are_limited);
	tcase_add_test(tests, handed_on);
	tcase_add_test(tests, joined);
	tcase_add_test(tests, restored_stays);
	tcase_add_test(tests, restored_is_limited);
	tcase_add_test(tests, restored_displace_none);
	tcase_add_test(tests, useless_list);
}
