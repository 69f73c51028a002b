/*
 * Unit test of http/rules: where a path is looked up, and for how long a client
 * may keep it.
 */
#include <string.h>

#include "http/rules.h"
#include "lib/mem.h"
#include "proto/why.h"
#include "t/unit/conf/confs.h"

static const char conf_text[] =
    "site a.org { listen *:80; root /tmp; index i j; error 404 /n\n"
    "expires */* 1s; expires image/* 2s; expires image/png 3s\n"
    "try .html .htm\n"
    "users www/pub deny root from 7\n"
    "path /~joe/doc { index k }\npath /~ann { alias /dev }\n"
    "path /all { root /dev; fallback /f; error * /s }\n"
    "path /one { alias /dev; index k; try .x }\n"
    "path /kept { expires image/* 4s; error 4xx /c; error 404 /m; error 403 /o }\n"
    "path /own { header Cache-Control no-cache }\n"
    "path /pack { compress on; precompressed br gzip; "
    "compressible a/b image/* }\n"
    "charset latin1 type image/* x type text/css off\n"
    "path /set { charset off type image/png y type text/css z }\n"
    "path /no { return 404; fallback /f; try off } }\n";

static const struct conf_rules *
rules_at(const struct conf *conf, const char *path)
{
	return conf_find_rules(&conf->sites[0], path, strlen(path));
}

static const struct {
	const char	*path, *root, *index;
	size_t		 skip;
} places[] = {
	{ "/x", "/tmp", "i", 0 }, { "/all/x", "/dev", "i", 0 },
	{ "/one/x", "/dev", "k", 4 }, { "/kept/x", "/tmp", "i", 0 },
	{ "/~joe/x", "www/pub", "i", 5 }, { "/~joe/", "www/pub", "i", 5 },
	{ "/~joe/doc/x", "www/pub", "k", 5 }, { "/a/~joe/x", "/tmp", "i", 0 },
	{ "/~ann/x", "/dev", "i", 5 }, { "/all/~joe", "/dev", "i", 0 },
};

START_TEST(place)
{
	struct conf		*conf = good(conf_text);
	const struct conf_rules	*rules = rules_at(conf, places[_i].path);
	size_t			 skip;

	ck_assert_str_eq(rules_root(rules, str_of(places[_i].path), &skip),
	    places[_i].root);
	ck_assert_uint_eq(skip, places[_i].skip);
	ck_assert_str_eq(rules_index(rules)->at[0], places[_i].index);
	conf_free(&conf);
}
END_TEST

/* Host and raw target, the name in the cache, and the name on disk; NULL: its
 * own name, in another root. */
static const struct {
	const char	*host, *raw, *name, *place;
} hosts[] = {
	{ "a.org", "/x", "/a.org/x", "/a.org/x" },
	{ "A.oRG", "/", "/a.org/", "/a.org/" },
	{ "127.0.0.1", "/%61//b/../c", "/127.0.0.1/%61//b/../c",
	    "/127.0.0.1/a/c" },
	{ "x-y", "/.well-known/x", "/x-y/.well-known/x",
	    "/x-y/.well-known/x" },
	{ "a.org", "/own/x", "/a.org/own/x", NULL },
	{ "a.org", "/as/x", "/a.org/as/x", NULL },
	{ "a.org", "/~joe/x", "/a.org/~joe/x", NULL },
	{ "", "/x", "//x", "" }, { ".", "/x", "//x", "" },
	{ "..", "/x", "//x", "" }, { ".a", "/x", "//x", "" },
	{ "a..b", "/x", "//x", "" }, { "a.", "/x", "//x", "" },
	{ "a/b", "/x", "//x", "" }, { "a_b", "/x", "//x", "" },
	{ "[::1]", "/x", "//x", "" }, { "a:80", "/x", "//x", "" },
	{ "a%2e", "/x", "//x", "" }, { "\xe9", "/x", "//x", "" },
	{ "@", "/x", "//x", "" }, { "`", "/x", "//x", "" },
};

START_TEST(place_of_host)
{
	struct conf		*conf = good("site a.org { listen *:80\n"
				    "root /tmp/%host; users www\n"
				    "path /own { root /dev }\n"
				    "path /as { alias /dev } }\n");
	struct http_loop	 http = { .caches = mem_zero(
				    sizeof(struct caches)) };
	struct pathname_cache	*paths = &http.caches->paths;
	struct clock		 clock = { .ms = 1 };
	struct buf		 b = { 0 };
	struct str		 name = rules_add_name(&b,
				    str_of(hosts[_i].host),
				    str_of(hosts[_i].raw));
	struct rules_place	 found;
	struct path_info	 info;
	struct path		*p;
	char			 decoded[JOB_PATH_MAX], text[JOB_PATH_MAX];

	http.clock = &clock;
	header_init(&http.caches->heads, 100000);
	pathname_init(paths, 100, &http.caches->heads);
	ck_assert_int_eq(name.len, strlen(hosts[_i].name));
	ck_assert_mem_eq(name.at, hosts[_i].name, name.len);
	p = pathname_add(paths, 0, name, rules_at(conf, hosts[_i].raw), false);
	ck_assert(str_same(rules_raw(p), str_of(hosts[_i].raw)));
	rules_decode(p, decoded);
	rules_locate(p, text, &found);
	if (hosts[_i].place == NULL) {
		ck_assert_str_ne(found.root, "/tmp");
		ck_assert_str_eq(found.name.at, hosts[_i].raw);
	} else if (hosts[_i].place[0] != '\0') {
		ck_assert_str_eq(found.root, "/tmp");
		ck_assert_str_eq(found.name.at, hosts[_i].place);
		ck_assert_uint_eq(found.skip, 0);
	} else {
		ck_assert(rules_resolve(&http, p, str_of(decoded)));
		path_info_get(paths, p, 0, &info);
		ck_assert_int_eq(info.why, WHY_HOST);
	}
	pathname_release(paths, &p);
	pathname_free(paths);
	header_free(&http.caches->heads);
	mem_drop(&http.caches);
	buf_free(&b);
	conf_free(&conf);
}
END_TEST

static const struct {
	const char	*path, *name;
	size_t		 n;
} behinds[] = {
	{ "/x", ".html", 2 }, { "/x/", "i", 2 }, { "/", "i", 2 },
	{ "/one/x", ".x", 1 }, { "/one/x/", "k", 1 }, { "/kept/x", ".html", 2 },
	{ "/no/x", "", 0 }, { "/no/x/", "i", 2 },
};

START_TEST(names_behind)
{
	struct conf		*conf = good(conf_text);
	const struct conf_words	*names = rules_names(rules_at(conf,
				    behinds[_i].path), behinds[_i].path);

	ck_assert_uint_eq(names->n, behinds[_i].n);
	if (names->n > 0)
		ck_assert_str_eq(names->at[0], behinds[_i].name);
	conf_free(&conf);
}
END_TEST

static const struct {
	const char	*path, *user;
} homes[] = {
	{ "/", "none" }, { "/~", "" }, { "/~/", "" }, { "/~joe", "joe" },
	{ "/~joe/", "joe" }, { "/~joe/~ann", "joe" }, { "/joe", "none" },
	{ "/~joe/doc/x", "joe" }, { "/~ann/x", "none" }, { "/a/~joe", "none" },
};

START_TEST(home)
{
	struct conf	*conf = good(conf_text);
	struct str	 user = rules_user(rules_at(conf, homes[_i].path),
			    str_of(homes[_i].path));

	if (user.at == NULL)
		user = STR("none");
	ck_assert(str_same(user, str_of(homes[_i].user)));
	conf_free(&conf);
	conf = good(SITE);
	user = rules_user(rules_at(conf, homes[_i].path),
	    str_of(homes[_i].path));
	ck_assert_ptr_null(user.at);
	conf_free(&conf);
}
END_TEST

/* A user's name begins with a letter and has a maximum length; no other name is
 * looked up. */
START_TEST(names_of_users)
{
	static const char	longest[] = "abcdefghijklmnopqrstuvwxyz.-$_01X";

	ck_assert(conf_user_is_valid("joe", 3));
	ck_assert(conf_user_is_valid("_a.b-c$", 7));
	ck_assert(conf_user_is_valid(longest, 32));
	ck_assert(!conf_user_is_valid(longest, 33));
	ck_assert(!conf_user_is_valid("", 0));
	ck_assert(!conf_user_is_valid("a\0b", 3));
	for (const char *c = "/ :,@%\\\"\t\x80"; *c != '\0'; c++) {
		char	name[] = { 'a', *c };

		ck_assert(!conf_user_is_valid(name, 2));
	}
	ck_assert(!conf_user_is_valid(".a", 2));
	ck_assert(!conf_user_is_valid("-a", 2));
	ck_assert(!conf_user_is_valid("$a", 2));
}
END_TEST

static const struct {
	const char	*path, *type;
	int64_t		 age;
} ages[] = {
	{ "/x", "text/html", 1 }, { "/x", "image/gif", 2 },
	{ "/x", "image/png", 3 }, { "/x", "IMAGE/PNG;x=y", 3 },
	{ "/x", "image/pngx", 2 }, { "/x", "imagex/png", 1 },
	{ "/kept", "image/png", 4 }, { "/kept", "image/gif", 4 },
	{ "/kept", "text/html", 1 }, { "/own", "text/html", -1 },
	{ "/own", "image/png", -1 },
};

START_TEST(age)
{
	struct conf	*conf = good(conf_text);

	ck_assert_int_eq(rules_max_age(rules_at(conf, ages[_i].path),
	    ages[_i].type), ages[_i].age);
	conf_free(&conf);
	conf = good(SITE);
	ck_assert_int_eq(rules_max_age(rules_at(conf, "/"), ages[_i].type), -1);
	conf_free(&conf);
}
END_TEST

/* Path, status, page; without one: NULL. */
static const struct {
	const char	*path;
	int		 status;
	const char	*page;
} pages[] = {
	{ "/x", 404, "/n" }, { "/x", 403, NULL },
	{ "/kept", 404, "/m" }, { "/kept", 403, "/o" }, { "/kept", 500, NULL },
	{ "/kept", 410, "/c" }, { "/all", 404, "/s" }, { "/all", 503, "/s" },
};

static const struct {
	const char	*path, *type, *charset;
} charsets[] = {
	{ "/", "text/html", "latin1" }, { "/", "text/css", NULL },
	{ "/", "image/png", "x" }, { "/", "video/mp4", NULL },
	{ "/", "text/html; charset=a", NULL },
	{ "/", "image/png;charset=a", NULL },
	{ "/set", "text/html", NULL }, { "/set", "text/css", "z" },
	{ "/set", "image/png", "y" }, { "/set", "image/gif", "x" },
	{ "/own", "TEXT/CSS", NULL }
};

START_TEST(charset_of_type)
{
	struct conf	*conf = good(conf_text);
	const char	*found = rules_charset(rules_at(conf,
			    charsets[_i].path), charsets[_i].type);

	ck_assert_pstr_eq(found, charsets[_i].charset);
	ck_assert_ptr_null(rules_charset(NULL, "text/html"));
	conf_free(&conf);
}
END_TEST

START_TEST(error_page)
{
	struct conf	*conf = good(conf_text);
	struct path	 path = {
		.rules = rules_at(conf, pages[_i].path)
	};
	struct request	*r = calloc(1, sizeof(*r));
	const char	*page;

	/* Before its site is known, before its path is, and then. */
	ck_assert_ptr_null(rules_error_page(r, 404));
	r->site = &conf->sites[0];
	ck_assert_str_eq(rules_error_page(r, 404), "/n");
	r->path = &path;
	page = rules_error_page(r, pages[_i].status);
	ck_assert_str_eq(page != NULL ? page : "none",
	    pages[_i].page != NULL ? pages[_i].page : "none");
	free(r);
	conf_free(&conf);
}
END_TEST

START_TEST(fallback)
{
	struct conf	*conf = good(conf_text);
	struct path	 path = { .rules = NULL };

	path.rules = rules_at(conf, "/all/x");
	ck_assert_str_eq(rules_fallback(&path, 404, WHY_ABSENT), "/f");
	ck_assert_ptr_null(rules_fallback(&path, 403, WHY_DENIED));
	ck_assert_str_eq(rules_fallback(&path, 403, WHY_NO_INDEX), "/f");
	path.rules = rules_at(conf, "/x");
	ck_assert_ptr_null(rules_fallback(&path, 404, WHY_ABSENT));
	path.rules = rules_at(conf, "/no");
	ck_assert_ptr_null(rules_fallback(&path, 404, WHY_ABSENT));
	conf_free(&conf);
}
END_TEST

static const struct {
	const char	*path, *type;
	bool		 is;
} compressible[] = {
	{ "/x", "text/html", true }, { "/x", "TEXT/x-c; charset=y", true },
	{ "/x", "application/json", true }, { "/x", "image/svg+xml", true },
	{ "/x", "image/png", false }, { "/x", "application/jsonx", false },
	{ "/x", "application/octet-stream", false }, { "/x", "texts/a", false },
	{ "/pack", "a/b", true }, { "/pack", "image/png", true },
	{ "/pack", "text/html", false }, { "/pack", "a/c", false },
};

START_TEST(gets_smaller)
{
	struct conf		*conf = good(conf_text);
	const struct conf_rules	*rules = rules_at(conf,
				    compressible[_i].path);
	bool			 own = rules->outer != NULL;

	ck_assert(rules_compressible(rules, compressible[_i].type) ==
	    compressible[_i].is);
	ck_assert_str_eq(rules_compress(rules)->at[0], own ? "on" : "off");
	ck_assert_uint_eq(rules_precompressed(rules)->n, own ? 2 : 1);
	ck_assert_str_eq(rules_precompressed(rules)->at[0],
	    own ? "br" : "off");
	conf_free(&conf);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, names_behind, 0, COUNT(behinds));
	tcase_add_loop_test(tests, place, 0, COUNT(places));
	tcase_add_loop_test(tests, place_of_host, 0, COUNT(hosts));
	tcase_add_loop_test(tests, home, 0, COUNT(homes));
	tcase_add_test(tests, names_of_users);
	tcase_add_loop_test(tests, age, 0, COUNT(ages));
	tcase_add_loop_test(tests, charset_of_type, 0, COUNT(charsets));
	tcase_add_loop_test(tests, error_page, 0, COUNT(pages));
	tcase_add_test(tests, fallback);
	tcase_add_loop_test(tests, gets_smaller, 0, COUNT(compressible));
}
