/*
 * Unit test of lib/url.
 */
#include <string.h>

#include "lib/url.h"
#include "t/unit/unit.h"

static const struct {
	const char	*text, *authority, *host, *target;
	int64_t		 port;
} cases[] = {
	{ "/",			"", "", "/", 80 },
	{ "/a/b?c#d",		"", "", "/a/b?c", 80 },
	{ "//a",		"", "", "//a", 80 },
	{ "http://a",		"a", "a", "", 80 },
	{ "HTTP://A.b/",	"A.b", "A.b", "/", 80 },
	{ "http://a:8080/b",	"a:8080", "a", "/b", 8080 },
	{ "http://a?q=/",	"a", "a", "?q=/", 80 },
	{ "http://a#f",		"a", "a", "", 80 },
	{ "http://[::1]/",	"[::1]", "[::1]", "/", 80 },
	{ "http://[::1]:1/",	"[::1]:1", "[::1]", "/", 1 },
	{ "http://a:65535/x:y",	"a:65535", "a", "/x:y", 65535 },
	{ "http://a/b@c",	"a", "a", "/b@c", 80 },
};

static void
check(struct str got, const char *want)
{
	ck_assert_msg(str_same(got, str_of(want)), "%s is not %s",
	    unit_show(got.at, got.len), want);
}

START_TEST(good)
{
	struct url	u;

	ck_assert_ptr_null(url_parse(cases[_i].text, &u));
	check(u.authority, cases[_i].authority);
	check(u.host, cases[_i].host);
	check(u.target, cases[_i].target);
	ck_assert_int_eq(u.port, cases[_i].port);
}
END_TEST

static const struct {
	const char	*text, *wrong;		/* a word of the error */
} bad[] = {
	{ "", "http://" }, { "a/b", "http://" }, { "ftp://a/", "http://" },
	{ "https://a/", "TLS" }, { "http:///a", "no host" },
	{ "http://:80/", "no host" }, { "http://a:/", "port" },
	{ "http://a:0/", "port" }, { "http://a:65536/", "port" },
	{ "http://a:b/", "port" }, { "http://[::1]x/", NULL },
	{ "http://u@a/", "user" }, { "http://u:p@a/", "user" },
	{ "/a b", "space" }, { "/a\nb", "space" }, { "/a\x7f", "space" },
};

START_TEST(refused)
{
	struct url	 u;
	const char	*wrong = url_parse(bad[_i].text, &u);

	if (bad[_i].wrong == NULL) {	/* the server refuses this one */
		ck_assert_ptr_null(wrong);
		return;
	}
	ck_assert_ptr_nonnull(wrong);
	ck_assert_ptr_nonnull(strstr(wrong, bad[_i].wrong));
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, good, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(t, refused, 0, sizeof(bad) / sizeof(bad[0]));
}
