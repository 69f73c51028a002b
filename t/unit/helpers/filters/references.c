/* Tests of the names that a page of HTML refers to. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/filters/references.h"
#include "t/unit/unit.h"

static const struct {
	const char	*page, *names;
} cases[] = {
	{ "", "" },
	{ "no tags, src=a", "" },
	{ "<img src=a.png>", "a.png\n" },
	{ "<IMG ALT='>' SRC = \"a b.png\" >", "a b.png\n" },
	{ "<img\nsrc='a'><img src=b/>", "a\nb/\n" },
	{ "<script src=\"/s.js\"></script><img src=x>", "/s.js\nx\n" },
	{ "<script>'<img src=no>'</SCRIPT ><img src=yes>", "yes\n" },
	{ "<style>/* <img src=no> */</style><img src=yes>", "yes\n" },
	{ "<link rel=stylesheet href=a.css>", "a.css\n" },
	{ "<link rel='alternate  StyleSheet' href=a.css>", "a.css\n" },
	{ "<link rel=stylesheets href=a><link href=b><link rel='' href=c>",
	    "" },
	{ "<link rel=next href=a><a href=b><frame src=c>", "" },
	{ "<!-- <img src=no> --><img src=yes>", "yes\n" },
	{ "<img src=a><!-- <img src=no>", "a\n" },
	{ "<img src=a?x=1&amp;y=2&amp;>", "a?x=1&y=2&\n" },
	{ "<img src=a><base href=/other/><img src=b>", "" },
	{ "<base target=x><img src=a>", "a\n" },
	{ "<img src=><img src=''><img src><img src = >", "" },
	{ "<img src='a\nb'><img src=' c '>", "c\n" },
	{ "<img src=\"a", "" },
	{ "<img src=a", "a\n" },
	{ "<", "" },
	{ "<<img src=a>", "" },
	{ "<><img src=a>", "a\n" },
	{ "<!doctype html><p><img src=a>", "a\n" },
	{ "<img =x src=a>", "a\n" },
};

START_TEST(found)
{
	struct buf	names = { 0 };
	size_t		len;
	char		*page;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* A sanitizer sees each byte that is read behind the end. */
		len = strlen(cases[i].page);
		page = malloc(len > 0 ? len : 1);
		memcpy(page, cases[i].page, len);
		names.len = 0;
		references_find(page, len, &names);
		ck_assert_str_eq(buf_string(&names), cases[i].names);
		free(page);
	}
	buf_free(&names);
}
END_TEST

START_TEST(limits)
{
	struct buf	page = { 0 }, names = { 0 };

	buf_adds(&page, "<img src=");
	for (int i = 0; i <= REFERENCES_NAME_MAX; i++)
		buf_addc(&page, 'x');
	buf_adds(&page, ">");
	references_find(page.at, page.len, &names);
	ck_assert_uint_eq(names.len, 0);
	for (int i = 0; i < 2 * REFERENCES_MAX; i++)
		buf_adds(&page, "<img src=a>");
	references_find(page.at, page.len, &names);
	ck_assert_uint_eq(names.len, REFERENCES_MAX * 2);
	buf_free(&page);
	buf_free(&names);
}
END_TEST

START_TEST(listed)
{
	static const char	text[] = "<img src=a>";
	char			got[10] = "";
	bool			in_memory;
	int			fd, names;

	fd = anon_file_open(&in_memory);
	ck_assert_int_eq(ftruncate(fd, REFERENCES_PAGE_MAX), 0);
	ck_assert_int_eq(pwrite(fd, text, strlen(text), 5), strlen(text));
	ck_assert_int_eq(pwrite(fd, text, strlen(text), REFERENCES_PAGE_MAX),
	    strlen(text));
	names = references_list(fd, &in_memory);
	ck_assert_int_ne(names, -1);
	ck_assert_int_eq(pread(names, got, sizeof(got), 0), 2);
	ck_assert_str_eq(got, "a\n");
	close(fd);
	close(names);
	ck_assert_int_eq(references_list(-1, &in_memory), -1);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, found);
	tcase_add_test(tests, limits);
	tcase_add_test(tests, listed);
}
