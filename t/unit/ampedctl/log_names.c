/*
 * Unit test of ampedctl/log_names.
 */
#include <stdio.h>
#include <string.h>

#include "ampedctl/log_names.h"
#include "lib/buf.h"
#include "t/unit/unit.h"

static const char	conf_text[] = "log {\n"
	"\tformat short \"%s %m %U%q %v\"\n"
	"\tformat long \"%a took %D us to get \\\"%r\\\" at %t, "
	"with status %>s\"\n"
	"\tformat json own \"{\\\"s\\\":%s,\\\"u\\\":\\\"%U\\\","
	"\\\"m\\\":\\\"%m\\\"}\"\n"
	"}\nsite default {\n\tlisten 127.0.0.1:8080\n\troot /\n}\n";

#define COMBINED(request, status)					\
	"1.2.3.4 - - [28/Nov/2026:10:00:00 +0000] \"" request "\" " status	\
	" 12 \"http://x/a b\" \"agent \\x22quoted\\x22\""

/* A line, and the name that it counts for; NULL: none. */
static const struct {
	const char	*line, *name;
} cases[] = {
	{ COMBINED("GET /a.html HTTP/1.1", "200"), "/a.html" },
	{ COMBINED("GET /a.html HTTP/1.1", "304"), "/a.html" },
	{ COMBINED("GET /a.html?x=1 HTTP/1.1", "200"), "/a.html" },
	{ COMBINED("GET /%20%2a HTTP/1.0", "200"), "/%20%2a" },
	{ COMBINED("GET /\\xc3\\xa4 HTTP/1.1", "200"), "/\xc3\xa4" },
	{ COMBINED("GET http://h/x HTTP/1.1", "200"), "http://h/x" },
	{ COMBINED("GET /\\x22\\x5c HTTP/1.1", "200"), "/\"\\" },
	{ COMBINED("GET /a\\x0ab HTTP/1.1", "200"), NULL },
	{ COMBINED("GET /a\\x20b HTTP/1.1", "200"), NULL },
	{ COMBINED("GET /a\\xzz HTTP/1.1", "200"), "/axzz" },
	{ COMBINED("HEAD /a.html HTTP/1.1", "200"), NULL },
	{ COMBINED("GET /a.html HTTP/1.1", "206"), NULL },
	{ COMBINED("GET /a.html HTTP/1.1", "404"), NULL },
	{ COMBINED("GET", "200"), NULL },
	{ COMBINED("-", "200"), NULL },
	{ COMBINED("", "200"), NULL },
	{ "1.2.3.4 - - [x] \"GET /common HTTP/1.1\" 200 12", "/common" },
	{ "site.org:8080 1.2.3.4 - - [x] \"GET /v HTTP/1.1\" 200 12 \"-\" "
	    "\"-\"", "http://site.org:8080/v" },
	{ "site.org:80 1.2.3.4 - - [x] \"GET /v HTTP/1.1\" 200 12 \"-\" "
	    "\"-\"", "http://site.org/v" },
	{ "default:8080 1.2.3.4 - - [x] \"GET /v HTTP/1.1\" 200 12 \"-\" "
	    "\"-\"", "/v" },
	{ "*.org:8080 1.2.3.4 - - [x] \"GET /v HTTP/1.1\" 200 12 \"-\" "
	    "\"-\"", "/v" },
	{ "{\"time\":\"x\",\"client\":\"1.2.3.4\",\"user\":\"\",\"site\":"
	    "\"a.org\",\"port\":8080,\"host\":\"b.org\",\"request\":\"GET "
	    "/j\\\"\\\\x01 HTTP/1.1\",\"method\":\"GET\",\"path\":\"/j\\\"\","
	    "\"query\":\"?x\",\"protocol\":\"HTTP/1.1\",\"status\":200,"
	    "\"bytes\":1,\"received\":2,\"sent\":3,\"ms\":4,\"referer\":\"\","
	    "\"agent\":\"a\\\\xff\",\"connection\":\"+\"}",
	    "http://b.org:8080/j\"" },
	{ "200 GET /short?x=1 default", "/short" },
	{ "304 GET /short a.org", "http://a.org/short" },
	{ "1.2.3.4 took 12 us to get \"GET /long HTTP/1.1\" at [28], with "
	    "status 200", "/long" },
	{ "{\"s\":304,\"u\":\"/own\\\\xe4\",\"m\":\"GET\"}", "/own\xe4" },
};

/* Lines in no format. */
static const struct {
	const char	*text;
	size_t		 len;
} bad[] = {
#define LINE(text) { text, sizeof(text) - 1 }
	LINE(""), LINE("x"), LINE("-"), LINE("\\"), LINE("\0\0\0"),
	LINE("\x7f" "ELF\x02\x01"), LINE("1.2.3.4 - - [x] \"GET /a"),
	LINE("1.2.3.4 - - [x] \"GET /a HTTP/1.1\\"), LINE("{}"),
	LINE("{\"s\":304,\"u\":\""),
};

static struct conf	*conf;
static struct log_names	*names;
static char		 told[4096];

static void
begin(void)
{
	struct buf	errors = { 0 };

	conf = conf_read_text("test", conf_text, &errors);
	ck_assert_msg(conf != NULL, "%s", buf_string(&errors));
	names = log_names_new(conf);
	told[0] = '\0';
}

static void
end(void)
{
	log_names_free(&names);
	ck_assert_ptr_null(names);
	conf_free(&conf);
}

static void
tell(void *context, struct str name)
{
	size_t	n = strlen(told);

	ck_assert_ptr_eq(context, &told);
	snprintf(told + n, sizeof(told) - n, "%.*s\n", (int)name.len, name.at);
}

START_TEST(lines)
{
	char	expected[200] = "";

	begin();
	log_names_add(names, str_of(cases[_i].line));
	ck_assert_uint_eq(log_names_bad(names), 0);
	log_names_tell(names, 10, tell, told);
	if (cases[_i].name != NULL)
		snprintf(expected, sizeof(expected), "%s\n", cases[_i].name);
	ck_assert_str_eq(told, expected);
	end();
}
END_TEST

/* A line of another format may be cut off anywhere, too. */
START_TEST(nonsense)
{
	begin();
	log_names_add(names, (struct str){ bad[_i].text, bad[_i].len });
	ck_assert_uint_eq(log_names_bad(names), 1);
	log_names_tell(names, 10, tell, told);
	ck_assert_str_eq(told, "");
	end();
}
END_TEST

/* The hottest name comes last; of equal ones the first in the alphabet. */
START_TEST(counted)
{
	static const char	sequence[] = "abacabadxxxxxcb";
	char			line[200];

	begin();
	for (const char *c = sequence; *c != '\0'; c++) {
		snprintf(line, sizeof(line), "%d GET /%c default",
		    *c == 'd' ? 500 : 200, *c);
		log_names_add(names, str_of(line));
	}
	log_names_tell(names, (size_t)_i, tell, told);
	/* x five times, a four times, b three times, c twice. */
	ck_assert_str_eq(told, _i == 0 ? "" : _i == 1 ? "/x\n" : _i == 2 ?
	    "/a\n/x\n" : _i == 3 ? "/b\n/a\n/x\n" : "/c\n/b\n/a\n/x\n");
	end();
}
END_TEST

/* Without a conf there are the formats that are built in. */
START_TEST(no_conf)
{
	names = log_names_new(NULL);
	told[0] = '\0';
	log_names_add(names, str_of("200 GET /short default"));
	ck_assert_uint_eq(log_names_bad(names), 1);
	log_names_add(names, str_of(cases[0].line));
	log_names_tell(names, 5, tell, told);
	ck_assert_str_eq(told, "/a.html\n");
	ck_assert_uint_eq(log_names_left_out(names), 0);
	log_names_free(&names);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, lines, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tests, nonsense, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_loop_test(tests, counted, 0, 7);
	tcase_add_test(tests, no_conf);
}
