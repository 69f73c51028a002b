/*
 * Unit test of proto/scgi.
 */
#include <string.h>

#include "proto/scgi.h"
#include "t/unit/unit.h"

static const struct {
	const char	*environment;
	size_t		 size;
	const char	*want;
	size_t		 len;
} cases[] = {
#define CASE(environment, want) \
	{ environment, sizeof(environment) - 1, want, sizeof(want) - 1 }
	CASE("CONTENT_LENGTH=0\0", "24:CONTENT_LENGTH\0" "0\0" "SCGI\0" "1\0,"),
	CASE("A=b=c\0CONTENT_LENGTH=27\0D=\0SCGI=2\0" "CONTENT=\0",
	    "43:CONTENT_LENGTH\0" "27\0SCGI\0" "1\0A\0b=c\0D\0\0CONTENT\0\0,"),
};

START_TEST(test_cases)
{
	struct buf	b = { 0 };

	buf_adds(&b, "behind ");
	scgi_add_head(&b, (struct str){ cases[_i].environment,
	    cases[_i].size });
	buf_consume(&b, strlen("behind "));
	ck_assert_msg(b.len == cases[_i].len &&
	    memcmp(b.at, cases[_i].want, b.len) == 0, "%s",
	    unit_show(b.at, b.len));
	buf_free(&b);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, test_cases, 0,
	    sizeof(cases) / sizeof(cases[0]));
}
