/*
 * Tests of helpers/json_lines: lines of the server, and others.
 */
#include "helpers/json_lines.h"
#include "t/unit/unit.h"

#define TIME	"2026-11-25T04:00:06+0000"
#define HEAD	"{\"time\":\"" TIME "\","

static const struct {
	const char	*lines, *wanted;
} cases[] = {
	{ "", "" },
	{ TIME " main[1234] info: a text: with [all]\n",
	    HEAD "\"process\":\"main\",\"pid\":1234,\"level\":\"info\","
	    "\"message\":\"a text: with [all]\"}\n" },
	{ TIME " access logger[5] error: \n",
	    HEAD "\"process\":\"access logger\",\"pid\":5,\"level\":\"error\","
	    "\"message\":\"\"}\n" },
	{ TIME " m[1] warn: \"a\\b\"\t\xc3\xa4\n" "x\n",
	    HEAD "\"process\":\"m\",\"pid\":1,\"level\":\"warn\","
	    "\"message\":\"\\\"a\\\\b\\\" \xc3\xa4\"}\n"
	    "{\"message\":\"x\"}\n" },
	{ "\n\nx", "{\"message\":\"\"}\n{\"message\":\"\"}\n"
	    "{\"message\":\"x\"}\n" },
	{ "main: error: a crash\n", "{\"message\":\"main: error: a crash\"}\n" },
	{ TIME " m[x] warn: a\n", "{\"message\":\"" TIME " m[x] warn: a\"}\n" },
	{ TIME " m[1] Warn: a\n", "{\"message\":\"" TIME " m[1] Warn: a\"}\n" },
	{ TIME " m[] warn: a\n", "{\"message\":\"" TIME " m[] warn: a\"}\n" },
	{ TIME " m[1]warn: a\n", "{\"message\":\"" TIME " m[1]warn: a\"}\n" },
	{ TIME " m[1] warn:a\n", "{\"message\":\"" TIME " m[1] warn:a\"}\n" },
	{ "now m[1] warn: a\n", "{\"message\":\"now m[1] warn: a\"}\n" },
	{ TIME "\n", "{\"message\":\"" TIME "\"}\n" },
};

START_TEST(lines)
{
	struct buf	b = { 0 };

	json_lines_add(&b, str_of(cases[_i].lines));
	ck_assert_str_eq(buf_string(&b), cases[_i].wanted);
	buf_free(&b);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, lines, 0, sizeof(cases) / sizeof(cases[0]));
}
