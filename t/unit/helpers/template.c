/*
 * Tests of helpers/template: fields and escapes of any values.
 */
#include <stdint.h>
#include <string.h>

#include "helpers/template.h"
#include "t/unit/unit.h"

#define BAD	"\xef\xbf\xbd"		/* U+FFFD */

static struct buf	out;

static void
clear(void)
{
	buf_free(&out);
}

static const char *
fill_template(const char *text, const struct template_values *v)
{
	out.len = 0;
	ck_assert_msg(template_fill(text, v, &out), "%s", text);
	return buf_string(&out);
}

static const char *
named(const char *text, const char *name)
{
	struct template_values	v = { .title = "", .name = name };

	return fill_template(text, &v);
}

START_TEST(fields)
{
	struct template_values	v = { "a title", "a name", 1500, 1700000000 };

	ck_assert_str_eq(fill_template("", &v), "");
	ck_assert_str_eq(fill_template("no field", &v), "no field");
	ck_assert_str_eq(fill_template("%%", &v), "%");
	ck_assert_str_eq(fill_template("100%% %%{name}", &v), "100% %{name}");
	ck_assert_str_eq(fill_template("<%{title}|%{name}|%{size}|%{human}>",
	    &v), "<a title|a name|1500|1.4 KiB>");
	ck_assert_str_eq(fill_template("%{time} %{date}", &v),
	    "2023-11-14T22:13:20Z 2023-11-14 22:13");
	ck_assert_str_eq(fill_template("%{name:none}%{name:percent}%%", &v),
	    "a namea%20name%");
}
END_TEST

START_TEST(no_fields)
{
	static const char *const wrong[] = {
		"%", "a%", "%n", "%{", "%{}", "%{:}", "%{nam}", "%{names}",
		"%{name", "%{name:", "%{name:}", "%{name:html}", "%{name:xml",
		"%{name:xml:json}", "%{name }", "%{name}%", "%{Name}",
	};
	struct template_values	v = { "t", "n", 1, 1 };

	out.len = 0;
	ck_assert_msg(!template_fill(wrong[_i], &v, &out), "%s", wrong[_i]);
}
END_TEST

/* Bytes, and their three escaped forms. */
static const struct {
	const char	*name, *percent, *xml, *json;
} names[] = {
	{ "plain-1._~", "plain-1._~", "plain-1._~", "plain-1._~" },
	{ "a b", "a%20b", "a b", "a b" },
	{ "<script>", "%3Cscript%3E", "&lt;script&gt;", "<script>" },
	{ "\"'&", "%22%27%26", "&quot;&#39;&amp;", "\\\"'&" },
	{ "&lt;", "%26lt%3B", "&amp;lt;", "&lt;" },
	{ "back\\slash", "back%5Cslash", "back\\slash", "back\\\\slash" },
	{ "100%", "100%25", "100%", "100%" },
	{ "%{name}", "%25%7Bname%7D", "%{name}", "%{name}" },
	{ "a:b?c#d+e", "a%3Ab%3Fc%23d%2Be", "a:b?c#d+e", "a:b?c#d+e" },
	{ "\n\t\x01", "%0A%09%01", BAD BAD BAD, "\\u000a\\u0009\\u0001" },
	{ "\x7f", "%7F", BAD, "\\u007f" },
	{ "\xc2\x85", "%C2%85", BAD, "\\u0085" },
	{ "\xc2\xa0", "%C2%A0", "\xc2\xa0", "\xc2\xa0" },
	{ "\xc3\xa9", "%C3%A9", "\xc3\xa9", "\xc3\xa9" },
	{ "\xe2\x82\xac", "%E2%82%AC", "\xe2\x82\xac", "\xe2\x82\xac" },
	{ "\xf0\x9f\x98\x80", "%F0%9F%98%80", "\xf0\x9f\x98\x80",
	    "\xf0\x9f\x98\x80" },
	/* Not UTF-8: stray, cut off, overlong, surrogates, too large. */
	{ "\xff", "%FF", BAD, BAD },
	{ "\x80x", "%80x", BAD "x", BAD "x" },
	{ "\xc3", "%C3", BAD, BAD },
	{ "\xe2\x82", "%E2%82", BAD BAD, BAD BAD },
	{ "\xe2\x82<", "%E2%82%3C", BAD BAD "&lt;", BAD BAD "<" },
	{ "\xc3\"", "%C3%22", BAD "&quot;", BAD "\\\"" },
	{ "\xc0\xaf", "%C0%AF", BAD BAD, BAD BAD },
	{ "\xe0\x80\xaf", "%E0%80%AF", BAD BAD BAD, BAD BAD BAD },
	{ "\xed\xa0\x80", "%ED%A0%80", BAD BAD BAD, BAD BAD BAD },
	{ "\xf0\x8f\xbf\xbf", "%F0%8F%BF%BF", BAD BAD BAD BAD,
	    BAD BAD BAD BAD },
	{ "\xf4\x90\x80\x80", "%F4%90%80%80", BAD BAD BAD BAD,
	    BAD BAD BAD BAD },
	{ "\xf5", "%F5", BAD, BAD },
};

START_TEST(escapes)
{
	const char	*name = names[_i].name;

	ck_assert_str_eq(named("%{name}", name), name);
	ck_assert_str_eq(named("%{name:none}", name), name);
	ck_assert_str_eq(named("%{name:percent}", name), names[_i].percent);
	ck_assert_str_eq(named("%{name:xml}", name), names[_i].xml);
	ck_assert_str_eq(named("%{name:json}", name), names[_i].json);
}
END_TEST

static const struct {
	int64_t		 size;
	const char	*human;
} sizes[] = {
	{ 0, "0 B" }, { 1, "1 B" }, { 1023, "1023 B" }, { 1024, "1.0 KiB" },
	{ 1535, "1.4 KiB" }, { 1536, "1.5 KiB" }, { 10239, "9.9 KiB" },
	{ 10240, "10 KiB" }, { 1048575, "1023 KiB" }, { 1048576, "1.0 MiB" },
	{ 1500000000, "1.3 GiB" }, { INT64_C(1) << 40, "1.0 TiB" },
	{ INT64_MAX, "7.9 EiB" },
};

START_TEST(human_sizes)
{
	struct template_values	v = { .size = sizes[_i].size };

	ck_assert_str_eq(fill_template("%{human}", &v), sizes[_i].human);
}
END_TEST

static const struct {
	int64_t		 time;
	const char	*text;
} times[] = {
	{ 0, "1970-01-01T00:00:00Z" },
	{ -1, "1969-12-31T23:59:59Z" },
	{ 951827696, "2000-02-29T12:34:56Z" },
	{ 253402300799, "9999-12-31T23:59:59Z" },
	{ 253402300800, "9999-12-31T23:59:59Z" },
	{ INT64_MAX, "9999-12-31T23:59:59Z" },
	{ INT64_MIN, "0000-01-01T00:00:00Z" },
};

START_TEST(times_within_four_digits)
{
	struct template_values	v = { .time = times[_i].time };

	ck_assert_str_eq(fill_template("%{time}", &v), times[_i].text);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, NULL, clear);
	tcase_add_test(tests, fields);
	tcase_add_loop_test(tests, no_fields, 0, 17);
	tcase_add_loop_test(tests, escapes, 0,
	    sizeof(names) / sizeof(names[0]));
	tcase_add_loop_test(tests, human_sizes, 0,
	    sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_loop_test(tests, times_within_four_digits, 0,
	    sizeof(times) / sizeof(times[0]));
}
