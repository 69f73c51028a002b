/*
 * Tests of the order in which paths go: absent names first, others by the
 * policy, in the order of the table.
 */
#include <stdio.h>
#include <string.h>

#include "cache/path_info.h"
#include "cache/pathname_private.h"
#include "cache/policy.h"
#include "t/unit/unit.h"

#define LIMIT		1000
#define ABSENTS_MIN	(LIMIT / 128)

static const struct path_info	there = { .kind = PATHNAME_DIRECTORY };
static const struct path_info	absent = { .kind = PATHNAME_REFUSED,
				    .status = 404 };
static const struct cache_policy *const	policies[] = {
	&policy_lru, &policy_sieve, &policy_s3fifo, &policy_lfu, &policy_gdsf
};
#define POLICIES	((int)(sizeof(policies) / sizeof(policies[0])))

static struct header_cache	heads;
static struct pathname_cache	paths;
static uint64_t			randomness;

static void
begin(const struct cache_policy *policy)
{
	header_init(&heads, 100000);
	pathname_init(&paths, LIMIT, &heads);
	cache_set_policy(&heads.cache, policy);
	cache_set_policy(&paths.cache, policy);
	randomness = 5;
}

static void
end(void)
{
	pathname_free(&paths);
	header_free(&heads);
}

static unsigned
below(unsigned n)
{
	randomness = randomness * UINT64_C(6364136223846793005) + 1;
	return (unsigned)(randomness >> 33) % n;
}

static void
ask_for(const char *form, unsigned from, unsigned to,
    const struct path_info *result)
{
	struct path	*p;
	char		 name[30];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof(name), form, i);
		p = pathname_hold(&paths, 0, str_of(name));
		if (p == NULL) {
			p = pathname_add(&paths, 0, str_of(name), NULL, false);
			path_info_set(&paths, p, result);
		}
		pathname_release(&paths, &p);
	}
}

/* Neither holds nor counts. */
static unsigned
count_there(const char *form, unsigned from, unsigned to)
{
	unsigned	n = 0;
	char		name[30];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof(name), form, i);
		n += pathname_find(&paths, 0, str_of(name)) != NULL;
	}
	return n;
}

/* A scan for absent names evicts at most one in a hundred paths that were asked
 * for twice, though they fill the cache. */
START_TEST(scan)
{
	begin(policies[_i]);
	ask_for("/there/%u", 0, LIMIT, &there);
	ask_for("/there/%u", 0, LIMIT, &there);
	ask_for("/absent/%u", 0, 5 * LIMIT, &absent);
	ck_assert_uint_ge(count_there("/there/%u", 0, LIMIT),
	    LIMIT - LIMIT / 100);
	ck_assert_uint_ge(count_there("/absent/%u", 5 * LIMIT - ABSENTS_MIN,
	    5 * LIMIT), ABSENTS_MIN);
	end();
}
END_TEST

/* An absent name that is asked for again stays while others go. */
START_TEST(asked_again)
{
	begin(policies[_i]);
	ask_for("/there/%u", 0, LIMIT / 2, &there);
	ask_for("/absent/%u", 0, 5, &absent);
	for (unsigned i = 100; i < 5 * LIMIT; i += 100) {
		ask_for("/absent/%u", 0, 5, &absent);
		ask_for("/absent/%u", i, i + 100, &absent);
		ck_assert_uint_eq(count_there("/absent/%u", 0, 5), 5);
	}
	end();
}
END_TEST

/* A name that is no longer absent, or has gone, is no absent one. */
START_TEST(comes_and_goes)
{
	struct path	*p;

	begin(policies[_i]);
	ask_for("/absent/%u", 0, 20, &absent);
	p = pathname_add(&paths, 0, STR("/absent/3"), NULL, false);
	path_info_set(&paths, p, &there);
	ask_for("/there/%u", 0, LIMIT - 20, &there);
	ask_for("/more/%u", 0, 3, &there);
	ck_assert_uint_eq(count_there("/absent/%u", 0, 5), 2);
	ck_assert_uint_eq(count_there("/absent/%u", 3, 4), 1);
	pathname_release(&paths, &p);
	ask_for("/more/%u", 3, 500, &there);
	ck_assert_uint_eq(count_there("/absent/%u", 0, 3), 0);
	ck_assert_uint_le(paths.cache.entries, LIMIT);
	end();
}
END_TEST

/* Whether a policy spares one of so many uses, and how many are left. */
static bool
is_spared(const struct cache_policy *policy, unsigned *uses)
{
	if (*uses == 0)
		return false;
	if (policy == &policy_s3fifo)
		*uses = (*uses > 3 ? 3 : *uses) - 1;
	else if (policy == &policy_lfu || policy == &policy_gdsf)
		*uses /= 2;
	else
		*uses = 0;
	return true;
}

/* Uses of paths by number, since the hand came by: the plain side's own. */
static unsigned	uses_of[2 * LIMIT];

static unsigned
number_of(const struct path *p)
{
	unsigned	n = 0;

	for (unsigned i = 1; i < p->len; i++)
		n = 10 * n + (unsigned)(p->name[i] - '0');
	return n;
}

/* The path that the next one to come evicts: a plain statement of the rules,
 * which passes the others. */
static const struct path *
predict_victim(const struct cache_policy *policy)
{
	unsigned		 chances = POLICY_CHANCES;
	const struct path	*p;

	for (size_t i = paths.hand + 1; i <= paths.hand + 2 * paths.nbuckets;
	    i++)
		for (p = paths.buckets[i % paths.nbuckets]; p != NULL;
		    p = p->next) {
			if (p->holds > 0)
				continue;
			if (chances == 0 ||
			    !is_spared(policy, &uses_of[number_of(p)]))
				return p;
			chances--;
		}
	return NULL;
}

/* Paths without an absent one among them go as the rules say.  At the limit the
 * table has stopped growing. */
START_TEST(equal)
{
	const struct path	*victim;
	struct path		*p, *held[10] = { NULL };
	char			 name[30], gone[30];
	unsigned		 number;

	begin(policies[_i]);
	memset(uses_of, 0, sizeof(uses_of));
	ask_for("/%u", 0, LIMIT, &there);
	for (unsigned step = 0; step < 20000; step++) {
		if (held[step % 10] != NULL)
			pathname_release(&paths, &held[step % 10]);
		number = below(1 + below(2 * LIMIT));
		snprintf(name, sizeof(name), "/%u", number);
		p = pathname_hold(&paths, 0, str_of(name));
		if (p != NULL)
			uses_of[number]++;
		else {
			/* The new one is behind none that goes before it. */
			victim = predict_victim(policies[_i]);
			memcpy(gone, victim->name, victim->len);
			gone[victim->len] = '\0';
			p = pathname_add(&paths, 0, str_of(name), NULL, false);
			path_info_set(&paths, p, &there);
			uses_of[number] = 0;
			if (pathname_find(&paths, 0, str_of(gone)) != NULL ||
			    paths.cache.entries != LIMIT)
				ck_abort_msg("%s, step %u: %s stays",
				    policies[_i]->name, step, gone);
		}
		held[step % 10] = p;
	}
	for (int i = 0; i < 10; i++)
		pathname_release(&paths, &held[i]);
	ck_assert_uint_gt(paths.cache.evictions, 1000);
	end();
}
END_TEST

/* Heads go by the policy, too: the one of fewer uses, or, if a use is as good as
 * many, the first. */
START_TEST(heads_by_uses)
{
	static const struct header_date	date = { "x", 1, 7 };
	char			 bytes[HEADER_ALIGNMENT] = "";
	struct head		*owner[2] = { NULL, NULL }, *h;
	unsigned		 chances;

	begin(policies[_i]);
	for (int i = 0; i < 2; i++) {
		h = header_put(&heads, &owner[i], 0, bytes, sizeof(bytes), 0,
		    &date);
		header_release(&heads, &h);
	}
	for (int i = 0; i < 3; i++) {
		h = header_hold(&heads, &owner[1], 0, &date);
		header_release(&heads, &h);
	}
	heads.cache.limit_bytes = 1;
	for (int round = 0; owner[0] != NULL; round++) {
		ck_assert_int_lt(round, 3);
		chances = 8;
		header_evict(&heads, &owner[0], &chances);
		header_evict(&heads, &owner[1], &chances);
	}
	/* One use spares once, four as the policy says. */
	if (policies[_i] == &policy_lru || policies[_i] == &policy_sieve)
		ck_assert_ptr_null(owner[1]);
	else
		ck_assert_ptr_nonnull(owner[1]);
	header_drop_all(&heads, &owner[1]);
	end();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, scan, 0, POLICIES);
	tcase_add_loop_test(tests, asked_again, 0, POLICIES);
	tcase_add_loop_test(tests, comes_and_goes, 0, POLICIES);
	tcase_add_loop_test(tests, equal, 0, POLICIES);
	tcase_add_loop_test(tests, heads_by_uses, 0, POLICIES);
}
