/*
 * Unit test of shared/hot_list.
 */
#include <stdio.h>
#include <string.h>

#include "lib/mem.h"
#include "shared/hot_list.h"
#include "t/unit/unit.h"

static const struct {
	const char		*text;
	enum hot_list_line	 line;
	const char		*url, *rest;	/* coding or files */
} cases[] = {
	{ "", HOT_LIST_NOTHING, "", "" },
	{ "/a", HOT_LIST_NOTHING, "", "" },
	{ "/a\n", HOT_LIST_NAME, "/a", "" },
	{ "/a\n/b\n", HOT_LIST_NAME, "/a", "" },
	{ "/a gzip\n", HOT_LIST_NAME, "/a", "gzip" },
	{ "http://a.example:81/%20?q gzip\n", HOT_LIST_NAME,
	    "http://a.example:81/%20?q", "gzip" },
	{ "/a language=pt-BR\n", HOT_LIST_NAME, "/a", "language=pt-BR" },
	{ "/a language=aa-b2345678-b2345678-b2345678-b2345\n", HOT_LIST_NAME,
	    "/a", "language=aa-b2345678-b2345678-b2345678-b2345" },
	{ "> /a /b\n", HOT_LIST_PAGE, "/a", "/b" },
	{ "> http://a.example:81/ /b.css /%20?q\n/c\n", HOT_LIST_PAGE,
	    "http://a.example:81/", "/b.css /%20?q" },
	{ "# a\n", HOT_LIST_COMMENT, "", "" },
	{ "\n", HOT_LIST_COMMENT, "", "" },
	{ HOT_LIST_END, HOT_LIST_COMMENT, "", "" },
	{ "a\n", HOT_LIST_BAD, "", "" },
	{ "https://a/\n", HOT_LIST_BAD, "", "" },
	{ " /a\n", HOT_LIST_BAD, "", "" },
	{ "/a \n", HOT_LIST_BAD, "", "" },
	{ "/a gzip br\n", HOT_LIST_BAD, "", "" },
	{ "/a gz\rip\n", HOT_LIST_BAD, "", "" },
	{ "/a\r\n", HOT_LIST_BAD, "", "" },
	{ "/\xc3\xa4\n", HOT_LIST_BAD, "", "" },
	{ "/a language:de\n", HOT_LIST_BAD, "", "" },
	{ ">\n", HOT_LIST_BAD, "", "" },
	{ "> \n", HOT_LIST_BAD, "", "" },
	{ ">/a /b\n", HOT_LIST_BAD, "", "" },
	{ "> /a\n", HOT_LIST_BAD, "", "" },
	{ "> /a \n", HOT_LIST_BAD, "", "" },
	{ ">  /a\n", HOT_LIST_BAD, "", "" },
	{ "> a /b\n", HOT_LIST_BAD, "", "" },
	{ "> /a b\n", HOT_LIST_BAD, "", "" },
	{ "> /a /b \n", HOT_LIST_BAD, "", "" },
	{ "> /a /b  /c\n", HOT_LIST_BAD, "", "" },
	{ "> /a http://a/b\n", HOT_LIST_BAD, "", "" },
	{ "> /a /b\r\n", HOT_LIST_BAD, "", "" },
	{ "> /a /b\t/c\n", HOT_LIST_BAD, "", "" },
	{ "> /a /\xc3\xa4\n", HOT_LIST_BAD, "", "" },
	{ "/a abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvw\n", HOT_LIST_BAD,
	    "", "" },
};

static bool
is_same(struct str s, const char *text)
{
	return str_same(s, str_of(text));
}

START_TEST(line)
{
	struct str	text = str_of(cases[_i].text);
	struct hot_name	name;

	ck_assert_int_eq(hot_list_next(&text, &name), cases[_i].line);
	if (cases[_i].line == HOT_LIST_NAME) {
		ck_assert(is_same(name.url, cases[_i].url));
		ck_assert(is_same(name.coding, cases[_i].rest));
		ck_assert_uint_eq(name.files.len, 0);
	}
	if (cases[_i].line == HOT_LIST_PAGE) {
		ck_assert(is_same(name.url, cases[_i].url));
		ck_assert(is_same(name.files, cases[_i].rest));
	}
	if (cases[_i].line == HOT_LIST_NOTHING)
		ck_assert(is_same(text, cases[_i].text));
}
END_TEST

/* A line of so many bytes. */
static enum hot_list_line
read_long(size_t n)
{
	struct buf		b = { 0 };
	struct hot_name		name;
	struct str		text;
	enum hot_list_line	kind;

	buf_addc(&b, '/');
	while (b.len < n)
		buf_addc(&b, 'x');
	buf_addc(&b, '\n');
	text = (struct str){ b.at, b.len };
	kind = hot_list_next(&text, &name);
	ck_assert_uint_eq(text.len, 0);
	buf_free(&b);
	return kind;
}

START_TEST(length)
{
	ck_assert_int_eq(read_long(HOT_LIST_LINE_MAX), HOT_LIST_NAME);
	ck_assert_int_eq(read_long(HOT_LIST_LINE_MAX + 1), HOT_LIST_BAD);
}
END_TEST

/* A line that is read can be written again. */
START_TEST(added)
{
	struct buf	to = { 0 };
	struct str	text = str_of(cases[_i].text);
	size_t		n;
	struct hot_name	name;

	if (cases[_i].line == HOT_LIST_NAME ||
	    cases[_i].line == HOT_LIST_PAGE) {
		(void)hot_list_next(&text, &name);
		hot_list_add(&to, &name);
		n = strcspn(cases[_i].text, "\n") + 1;
		ck_assert_uint_eq(to.len, n);
		ck_assert(memcmp(to.at, cases[_i].text, n) == 0);
		buf_free(&to);
	}
}
END_TEST

START_TEST(file)
{
	ck_assert(hot_list_has_file(STR("/a?b")));
	ck_assert(!hot_list_has_file(STR("")));
	ck_assert(!hot_list_has_file(STR("a")));
	ck_assert(!hot_list_has_file(STR("/a b")));
	ck_assert(!hot_list_has_file(STR("/a\n")));
	ck_assert(!hot_list_has_file(STR("/\x7f")));
}
END_TEST

START_TEST(merged)
{
	struct buf	to = { 0 };
	struct str	lists[] = {
		STR("/a\n/b gzip\nbad\n/c\n" HOT_LIST_END),
		STR("/b\n# comment\n/a\n/d"),
		STR(""),
		STR("/e\n/b gzip\n"),
	};

	ck_assert_uint_eq(hot_list_merge(&to, lists, 4), 1);
	ck_assert_str_eq(buf_string(&to), "/a\n/b\n/e\n/b gzip\n/c\n");
	buf_free(&to);
}
END_TEST

START_TEST(merged_pages)
{
	struct buf	to = { 0 };
	struct str	lists[] = {
		STR("> /p /a /b\n> /q /a\n/a\n"),
		STR("> /p /a\n> /p /a /b\n> /p\n/a\n/p /a\n"),
	};

	ck_assert_uint_eq(hot_list_merge(&to, lists, 2), 2);
	ck_assert_str_eq(buf_string(&to),
	    "> /p /a /b\n> /p /a\n> /q /a\n/a\n");
	buf_free(&to);
}
END_TEST

/* Many pages leave room for names. */
START_TEST(merged_most_pages)
{
	struct buf	list = { 0 }, to = { 0 };
	struct str	text;
	size_t		n = 0, pages = 0;

	for (int i = 0; i < HOT_LIST_PAGES_MAX + 10; i++)
		buf_addf(&list, "> /%d /%0*d\n", i, _i, i);
	for (int i = 0; i < HOT_LIST_NAMES_MAX; i++)
		buf_addf(&list, "/%d\n", i);
	text = (struct str){ list.at, list.len };
	ck_assert_uint_eq(hot_list_merge(&to, &text, 1), 0);
	for (size_t i = 0; i < to.len; i++) {
		n += to.at[i] == '\n';
		pages += to.at[i] == '>';
	}
	ck_assert_uint_eq(n - pages, HOT_LIST_NAMES_MAX);
	if (_i == 1)
		ck_assert_uint_eq(pages, HOT_LIST_PAGES_MAX);
	else
		ck_assert_uint_le(pages * (size_t)_i,
		    HOT_LIST_PAGES_BYTES_MAX);
	ck_assert_uint_le(to.len, HOT_LIST_BYTES_MAX);
	buf_free(&list);
	buf_free(&to);
}
END_TEST

START_TEST(merged_most)
{
	struct buf	list = { 0 }, to = { 0 };
	struct str	text;
	size_t		n = 0;

	for (int i = 0; i < HOT_LIST_NAMES_MAX + 10; i++)
		buf_addf(&list, "/%d\n", i);
	text = (struct str){ list.at, list.len };
	ck_assert_uint_eq(hot_list_merge(&to, &text, 1), 0);
	for (size_t i = 0; i < to.len; i++)
		n += to.at[i] == '\n';
	ck_assert_uint_eq(n, HOT_LIST_NAMES_MAX);
	ck_assert_uint_le(to.len, HOT_LIST_BYTES_MAX);
	ck_assert(memcmp(to.at, list.at, to.len) == 0);
	buf_free(&list);
	buf_free(&to);
}
END_TEST

START_TEST(complete)
{
	ck_assert(hot_list_is_complete(STR("/a\n" HOT_LIST_END)));
	ck_assert(hot_list_is_complete(STR(HOT_LIST_END)));
	ck_assert(!hot_list_is_complete(STR("/a\n")));
	ck_assert(!hot_list_is_complete(STR("")));
}
END_TEST

void
unit_tests(TCase *tc)
{
	tcase_add_loop_test(tc, line, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, added, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, length);
	tcase_add_test(tc, file);
	tcase_add_test(tc, merged);
	tcase_add_test(tc, merged_pages);
	tcase_add_loop_test(tc, merged_most_pages, 1, 2);
	tcase_add_loop_test(tc, merged_most_pages, 1000, 1001);
	tcase_add_test(tc, merged_most);
	tcase_add_test(tc, complete);
}
