/* Tests of the cache engine: limits, holds, the order of eviction. */
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

struct thing {
	struct cache_entry	entry;
	size_t			bytes;
	char			name;
};

static struct cache	cache;
static char		gone[2000];	/* entries, by number */

static void
drop_entry(struct cache *c, struct cache_entry *e)
{
	struct thing	*t = (struct thing *)e;

	gone[strlen(gone)] = t->name;
	cache_remove(c, e, t->bytes);
	free(t);
}

static struct thing *
add_entry(char name, size_t bytes)
{
	struct thing	*t = mem_zero(sizeof(*t));

	t->name = name;
	t->bytes = bytes;
	cache_add(&cache, &t->entry, bytes);
	cache_trim(&cache);
	return t;
}

static void
use_entry(struct thing *t)
{
	cache_hold(&t->entry);
	cache_release(&t->entry);
}

START_TEST(oldest_goes)
{
	cache_init(&cache, "test", 3, 0, drop_entry);
	for (char name = 'a'; name <= 'f'; name++)
		add_entry(name, 1);
	ck_assert_str_eq(gone, "abc");
	ck_assert_uint_eq(cache.entries, 3);
	ck_assert_uint_eq(cache.evictions, 3);
	cache_drop_unheld(&cache);
	ck_assert_uint_eq(cache.entries, 0);
	ck_assert_uint_eq(cache.bytes, 0);
}
END_TEST

START_TEST(used_stays)
{
	struct thing	*a;

	cache_init(&cache, "test", 3, 0, drop_entry);
	a = add_entry('a', 1);
	add_entry('b', 1);
	add_entry('c', 1);
	use_entry(a);
	add_entry('d', 1);
	ck_assert_str_eq(gone, "b");
	use_entry(a);
	add_entry('e', 1);
	add_entry('f', 1);
	ck_assert_str_eq(gone, "bcd");
	cache_drop_unheld(&cache);
}
END_TEST

START_TEST(held_never_goes)
{
	struct thing	*a, *b;

	cache_init(&cache, "test", 0, 100, drop_entry);
	a = add_entry('a', 60);
	cache_hold(&a->entry);
	b = add_entry('b', 60);
	ck_assert_str_eq(gone, "b");	/* the others are held */
	b = add_entry('c', 30);
	cache_hold(&b->entry);
	add_entry('d', 80);
	ck_assert_str_eq(gone, "bd");
	ck_assert_uint_eq(cache.bytes, 90);
	cache_release(&a->entry);
	add_entry('e', 50);
	ck_assert_str_eq(gone, "bda");
	cache_release(&b->entry);
	cache_drop_unheld(&cache);
}
END_TEST

/* Entries beyond the limit go with their last hold. */
START_TEST(returned_beyond)
{
	struct thing	*all[6];

	cache_init(&cache, "test", 0, 100, drop_entry);
	for (int i = 0; i < 6; i++) {
		all[i] = mem_zero(sizeof(*all[i]));
		all[i]->name = (char)('a' + i);
		all[i]->bytes = 50;
		cache_add(&cache, &all[i]->entry, 50);
		cache_hold(&all[i]->entry);
		cache_trim(&cache);
	}
	cache_hold(&all[0]->entry);
	cache_release_trim(&cache, &all[0]->entry);
	ck_assert_str_eq(gone, "");		/* held once more */
	cache_release_trim(&cache, &all[3]->entry);
	cache_release_trim(&cache, &all[0]->entry);
	cache_release_trim(&cache, &all[5]->entry);
	cache_release_trim(&cache, &all[1]->entry);
	ck_assert_str_eq(gone, "dafb");
	ck_assert_uint_eq(cache.bytes, 100);
	cache_release_trim(&cache, &all[2]->entry);
	cache_release_trim(&cache, &all[4]->entry);
	ck_assert_str_eq(gone, "dafb");
	ck_assert_uint_eq(cache.evictions, 4);
	cache_drop_unheld(&cache);
}
END_TEST

/* All entries are used, many more than there are chances: a victim is found. */
START_TEST(bounded)
{
	struct thing	*all[1000];

	cache_init(&cache, "test", 1000, 0, drop_entry);
	for (int i = 0; i < 1000; i++) {
		all[i] = add_entry((char)('a' + i % 26), 1);
		use_entry(all[i]);
	}
	add_entry('!', 1);
	ck_assert_uint_eq(strlen(gone), 1);
	ck_assert_uint_eq(cache.entries, 1000);
	cache_drop_unheld(&cache);
}
END_TEST

/* Edges have upper-case names. */
static void
describe_thing(const struct cache_entry *e, struct cache_item *item)
{
	const struct thing	*t = (const struct thing *)e;

	item->bytes = t->bytes;
	item->edge = t->name >= 'A' && t->name <= 'Z';
}

static bool
keep_some(struct cache *c, struct cache_entry *e)
{
	(void)c;
	return ((struct thing *)e)->name != 'Q';
}

/* An edge of 100 bytes has a 32nd of the limit.  First come entries of 100
 * bytes with these names, then others until so many bytes are there; then five
 * more. */
START_TEST(edges_stay)
{
	static const struct {
		const char	*first;
		bool		 asked;	/* there is keep_edge() */
		const char	*gone;
	} cases[] = {
		{ "abc", true, "abc--" },
		{ "aXb", true, "ab---" },
		{ "Xab", false, "ab---" },
		{ "XaY", true, "Xa---" },	/* then there is one */
		{ "aQb", true, "aQb--" },	/* its bytes have gone */
		{ "aQb", false, "ab---" },
	};
	const char	*first = cases[_i].first;

	cache_init(&cache, "test", 0, 3200, drop_entry);
	cache.describe = describe_thing;
	cache.keep_edge = cases[_i].asked ? keep_some : NULL;
	for (const char *name = first; *name != '\0'; name++)
		add_entry(*name, 100);
	for (size_t i = strlen(first); i < 37; i++)
		add_entry('-', 100);
	ck_assert_str_eq(gone, cases[_i].gone);
	cache_drop_unheld(&cache);
	ck_assert_uint_eq(cache.edges, 0);
}
END_TEST

START_TEST(reports)
{
	char	line[200];

	cache_init(&cache, "test", 0, 100, drop_entry);
	add_entry('a', 90);
	add_entry('b', 20);
	ck_assert_str_eq(gone, "a");
	cache_report(&cache, line, sizeof(line));
	ck_assert_str_eq(line, "test cache: 1 entries, 20 bytes, 0 hits, "
	    "0 misses, 1 evictions");
	cache_drop_unheld(&cache);
}
END_TEST

static void
init_cache(void)
{
	memset(gone, 0, sizeof(gone));
}

static void
free_cache(void)
{
	cache_end(&cache);
}

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, init_cache, free_cache);
	tcase_add_test(tests, oldest_goes);
	tcase_add_test(tests, used_stays);
	tcase_add_test(tests, held_never_goes);
	tcase_add_test(tests, returned_beyond);
	tcase_add_test(tests, bounded);
	tcase_add_loop_test(tests, edges_stay, 0, 6);
	tcase_add_test(tests, reports);
}
