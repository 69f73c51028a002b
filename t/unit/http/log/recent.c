/*
 * Tests of http/log/recent: each thing once a minute, and few of all things.
 */
#include <stdio.h>

#include "http/log/recent.h"
#include "t/unit/unit.h"

static bool
warns(struct recent *r, uint64_t site, const char *thing, int64_t now)
{
	return recent_is_due(r, site, str_of(thing), now);
}

START_TEST(once_a_minute)
{
	struct recent	*r = recent_new(_i == 1);

	ck_assert(warns(r, 0, "/a", 1000));
	ck_assert(!warns(r, 0, "/a", 1000));
	ck_assert(warns(r, 0, "/b", 1000));
	ck_assert(warns(r, 1, "/a", 1000));
	ck_assert(!warns(r, 0, "/a", 1000 + RECENT_INTERVAL - 1));
	ck_assert(warns(r, 0, "/a", 1000 + RECENT_INTERVAL));
	ck_assert(!warns(r, 0, "/a", 1001 + RECENT_INTERVAL));
	recent_free(&r);
}
END_TEST

/* A client that has found many of them. */
START_TEST(many)
{
	struct recent	*r = recent_new(false);
	char		 thing[20];
	unsigned	 n = 0;

	for (int i = 0; i < 1000; i++) {
		snprintf(thing, sizeof(thing), "/%d", i);
		n += warns(r, 0, thing, 1000 + i);
	}
	ck_assert_uint_eq(n, RECENT_MAX);
	ck_assert(warns(r, 0, "/new", 1000 + RECENT_INTERVAL));
	ck_assert(!warns(r, 0, "/newer", 1000 + RECENT_INTERVAL));
	recent_free(&r);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, once_a_minute, 0, 2);
	tcase_add_test(tests, many);
}
