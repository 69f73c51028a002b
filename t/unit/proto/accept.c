/* Unit test of proto/accept: which of two types, and which language, a client
 * prefers. */
#include <stdlib.h>
#include <string.h>

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

/* The value, and the number of the tag. */
static const char *const	tags[] = { "de", "en-GB", "en", "pt-BR", "zh-Hant",
	NULL, "br" };
enum { DE, EN_GB, EN, PT_BR, ZH_HANT, NOT_OFFERED, BR, NONE, TAGS = NONE };

static const struct {
	const char	*value;
	unsigned	 number;
} languages[] = {
	{ "", NONE },
	{ " , ,", NONE },
	{ "de", DE },
	{ "DE", DE },
	{ "de-AT", DE },
	{ "de-AT-1996-x-any", DE },
	{ "deu", NONE },
	{ "d", NONE },
	{ "en", EN },
	{ "en-GB", EN_GB },
	{ "en-gb-oed", EN_GB },
	{ "en-US, en-GB", EN },
	{ "en-G", EN },
	{ "pt", NONE },
	{ "pt-PT", NONE },
	{ "pt-br", PT_BR },
	{ "zh", NONE },
	{ "zh-hant-tw", ZH_HANT },
	{ "zh-TW", NONE },
	/* Order and weights. */
	{ "de, en", DE },
	{ "en, de", EN },
	{ "es, br, de", BR },
	{ "de;q=0.5, en;q=0.6", EN },
	{ "de;q=0.5, en;q=0.50", DE },
	{ "de;q=0.5 , br ; Q=0.501", BR },
	{ "en;q=0.001", EN },
	/* A star asks for nothing. */
	{ "*", NONE },
	{ "*, de;q=0.1", DE },
	{ "de;q=0.1, *", DE },
	{ "*-AT", NONE },
	{ "de-*", DE },
	/* What is refused. */
	{ "de;q=0", NONE },
	{ "de;q=0.000, en", EN },
	{ "de-AT, de;q=0", NONE },
	{ "en-GB, en;q=0", EN_GB },
	{ "en, en-GB;q=0", EN },
	{ "en-GB, en-GB;q=0, en", EN_GB },
	{ "en-GB-x-a, en-GB;q=0", EN },
	{ "en-GB-x-a, en;q=0", NONE },
	{ "*;q=0, de", DE },
	{ "*;q=0", NONE },
	/* What is broken. */
	{ "de_AT", NONE },
	{ "de AT, en;q=0.1", EN },
	{ "-de, -, --", NONE },
	{ "de-", DE },
	{ "de;q=2, en;q=0.1", EN },
	{ "de;q=x", NONE },
	{ "de;q=", NONE },
	{ "de;q=-1", NONE },
	{ "de;q=0,5", NONE },
	{ ";q=1", NONE },
	{ "\"de\", en", EN },
	{ "\"de, en", NONE },
};

START_TEST(language)
{
	size_t	got = accept_language(str_of(languages[_i].value), tags, TAGS);

	ck_assert_msg(got == languages[_i].number, "\"%s\": %zu",
	    languages[_i].value, got);
}
END_TEST

START_TEST(many_ranges)
{
	char	value[2 * ACCEPT_RANGES_MAX + 8] = "";

	for (int i = 1; i < ACCEPT_RANGES_MAX; i++)
		strcat(value, "x,");
	strcat(value, "de");
	ck_assert_uint_eq(accept_language(str_of(value), tags, TAGS), DE);
	memmove(value + 2, value, strlen(value) + 1);
	ck_assert_uint_eq(accept_language(str_of(value), tags, TAGS), NONE);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, wanted_more, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, no_field);
	tcase_add_test(tests, not_at_all);
	tcase_add_loop_test(tests, language, 0,
	    sizeof(languages) / sizeof(languages[0]));
	tcase_add_test(tests, many_ranges);
}
