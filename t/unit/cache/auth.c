/*
 * Tests of the cache of verified passwords.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache/auth.h"
#include "t/unit/unit.h"

static struct auth_cache	grants;

/* Each of the three parts counts, and so does where it ends. */
static const struct {
	const char	*file, *user, *password;
} others[] = {
	{ "/g", "anna", "pw" }, { "/f", "bob", "pw" }, { "/f", "anna", "pW" },
	{ "/f", "ann", "apw" }, { "/f", "annap", "w" }, { "/f", "anna", "" },
	{ "/fa", "nna", "pw" }, { "/f", "", "annapw" }, { "/f", "pw", "anna" },
};

START_TEST(found_again)
{
	struct auth_entry	*g, *again;

	auth_init(&grants, 100);
	g = auth_add(&grants, STR("/f"), STR("anna"), STR("pw"));
	ck_assert_int_eq(g->result.verdict, AUTH_UNKNOWN);
	ck_assert_int_eq(g->result.valid_until, 0);
	auth_set(&grants, g, AUTH_RIGHT, 0, 70, 7);
	ck_assert_ptr_null(auth_hold(&grants, str_of(others[_i].file),
	    str_of(others[_i].user), str_of(others[_i].password)));
	again = auth_add(&grants, str_of(others[_i].file),
	    str_of(others[_i].user), str_of(others[_i].password));
	ck_assert_ptr_ne(again, g);
	ck_assert_int_eq(again->result.verdict, AUTH_UNKNOWN);
	auth_release(&grants, &again);
	again = auth_hold(&grants, STR("/f"), STR("anna"), STR("pw"));
	ck_assert_ptr_eq(again, g);
	ck_assert_int_eq(again->result.verdict, AUTH_RIGHT);
	ck_assert_int_eq(again->result.valid_until, 77);
	ck_assert_uint_eq(again->result.count, 1);
	auth_set(&grants, g, AUTH_FAILED, 5, 0, 0);
	ck_assert_uint_eq(again->result.count, 2);
	ck_assert_int_eq(again->result.error, 5);
	auth_release(&grants, &again);
	auth_release(&grants, &g);
	auth_free(&grants);
}
END_TEST

/* The cache stays within its limit, but for held entries. */
START_TEST(limited)
{
	struct auth_entry	*held, *g;
	char		 user[20];

	auth_init(&grants, 10);
	held = auth_add(&grants, STR("/f"), STR("held"), STR(""));
	for (int i = 0; i < 1000; i++) {
		snprintf(user, sizeof(user), "%d", i);
		g = auth_add(&grants, STR("/f"), str_of(user), STR("pw"));
		auth_release(&grants, &g);
		ck_assert_uint_le(grants.cache.entries, 10);
	}
	g = auth_add(&grants, STR("/f"), STR("held"), STR(""));
	ck_assert_ptr_eq(g, held);
	auth_release(&grants, &g);
	auth_release(&grants, &held);
	auth_free(&grants);
}
END_TEST

/* A right verdict counts for a while when there is no newer one. */
START_TEST(counts)
{
	struct auth_entry		*g, *also;
	struct auth_result	 a;

	auth_init(&grants, 100);
	g = auth_add(&grants, STR("/f"), STR("anna"), STR("pw"));
	auth_set(&grants, g, AUTH_FAILED, EAGAIN, 50, 0);
	auth_get(&grants, g, &a);
	ck_assert_int_eq(a.stale_until, 0);
	auth_set(&grants, g, AUTH_RIGHT, 0, 100, 10);
	auth_get(&grants, g, &a);
	ck_assert_int_eq(a.valid_until, 110);
	ck_assert_int_eq(a.stale_until, 100 + AUTH_STALE_FACTOR * 10);
	/* A failure changes nothing about that. */
	auth_set(&grants, g, AUTH_FAILED, EAGAIN, 110, 0);
	auth_get(&grants, g, &a);
	ck_assert_int_eq(a.verdict, AUTH_FAILED);
	ck_assert_int_eq(a.stale_until, 100 + AUTH_STALE_FACTOR * 10);
	ck_assert(!a.pending);
	/* Several verifications may be under way, each with a hold. */
	auth_begin(&grants, g);
	auth_begin(&grants, g);
	also = g;
	auth_end(&grants, &also);
	ck_assert_ptr_null(also);
	auth_get(&grants, g, &a);
	ck_assert(a.pending);
	also = g;
	auth_end(&grants, &also);
	auth_get(&grants, g, &a);
	ck_assert(!a.pending);
	ck_assert_uint_eq(g->entry.holds, 1);
	/* A wrong verdict counts at once. */
	auth_set(&grants, g, AUTH_WRONG, 0, 115, 1);
	auth_get(&grants, g, &a);
	ck_assert_int_eq(a.stale_until, 0);
	/* With keep 0 a verdict does not last. */
	auth_set(&grants, g, AUTH_RIGHT, 0, 120, 0);
	auth_get(&grants, g, &a);
	ck_assert_int_eq(a.stale_until, 120);
	auth_release(&grants, &g);
	auth_free(&grants);
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
