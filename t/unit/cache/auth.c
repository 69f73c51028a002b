/*
 * Tests of the cache of verified passwords.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache/auth.h"
#include "t/unit/unit.h"

static struct grant_cache	grants;

/* The three parts; every one of them counts, and where they end. */
static const struct {
	const char	*file, *user, *password;
} others[] = {
	{ "/g", "anna", "pw" }, { "/f", "bob", "pw" }, { "/f", "anna", "pW" },
	{ "/f", "ann", "apw" }, { "/f", "annap", "w" }, { "/f", "anna", "" },
	{ "/fa", "nna", "pw" }, { "/f", "", "annapw" }, { "/f", "pw", "anna" },
};

START_TEST(found_again)
{
	struct grant	*g, *again;

	grant_init(&grants, 100);
	g = grant_add(&grants, STR("/f"), STR("anna"), STR("pw"));
	ck_assert_int_eq(g->answer.verdict, GRANT_UNKNOWN);
	ck_assert_int_eq(g->answer.until, 0);
	grant_answer(&grants, g, GRANT_RIGHT, 0, 70, 7);
	ck_assert_ptr_null(grant_hold(&grants, str_of(others[_i].file),
	    str_of(others[_i].user), str_of(others[_i].password)));
	again = grant_add(&grants, str_of(others[_i].file),
	    str_of(others[_i].user), str_of(others[_i].password));
	ck_assert_ptr_ne(again, g);
	ck_assert_int_eq(again->answer.verdict, GRANT_UNKNOWN);
	grant_release(&grants, &again);
	again = grant_hold(&grants, STR("/f"), STR("anna"), STR("pw"));
	ck_assert_ptr_eq(again, g);
	ck_assert_int_eq(again->answer.verdict, GRANT_RIGHT);
	ck_assert_int_eq(again->answer.until, 77);
	ck_assert_uint_eq(again->answer.number, 1);
	grant_answer(&grants, g, GRANT_FAILED, 5, 0, 0);
	ck_assert_uint_eq(again->answer.number, 2);
	ck_assert_int_eq(again->answer.error, 5);
	grant_release(&grants, &again);
	grant_release(&grants, &g);
	grant_free(&grants);
}
END_TEST

/* Clients choose how many there are: only so many, but for held ones. */
START_TEST(limited)
{
	struct grant	*held, *g;
	char		 user[20];

	grant_init(&grants, 10);
	held = grant_add(&grants, STR("/f"), STR("held"), STR(""));
	for (int i = 0; i < 1000; i++) {
		snprintf(user, sizeof(user), "%d", i);
		g = grant_add(&grants, STR("/f"), str_of(user), STR("pw"));
		grant_release(&grants, &g);
		ck_assert_uint_le(grants.cache.entries, 10);
	}
	g = grant_add(&grants, STR("/f"), STR("held"), STR(""));
	ck_assert_ptr_eq(g, held);
	grant_release(&grants, &g);
	grant_release(&grants, &held);
	grant_free(&grants);
}
END_TEST

/* A right one counts for a while if nothing newer can be had, and no longer. */
START_TEST(counts)
{
	struct grant		*g, *also;
	struct grant_answer	 a;

	grant_init(&grants, 100);
	g = grant_add(&grants, STR("/f"), STR("anna"), STR("pw"));
	grant_answer(&grants, g, GRANT_FAILED, EAGAIN, 50, 0);
	grant_take(&grants, g, &a);
	ck_assert_int_eq(a.counts, 0);
	grant_answer(&grants, g, GRANT_RIGHT, 0, 100, 10);
	grant_take(&grants, g, &a);
	ck_assert_int_eq(a.until, 110);
	ck_assert_int_eq(a.counts, 100 + GRANT_KEEPS * 10);
	/* A failure says nothing about it. */
	grant_answer(&grants, g, GRANT_FAILED, EAGAIN, 110, 0);
	grant_take(&grants, g, &a);
	ck_assert_int_eq(a.verdict, GRANT_FAILED);
	ck_assert_int_eq(a.counts, 100 + GRANT_KEEPS * 10);
	ck_assert(!a.pending);
	/* Several may be on their way, each with a hold. */
	grant_begin(&grants, g);
	grant_begin(&grants, g);
	also = g;
	grant_end(&grants, &also);
	ck_assert_ptr_null(also);
	grant_take(&grants, g, &a);
	ck_assert(a.pending);
	also = g;
	grant_end(&grants, &also);
	grant_take(&grants, g, &a);
	ck_assert(!a.pending);
	ck_assert_uint_eq(g->entry.holds, 1);
	/* It is not: at once. */
	grant_answer(&grants, g, GRANT_WRONG, 0, 115, 1);
	grant_take(&grants, g, &a);
	ck_assert_int_eq(a.counts, 0);
	/* Where nothing is kept, nothing counts. */
	grant_answer(&grants, g, GRANT_RIGHT, 0, 120, 0);
	grant_take(&grants, g, &a);
	ck_assert_int_eq(a.counts, 120);
	grant_release(&grants, &g);
	grant_free(&grants);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, found_again, 0,
	    sizeof(others) / sizeof(others[0]));
	tcase_add_test(t, limited);
	tcase_add_test(t, counts);
}
