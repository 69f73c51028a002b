/* Tests of names in a page, as targets. */
#include "http/hints/reference.h"
#include "t/unit/unit.h"

static const struct {
	const char	*name, *target;
} cases[] = {
	{ "a.png", "/d/e/a.png" },
	{ "./a.png", "/d/e/a.png" },
	{ "../a.png", "/d/a.png" },
	{ "../../a.png", "/a.png" },
	{ "../../../../a.png", "/a.png" },
	{ "x/../y/./z", "/d/e/y/z" },
	{ "x/..", "/d/e/" },
	{ "..", "/d/" },
	{ ".", "/d/e/" },
	{ "/a.png", "/a.png" },
	{ "/", "/" },
	{ "/b/../../c/", "/c/" },
	{ "a.png?x=/y#z", "/d/e/a.png" },
	{ "a.png#z?x", "/d/e/a.png" },
	{ "a%20b:c/d", NULL },			/* a scheme, though no good one */
	{ "b/c:d", "/d/e/b/c:d" },
	{ "http://host:81/a", "/a" },
	{ "HTTPS://HOST:81/a/../b?c", "/b" },
	{ "//host:81/a", "/a" },
	{ "http://host:81", NULL },
	{ "http://host/a", NULL },
	{ "http://host:81.org/a", NULL },
	{ "//other/a", NULL },
	{ "ftp://host:81/a", NULL },
	{ "data:,x", NULL },
	{ "#x", NULL },
	{ "?x", NULL },
	{ "", NULL },
};

static void
check(const char *name, const char *path, const char *target, size_t size)
{
	char	to[100];
	bool	is = reference_resolve(str_of(name), str_of(path),
		    STR("host:81"), to, size);

	ck_assert_msg(is == (target != NULL), "%s: %d", name, is);
	if (is)
		ck_assert_str_eq(to, target);
}

START_TEST(resolved)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(cases[i].name, "/d/e/page.html", cases[i].target, 100);
	check("a", "/", "/a", 100);
	check("a", "/page", "/a", 100);
	check("a", "/d/", "/d/a", 100);
	check("a", "/d/../e/", "/e/a", 100);
	check("..", "/", "/", 100);
	check("a", "/d/../page", "/a", 100);
	check("a", "/./page", "/a", 100);
}
END_TEST

START_TEST(too_long)
{
	for (size_t size = 0; size < 100; size++) {
		check("/abc", "/", size > 4 + 1 ? "/abc" : NULL, size);
		check("c", "/a/b/", size > 6 + 1 ? "/a/b/c" : NULL, size);
		check("..", "/a/b/", size > 5 + 1 ? "/a/" : NULL, size);
	}
}
END_TEST

START_TEST(path_of_url)
{
	struct str	path;

	ck_assert(reference_find_path(STR("http://Host/a/b?c"), STR("host"),
	    &path));
	ck_assert(str_same(path, STR("/a/b")));
	ck_assert(!reference_find_path(STR("/a/b"), STR("host"), &path));
	ck_assert(!reference_find_path(STR("http:/host/a"), STR("host"),
	    &path));
	ck_assert(!reference_find_path(STR("http://hos"), STR("host"), &path));
	ck_assert(!reference_find_path(STR(""), STR(""), &path));
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, resolved);
	tcase_add_test(tests, too_long);
	tcase_add_test(tests, path_of_url);
}
