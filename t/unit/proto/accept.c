/* Unit test of proto/accept: which of two types a client prefers. */
#include <stdlib.h>

#include "proto/accept.h"
#include "t/unit/unit.h"

/* The value, and the type preferred: 'h' HTML, 'j' JSON, '=' neither. */
static const struct {
	const char	*value;
	char		 more;
} cases[] = {
	{ "", '=' },
	{ "*/*", '=' },
	{ "text/html", 'h' },
	{ "application/json", 'j' },
	{ "APPLICATION/Json", 'j' },
	{ "application/*", 'j' },
	{ "text/*", 'h' },
	{ "image/png", '=' },
	{ "text/html, application/json", '=' },
	{ "application/json,text/html", '=' },
	{ "application/json, text/plain, */*", 'j' },
	{ "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
	    'h' },
	{ "text/html;q=0.5, application/json", 'j' },
	{ "text/html;q=0.5, application/json;q=0.4", 'h' },
	{ "text/html;q=0.5, application/json;q=0.501", 'j' },
	{ "text/html ; q=0.5 , application/json ; Q=0.6", 'j' },
	{ "text/html;level=1;q=0.2, application/json;q=0.3", 'j' },
	{ "application/json;q=0, */*", 'h' },
	{ "*/*, application/json;q=0", 'h' },
	{ "*/*;q=0.9, text/*;q=0.1", 'j' },
	{ "text/*;q=0.1, */*;q=0.9", 'j' },
	{ "text/*, application/json;q=0.9", 'h' },
	{ "application/json;q=1.000, text/html;q=0.999", 'j' },
	/* Broken weights are passed over. */
	{ "application/json;q=2", '=' },
	{ "application/json;q=1.001", '=' },
	{ "application/json;q=0.1234", '=' },
	{ "application/json;q=", '=' },
	{ "application/json;q", '=' },
	{ "application/json;q=-1", '=' },
	{ "application/json;q=0,5", '=' },
	{ ";q=1, /, application, application/, json", '=' },
	{ "application/jsonx, xapplication/json", '=' },
	{ "application/json; profile=\"a,b\", text/html;q=0.1", 'j' },
};

START_TEST(wanted_more)
{
	struct str	accept = str_of(cases[_i].value);
	int		html = accept_weight(accept, STR("text/html"));
	int		json = accept_weight(accept, STR("application/json"));

	ck_assert_msg((html > json ? 'h' : json > html ? 'j' : '=') ==
	    cases[_i].more, "\"%s\": %d, %d", cases[_i].value, html, json);
	ck_assert_int_ge(html, 0);
	ck_assert_int_ge(json, 0);
}
END_TEST

START_TEST(no_field)
{
	struct str	none = { NULL, 0 };

	ck_assert_int_gt(accept_weight(none, STR("text/html")), 0);
	ck_assert_int_eq(accept_weight(none, STR("text/html")),
	    accept_weight(none, STR("application/json")));
}
END_TEST

START_TEST(not_at_all)
{
	ck_assert_int_eq(accept_weight(STR("image/*"), STR("text/html")), 0);
	ck_assert_int_eq(accept_weight(STR("text/html;q=0.000, */*"),
	    STR("text/html")), 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, wanted_more, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, no_field);
	tcase_add_test(tests, not_at_all);
}
