/*
 * Unit test of conf/where: directives in force, and their places.
 */
#include "conf/where.h"
#include "t/unit/conf/confs.h"

/* The first line of this text is line 2 of the conf. */
static const char text[] =
    "limits {\nbody 2M\n}\n"
    "site a.org *.b.org {\nlisten *:80\nroot /\n"		/* 5 to 7 */
    "error 404 /n; error 403 /f\nerror 410 /g\nindex i j\n"
    "path /p {\n"					/* 11 */
    "return 410\nerror 404 /m\n}\n"
    "path /q { redirect 302 /x\n}\n}\n";

static const struct {
	const char	*path, *directive;
	size_t		 element;
	const char	*want;			/* NULL: it is not in force */
} cases[] = {
	{ "/p", "return", CONF_WHERE_ALL, "return 410 (t.conf:12)" },
	{ "/x", "return", CONF_WHERE_ALL, NULL },
	{ "/q", "redirect", CONF_WHERE_ALL, "redirect 302 /x (t.conf:15)" },
	{ "/p", "error", 0, "error 404 /m (t.conf:13)" },
	{ "/x", "error", 1, "error 403 /f (t.conf:8)" },
	{ "/q", "error", 2, "error 410 /g (t.conf:9)" },
	{ "/q", "index", CONF_WHERE_ALL, "index i j (t.conf:10)" },
	{ "/q", "listing", CONF_WHERE_ALL, "listing off (default)" },
	{ "/q", "limits body", CONF_WHERE_ALL, "limits body 2M (t.conf:3)" },
	{ "/q", "limits line", CONF_WHERE_ALL, "limits line 8K (default)" },
	{ NULL, "limits body", CONF_WHERE_ALL, "limits body 2M (t.conf:3)" },
	{ NULL, "helpers", CONF_WHERE_ALL, "helpers 2 (default)" },
	{ "/q", "body", CONF_WHERE_ALL, NULL },
	{ "/q", "fallback", CONF_WHERE_ALL, NULL },
	{ "/q", "nothing", CONF_WHERE_ALL, NULL },
};

static const struct conf_rules *
rules_at(const struct conf *conf, const char *path)
{
	return path == NULL ? NULL :
	    conf_find_rules(&conf->sites[0], path, strlen(path));
}

START_TEST(directives)
{
	struct conf	*conf = good(text);
	struct buf	 where = { 0 };
	bool		 found;

	found = conf_where(conf, rules_at(conf, cases[_i].path),
	    cases[_i].directive, cases[_i].element, &where);
	ck_assert_int_eq(found, cases[_i].want != NULL);
	ck_assert_str_eq(buf_string(&where),
	    found ? cases[_i].want : "");
	buf_free(&where);
	conf_free(&conf);
}
END_TEST

START_TEST(blocks)
{
	struct conf	*conf = good(text);
	struct buf	 where = { 0 };

	conf_where_block(conf, rules_at(conf, "/x"), &where);
	conf_where_block(conf, rules_at(conf, "/p/x"), &where);
	ck_assert_str_eq(buf_string(&where), " (t.conf:5) (t.conf:11)");
	buf_free(&where);
	conf_free(&conf);
}
END_TEST

/* A conf without a user in force. */
START_TEST(no_user)
{
	struct conf	*conf = good(text);
	struct buf	 where = { 0 };
	char		*user = conf->user;

	conf->user = NULL;
	ck_assert(!conf_where(conf, NULL, "user", CONF_WHERE_ALL, &where));
	ck_assert_uint_eq(where.len, 0);
	conf->user = user;
	conf_free(&conf);
}
END_TEST

static const struct {
	const char	*host, *name;
} names[] = {
	{ "a.org", "a.org" }, { "A.Org.", "a.org" }, { "x.b.org", "*.b.org" },
	{ "x.y.b.org", "*.b.org" }, { "b.org", NULL }, { "z", NULL },
	{ "", NULL }, { NULL, NULL },
};

START_TEST(site_names)
{
	struct conf	*conf = good(text);
	const char	*host = names[_i].host;
	const char	*got = conf_find_site_name(conf, 0, host,
			    host != NULL ? strlen(host) : 0);

	if (names[_i].name == NULL)
		ck_assert_ptr_null(got);
	else
		ck_assert_str_eq(got, names[_i].name);
	conf_free(&conf);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, directives, 0, COUNT(cases));
	tcase_add_test(t, blocks);
	tcase_add_test(t, no_user);
	tcase_add_loop_test(t, site_names, 0, COUNT(names));
}
