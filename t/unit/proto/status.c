/*
 * Unit test of proto/status.
 */
#include <string.h>

#include "conf/table.h"
#include "proto/status.h"
#include "t/unit/unit.h"

static const int codes[] = {
#define STATUS(code, reason, sentence) code,
#include "proto/status.tbl"
#undef STATUS
};

START_TEST(table)
{
	const char	*reason = status_reason(codes[_i]);

	ck_assert(status_known(codes[_i]));
	ck_assert_uint_gt(strlen(reason), 1);
	/* Phrases and sentences fit into a status line and a page. */
	ck_assert_uint_eq(strcspn(reason, "\r\n<>&"), strlen(reason));
	ck_assert_uint_eq(strcspn(status_sentence(codes[_i]), "\r\n<>&"),
	    strlen(status_sentence(codes[_i])));
	/* A status with a page has a sentence. */
	ck_assert((codes[_i] >= 400) <= (*status_sentence(codes[_i]) != '\0'));
	for (int j = 0; j < _i; j++)
		ck_assert_int_lt(codes[j], codes[_i]);
}
END_TEST

/* The table has each status that a conf may use. */
START_TEST(of_the_conf)
{
	static const int	asked[] = {
#define X(code, name) code,
		CONF_REDIRECTS(X) CONF_REFUSALS(X) CONF_ERRORS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		ck_assert_msg(status_known(asked[i]), "%d", asked[i]);
}
END_TEST

START_TEST(known)
{
	ck_assert_str_eq(status_reason(200), "OK");
	ck_assert_str_eq(status_reason(404), "Not Found");
	ck_assert_str_eq(status_reason(505), "HTTP Version Not Supported");
	ck_assert_str_eq(status_sentence(404),
	    "There is no page at this address.");
}
END_TEST

START_TEST(unknown)
{
	static const int	none[] = { -1, 0, 99, 199, 299, 418, 999 };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		ck_assert(!status_known(none[i]));
		ck_assert_str_eq(status_reason(none[i]), "");
		ck_assert_str_eq(status_sentence(none[i]), "");
	}
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, table, 0,
	    (int)(sizeof(codes) / sizeof(codes[0])));
	tcase_add_test(t, of_the_conf);
	tcase_add_test(t, known);
	tcase_add_test(t, unknown);
}
