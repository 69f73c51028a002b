/*
 * Tests of the cache of verified passwords.
 */
#include <stdio.h>
#include <string.h>

#include "cache/grant.h"
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
	grant_answer(&grants, g, GRANT_RIGHT, 0, 77);
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
	grant_answer(&grants, g, GRANT_FAILED, 5, 0);
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

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, found_again, 0,
	    sizeof(others) / sizeof(others[0]));
	tcase_add_test(t, limited);
}
