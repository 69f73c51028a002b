/*
 * Tests of helpers/htpasswd: hashes of users, and the hash in place of one.
 */
#include <stdio.h>
#include <string.h>

#include "helpers/htpasswd.h"
#include "t/unit/unit.h"

static const char	text[] =
    "# anna:$1$comment\n"
    "anna:$6$one\r\n"
    "\n:$6$nobody\nno colon\n"
    "bob:$apr1$x$y\n"
    "old:abcdefghijklm\n"
    "anna:$6$two\n"
    "carl:$2y$three:more:fields\n"
    "d\te:$6$tab\n"
    "empty:\n"
    "last:$y$four";

/* User, hash; NULL: none. */
static const struct {
	const char	*user, *hash;
} users[] = {
	{ "anna", "$6$one" }, { "carl", "$2y$three" }, { "last", "$y$four" },
	{ "bob", "$apr1$x$y" }, { "old", "abcdefghijklm" }, { "empty", "" },
	{ "", NULL }, { "Anna", NULL }, { "ann", NULL }, { "annaa", NULL },
	{ "# anna", NULL }, { "no colon", NULL }, { "d\te", NULL },
	{ "anna:$6$one", NULL },
};

START_TEST(finds)
{
	struct str	other, own;

	own = htpasswd_find(STR(text), str_of(users[_i].user), &other);
	ck_assert((own.at != NULL) == (users[_i].hash != NULL));
	if (own.at != NULL)
		ck_assert(str_same(own, str_of(users[_i].hash)));
	ck_assert(htpasswd_usable(other));
}
END_TEST

/* A name always has the same hash in place of its own. */
START_TEST(stands_in)
{
	static const char *const	hashes[] = {
		"$6$one", "$6$two", "$2y$three", "$y$four"
	};
	struct str	other, again;
	char		name[20];
	unsigned	seen = 0;

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		htpasswd_find(STR(text), str_of(name), &other);
		htpasswd_find(STR(text), str_of(name), &again);
		ck_assert_ptr_eq(other.at, again.at);
		for (int j = 0; j < 4; j++)
			if (str_same(other, str_of(hashes[j])))
				seen |= 1U << j;
	}
	ck_assert_uint_eq(seen, 15);
}
END_TEST

static const char *const useless[] = {
	"", "\n\n", "#\n", "anna", ":", "anna:", "anna:plain\n",
	"anna:$apr1$x$y\nbob:{SHA}abc\n",
};

START_TEST(nothing_stands_in)
{
	struct str	other;

	htpasswd_find(str_of(useless[_i]), STR("carl"), &other);
	ck_assert_ptr_null(other.at);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, finds, 0, sizeof(users) / sizeof(users[0]));
	tcase_add_test(t, stands_in);
	tcase_add_loop_test(t, nothing_stands_in, 0,
	    sizeof(useless) / sizeof(useless[0]));
}
