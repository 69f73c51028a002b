/*
 * Tests of the miniature: what it foretells, beside caches of full size; its
 * sample; a cache whose policy changes.
 *
 * The stream has a fixed seed: few things are asked for often, small ones more
 * often, and some once.
 */
#include <math.h>
#include <stdlib.h>

#include "cache/miniature.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

#define MANY		60000	/* things */
#define FEW		1500

struct thing {
	struct cache_entry	 entry;
	unsigned		 number;
	bool			 there;
};

static struct miniature	*miniature;
static struct thing	*things;
static struct cache	 full;
static uint64_t		 randomness;

static uint64_t
mix(uint64_t n)
{
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

static uint32_t
size_of(unsigned number)
{
	return (uint32_t)(mix(number) % 60000 + 100);
}

/* The n-th of all, about as often as 1 / n. */
static unsigned
choose_thing(unsigned n)
{
	double	part;

	randomness = randomness * UINT64_C(6364136223846793005) + 1;
	part = (double)(randomness >> 11) / (double)(UINT64_C(1) << 53);
	return (unsigned)(pow(n, part) - 1) % n;
}

static void
drop_thing(struct cache *c, struct cache_entry *e)
{
	struct thing	*t = (struct thing *)e;

	t->there = false;
	cache_remove(c, e, size_of(t->number));
}

static void
describe_thing(const struct cache_entry *e, struct cache_item *item)
{
	unsigned	number = ((const struct thing *)e)->number;

	item->bytes = item->whole = size_of(number);
	item->key = mix(number + UINT64_C(77));
}

static void
begin(size_t limit, const struct cache_policy *policy)
{
	miniature = miniature_new(limit, policy);
	cache_init(&full, "full", 0, limit, drop_thing);
	cache_set_policy(&full, policy);
	full.describe = describe_thing;
	things = mem_array(MANY, sizeof(things[0]));
	for (unsigned i = 0; i < MANY; i++)
		things[i].number = i;
	randomness = 4711;
}

static void
end(void)
{
	cache_drop_unheld(&full);
	ck_assert_uint_eq(full.entries, 0);
	ck_assert_uint_eq(full.bytes, 0);
	cache_end(&full);
	free(things);
	miniature_free(&miniature);
	ck_assert_ptr_null(miniature);
}

/* Whether it was there. */
static bool
ask_full(unsigned number)
{
	struct thing	*t = &things[number];

	if (t->there) {
		cache_hold(&t->entry);
		cache_release(&t->entry);
		return true;
	}
	t->there = true;
	cache_add(&full, &t->entry, size_of(number));
	cache_hold_again(&t->entry);
	cache_trim(&full);
	cache_release_trim(&full, &t->entry);
	return false;
}

static void
ask_miniature(unsigned number)
{
	struct miniature_thing	t = {
		.key = mix(number + UINT64_C(77)),
		.whole = size_of(number),
		.bytes = size_of(number),
		.hash = number * UINT32_C(2654435769),
		.first = true,
	};

	miniature_ask(miniature, &t);
}

/* So many requests for n things; the misses of the full cache. */
static uint64_t
play(unsigned n, unsigned requests)
{
	uint64_t	misses = 0;
	unsigned	number;

	for (unsigned i = 0; i < requests; i++) {
		number = choose_thing(n);
		misses += !ask_full(number);
		ask_miniature(number);
	}
	return misses;
}

/* In percent, of the requests that the part of the sample should have got. */
static double
foretold(unsigned which, unsigned requests)
{
	double	part = (double)miniature_threshold(miniature) / MINIATURE_ALL;

	return 100 * (double)miniature_sums(miniature)->misses[which] /
	    (part * requests);
}

/* With few things the sample is all of them: each miss is foretold. */
START_TEST(exact)
{
	uint64_t	misses;

	begin(5000000, policies_all[_i]);
	misses = play(FEW, 100000);
	ck_assert_uint_eq(miniature_threshold(miniature), MINIATURE_ALL);
	ck_assert_uint_eq(miniature_sums(miniature)->misses[_i], misses);
	ck_assert_uint_gt(full.evictions, 1000);
	ck_assert(miniature_is_warm(miniature));
	ck_assert_uint_ge(miniature_sums(miniature)->misses[MINIATURE_HALF],
	    misses);
	ck_assert_uint_le(miniature_sums(miniature)->misses[MINIATURE_TWICE],
	    misses);
	end();
}
END_TEST

/* With many it is a part, and the misses are right to a percent of requests. */
START_TEST(sampled)
{
	const unsigned	n = 400000;
	uint64_t	misses;
	double		real;

	begin(200000000, policies_all[_i]);
	(void)play(MANY, n);
	ck_assert_uint_lt(miniature_threshold(miniature), MINIATURE_ALL);
	ck_assert_uint_le(miniature_count(miniature), MINIATURE_THINGS);
	*miniature_sums(miniature) = (struct miniature_sums){ 0 };
	misses = play(MANY, n);
	real = 100 * (double)misses / n;
	ck_assert_double_gt(real, 5);
	ck_assert_double_eq_tol(foretold((unsigned)_i, n), real, 1);
	end();
}
END_TEST

/* A cache whose policy has changed is soon as good as one that had it from the
 * start; the loop's number is both policies. */
START_TEST(changed)
{
	const struct cache_policy	*from = policies_all[_i / POLICY_NUMBER];
	const struct cache_policy	*to = policies_all[_i % POLICY_NUMBER];
	const unsigned			 n = 60000;
	uint64_t			 misses;

	begin(5000000, from);
	(void)play(FEW, n);
	policy_change(&full, to);
	(void)play(FEW, n);
	*miniature_sums(miniature) = (struct miniature_sums){ 0 };
	misses = play(FEW, n);
	ck_assert_double_eq_tol(foretold((unsigned)(_i % POLICY_NUMBER), n),
	    100 * (double)misses / n, 2);
	/* And back, half way through. */
	policy_change(&full, from);
	for (int i = 0; i < 20; i++) {
		(void)play(FEW, 50);
		policy_change(&full, policies_all[i % POLICY_NUMBER]);
	}
	ck_assert_uint_le(full.bytes, full.limit_bytes);
	end();
}
END_TEST

START_TEST(halved_and_doubled)
{
	uint32_t	before;

	begin(5000000, &policy_lru);
	(void)play(FEW, 50000);
	before = (uint32_t)miniature_count(miniature);
	miniature_halve(miniature);
	ck_assert_uint_lt(miniature_count(miniature), before * 3 / 4);
	ck_assert_uint_gt(miniature_count(miniature), before / 4);
	(void)play(FEW, 50000);
	for (int i = 0; i < 40; i++)
		miniature_halve(miniature);
	(void)play(FEW, 1000);
	for (int i = 0; i < 40; i++)
		miniature_double(miniature);
	ck_assert_uint_ge(miniature_threshold(miniature), MINIATURE_ALL / 2);
	ck_assert(!miniature_is_warm(miniature));
	(void)play(FEW, 50000);
	ck_assert(miniature_is_warm(miniature));
	end();
}
END_TEST

/* Caches that have no room for a single thing. */
START_TEST(too_small)
{
	begin(10, policies_all[_i]);
	ck_assert_uint_eq(play(FEW, 1000), 1000);
	ck_assert_uint_eq(miniature_sums(miniature)->misses[_i], 1000);
	ck_assert_uint_eq(miniature_count(miniature), 0);
	end();
}
END_TEST

START_TEST(unused)
{
	begin(1000, &policy_s3fifo);
	ck_assert(!miniature_is_warm(miniature));
	miniature_halve(miniature);
	miniature_set_live(miniature, &policy_gdsf);
	end();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_set_timeout(tests, 240);
	tcase_add_loop_test(tests, exact, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, sampled, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, changed, 0,
	    POLICY_NUMBER * POLICY_NUMBER);
	tcase_add_test(tests, halved_and_doubled);
	tcase_add_loop_test(tests, too_small, 0, POLICY_NUMBER);
	tcase_add_test(tests, unused);
}
