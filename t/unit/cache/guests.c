/* Tests of guests: entries that clients can have made without end. */
#include <stdlib.h>

#include "cache/guests.h"
#include "cache/policy.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

#define BYTES	10			/* of each entry */
#define LIMIT	300

struct entry {
	struct cache_entry	 entry;	/* first: casts rely on it */
	bool			 guest;
	uint64_t		 key;	/* no other entry ever has it */
};

static struct cache	 cache;
static size_t		 ndropped;	/* that are no guests */
static uint64_t		 nkeys;

static void
describe(const struct cache_entry *e, struct cache_item *item)
{
	item->bytes = item->whole = BYTES;
	item->key = ((const struct entry *)e)->key;
	item->guest = ((const struct entry *)e)->guest;
}

static void
drop(struct cache *c, struct cache_entry *e)
{
	ndropped += !((struct entry *)e)->guest;
	cache_remove(c, e, BYTES);
	free(e);
}

static struct cache_entry *
add(bool guest)
{
	struct entry	*e = mem_zero(sizeof(*e));

	e->guest = guest;
	e->key = ++nkeys * UINT64_C(0x9e3779b97f4a7c15);
	cache_add(&cache, &e->entry, BYTES);
	cache_trim(&cache);
	return &e->entry;
}

static void
begin(const struct cache_policy *policy)
{
	cache_init(&cache, "test", 0, LIMIT, drop);
	cache.describe = describe;
	cache_set_policy(&cache, policy);
	ndropped = 0;
}

static void
end(void)
{
	cache_drop_unheld(&cache);
	ck_assert_uint_eq(cache.entries, 0);
	ck_assert_uint_eq(cache.order.newcomers, 0);
	cache_end(&cache);
}

/* However many come: the others stay, though nobody asks for them. */
START_TEST(evict_no_others)
{
	begin(policies_all[_i]);
	for (int i = 0; i < 27; i++)
		add(false);
	for (int i = 0; i < 1000; i++)
		add(true);
	if (policies_all[_i] != &policy_s3fifo) {
		ck_assert_uint_eq(ndropped, 0);
		ck_assert_uint_eq(cache.order.newcomers, 30);
	}
	ck_assert_uint_eq(cache.bytes, LIMIT);
	end();
}
END_TEST

/* They have all the room that others leave; one that is used is none. */
START_TEST(become_others)
{
	struct cache_entry	*used;

	begin(policies_all[_i]);
	used = add(true);
	for (int i = 1; i < 30; i++)
		add(true);
	ck_assert_uint_eq(cache.entries, 30);
	for (int i = 0; i < 3; i++) {
		cache_hold(used);
		cache_release(used);
	}
	for (int i = 0; i < 1000; i++)
		add(true);
	ck_assert(!policy_has_guest(&cache, used));
	cache_hold(used);
	ck_assert_uint_eq(used->holds, 1);
	cache_release(used);
	ck_assert_uint_eq(cache.entries, 30);
	end();
}
END_TEST

/* None of them is lost, with all held or with another policy. */
START_TEST(go_last)
{
	struct cache_entry	*held[27];

	begin(policies_all[_i]);
	for (int i = 0; i < 27; i++)
		cache_hold(held[i] = add(false));
	for (int i = 0; i < 5; i++)
		add(true);
	ck_assert_uint_eq(cache.entries, 30);
	cache.limit_bytes = 270;
	cache_trim(&cache);
	ck_assert_uint_eq(cache.entries, 27);
	for (int i = 0; i < 27; i++)
		cache_release(held[i]);
	add(true);
	policy_change(&cache, policies_all[(_i + 1) % POLICY_NUMBER]);
	for (int i = 0; i < 100; i++)
		add(i % 2 == 0);
	ck_assert_uint_le(cache.bytes, 270);
	end();
}
END_TEST

/* While the cache has room, who looks for a victim wants a mapping, and guests
 * are not in the way. */
START_TEST(with_room)
{
	struct cache_entry	*e;

	begin(&policy_lru);
	for (int i = 0; i < 10; i++) {
		add(false);
		add(true);
	}
	e = cache_victim(&cache);
	ck_assert_ptr_nonnull(e);
	ck_assert(!((struct entry *)e)->guest);
	end();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, evict_no_others, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, become_others, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, go_last, 0, POLICY_NUMBER);
	tcase_add_test(tests, with_room);
}
