/*
 * Unit test of conf/run: which programs a path runs, by itself or as the block
 * around it, and what is wrong with "run" and "cgi".
 */
#include "conf/divide.h"
#include "t/unit/conf/confs.h"

#define PROGRAMS	"program php { command /bin/sh }\n"		\
			"program py { command /bin/cat }\n"		\
			"program dir { directory / }\n"			\
			"program own { fastcgi /bin/sh }\n"		\
			"program far { fastcgi unix:/a 127.0.0.1:9000 }\n" \
			"program scgi { scgi unix:/a }\n"

/* The blocks path of each stand in any order. */
static const char	tree[] = PROGRAMS
	"site x { listen *:80; root /; run php for *.php *.phtml; body 2M\n"
	"path /a { }\n"
	"path /a/all/b { body 3M }\n"
	"path /a/all { run py; body 4M }\n"
	"path /a/all/b/c { }\n"
	"path /a/all/off { run off }\n"
	"path /a/all/off/d { }\n"
	"path /a/all/none { run off\nbody 0 }\n"
	"path /a/allmost { run dir }\n"
	"path /cgi { cgi $ }\n"
	"path /cgi/e { }\n"
	"path /two { run py for *.py; run php for \"x y\" [ab].php }\n"
	"path /gone { return 410 }\n"
	"}\nsite y { listen *:80; root / }\n";

static struct conf *
good_tree(void)
{
	return good(tree);
}

static const struct conf_rules *
rules_of(const struct conf *conf, const char *path)
{
	return conf_find_rules(&conf->sites[0], path, strlen(path));
}

/* A path, the prefix whose programs it has, the program for each path, that for
 * a file, and the length of a body. */
static const struct {
	const char	*path, *from, *all, *file, *name;
	int64_t		 body;
} cases[] = {
	{ "/", "", NULL, "x.php", "php", 2 },
	{ "/", "", NULL, "x.phtml", "php", 2 },
	{ "/", "", NULL, ".php", "php", 2 },
	{ "/", "", NULL, "x.PHP", NULL, 2 },
	{ "/", "", NULL, "x.php5", NULL, 2 },
	{ "/a", "", NULL, "x.php", "php", 2 },
	{ "/a/all", "/a/all", "py", "x.php", NULL, 4 },
	{ "/a/all/b", "/a/all", "py", "x.php", NULL, 3 },
	{ "/a/all/b/c", "/a/all", "py", "x.php", NULL, 3 },
	{ "/a/all/off", "/a/all/off", NULL, "x.php", NULL, 4 },
	{ "/a/all/off/d", "/a/all/off", NULL, "x.php", NULL, 4 },
	{ "/a/all/none", "/a/all/none", NULL, "x.php", NULL, 0 },
	{ "/a/allmost", "/a/allmost", "dir", "x.php", NULL, 2 },
	{ "/cgi", "/cgi", "", "x.php", NULL, 2 },
	{ "/cgi/e/f", "/cgi", "", "x.php", NULL, 2 },
	{ "/two", "/two", NULL, "x.php", NULL, 2 },
	{ "/two", "/two", NULL, "a.php", "php", 2 },
	{ "/two", "/two", NULL, "x y", "php", 2 },
	{ "/two", "/two", NULL, "x.py", "py", 2 },
	{ "/gone", "", NULL, "x.php", "php", 2 },
};

static void
check_name(const struct conf_program *program, const char *name)
{
	if (name == NULL) {
		ck_assert_ptr_null(program);
		return;
	}
	ck_assert_ptr_nonnull(program);
	if (name[0] == '\0')
		ck_assert_ptr_null(program->name);
	else
		ck_assert_str_eq(program->name, name);
}

START_TEST(lists)
{
	struct conf			*conf = good_tree();
	const struct conf_rules		*r = rules_of(conf, cases[_i].path);
	const struct conf_program	*p;

	ck_assert_ptr_eq(r->run.from, rules_of(conf, cases[_i].from));
	ck_assert_uint_eq(r->run.from->prefix_len, strlen(cases[_i].from));
	ck_assert_ptr_eq(r->run.list, r->run.from->run.list);
	ck_assert_int_eq(r->run.body, cases[_i].body << 20);
	check_name(conf_program_of_all(r), cases[_i].all);
	check_name(conf_program_of_file(r, cases[_i].file), cases[_i].name);
	/* No program moves when one is added. */
	for (size_t i = 0; i < r->run.n; i++) {
		p = r->run.list[i].program;
		ck_assert_ptr_eq(p, &conf->programs[p->number]);
	}
	conf_free(&conf);
}
END_TEST

/* A path, the program that authorizes there, and the prefix of the block that
 * has set it. */
static const struct {
	const char	*path, *name, *from;
} authorizers[] = {
	{ "/", "own", "" },
	{ "/a", "own", "" },
	{ "/a/b", "far", "/a/b" },
	{ "/a/b/c", "far", "/a/b" },
	{ "/a/b/c/off", NULL, NULL },
	{ "/a/b/c/off/d", NULL, NULL },
	{ "/a/b/open", "own", "/a/b/open" },
	{ "/e", "own", "" },
};

/* A path has that of the block around it, whatever the order. */
START_TEST(authorizers_around)
{
	struct conf		*conf = good(PROGRAMS "site x { listen *:80\n"
				    "root /; authorize own; path /a { }\n"
				    "path /a/b/c/off { authorize off }\n"
				    "path /a/b/c { run php }\n"
				    "path /a/b/c/off/d { deny 10.0.0.1 }\n"
				    "path /a/b { authorize far }\n"
				    "path /a/b/open { authorize own }\n"
				    "path /e { auth off } }\n"
				    "site y { listen *:81; root /; "
				    "path /z { authorize own } }\n");
	const struct conf_guard	*g;

	g = &rules_of(conf, authorizers[_i].path)->guard;
	check_name(g->authorizer, authorizers[_i].name);
	if (authorizers[_i].name != NULL) {
		ck_assert(g->active);
		ck_assert_ptr_eq(g->authorize_from,
		    rules_of(conf, authorizers[_i].from));
	}
	ck_assert(!conf->sites[1].rules.guard.active);
	ck_assert(conf->sites[1].paths[0].rules.guard.active);
	conf_free(&conf);
}
END_TEST

/* Without any program there is a length all the same, within that of all
 * bodies. */
START_TEST(none)
{
	struct conf	*conf = good_tree();

	ck_assert_ptr_null(conf->sites[1].rules.run.from);
	ck_assert_uint_eq(conf->sites[1].rules.run.n, 0);
	ck_assert_int_eq(conf->sites[1].rules.run.body, 1 << 20);
	conf_free(&conf);
	conf = good("limits { body 1G; bodies 128K }\n" SITE);
	ck_assert_int_eq(conf->sites[0].rules.run.body, 128 << 10);
	conf_free(&conf);
	conf = good("limits { body 1G; spool /tmp max 512M }\n" SITE);
	ck_assert_int_eq(conf->sites[0].rules.run.body, 512 << 20);
	conf_free(&conf);
}
END_TEST

/* What is not kept is not limited by what may be kept, in a divided conf
 * either. */
START_TEST(streams)
{
	struct conf	*conf;

	conf = good("limits { bodies 1M }\n"
	    "program a { directory /; stream on }\n"
	    "program b { directory / }\n"
	    "site x { listen *:80; root /\n"
	    "path /a { run a; body 1G }\n"
	    "path /b { run b; body 512K } }\n");
	ck_assert_int_eq(rules_of(conf, "/a")->run.body, 1 << 30);
	ck_assert(conf_program_all_stream(rules_of(conf, "/a")));
	ck_assert(!conf_program_all_stream(rules_of(conf, "/b")));
	ck_assert(!conf_program_all_stream(&conf->sites[0].rules));
	conf_divide(conf, conf, 0, 100);
	ck_assert_int_eq(conf->limits.bodies, 1 << 20);
	conf_free(&conf);
}
END_TEST

/* Lines of a site behind six programs, and their errors, without what
 * stands in a line below each. */
static const struct {
	const char	*line, *want;
} bads[] = {
	{ "run",
	    "1: \"run\" needs a value\n" },
	{ "run php for",
	    "9: \"for\" needs a value\n" },
	{ "run for *.php",
	    "5: \"for\" stands behind what it is about\n" },
	{ "run pph for *.php",
	    "5: there is no program \"pph\": write program pph "
	    "{ command FILE }, outside of all blocks\n" },
	{ "run a/b for *.php",
	    "5: \"a/b\" is not a name for a program: 32 letters, digits, dots, "
	    "dashes and _ at most\n" },
	{ "run \"for\"",
	    "5: \"for\" has a meaning of its own behind \"run\": choose "
	    "another name\n" },
	{ "run php for a/*.php *.x",
	    "13: \"a/*.php\" is not a pattern of names: it is for the last "
	    "segment of a path, without a slash, as *.php\n" },
	{ "run php for \"\"",
	    "13: \"\" is not a pattern of names: it is for the last segment "
	    "of a path, without a slash, as *.php\n" },
	{ "run off for *.php",
	    "13: \"run off\" is for each path: leave \"for\" out\n" },
	{ "run php for *.php; run py for *.py *.php",
	    "36: there is a program for *.php already in this block\n" },
	{ "run php for *.php; run py",
	    "24: \"run py\" is for each path: it excludes other programs in "
	    "this block, or needs \"for\" and a pattern\n" },
	{ "run off; run py for *.py",
	    "5: \"run off\" is for each path: it excludes other programs in "
	    "this block\n" },
	{ "run dir for *.cgi",
	    "5: program dir has a directory, and each executable file there "
	    "is a program: leave \"for\" out\n" },
	{ "cgi /nope",
	    "5: /nope: No such file or directory\n" },
	{ "cgi /; cgi /",
	    "12: cgi is given twice: first at t.conf:11\n" },
	{ "cgi / x",
	    "7: unexpected \"x\" behind \"cgi\"\n" },
	{ "cgi /; run php for *.php",
	    "12: run and cgi exclude each other: cgi is given at t.conf:11\n" },
	{ "path /a { alias /; cgi / }",
	    "24: cgi and alias exclude each other: alias is given at "
	    "t.conf:11\n" },
	{ "path /a { run dir; alias / }",
	    "26: alias and run exclude each other: run is given at t.conf:11\n"
	    },
	{ "path /a { run php; redirect 301 /x }",
	    "29: redirect and run exclude each other: run is given at "
	    "t.conf:11\n" },
	{ "path /a { return 410; run php for *.php }",
	    "27: run and return exclude each other: return is given at "
	    "t.conf:11\n" },
	{ "path /a { cgi /; status on }",
	    "25: status and cgi exclude each other: cgi is given at "
	    "t.conf:11\n" },
	{ "path /a { cgi /; ready on }",
	    "24: ready and cgi exclude each other: cgi is given at "
	    "t.conf:11\n" },
	{ "authorize",
	    "1: \"authorize\" needs a value\n" },
	{ "authorize own far",
	    "15: unexpected \"far\" behind \"authorize\"\n" },
	{ "authorize own; authorize far",
	    "26: authorize is given twice: first at t.conf:11\n" },
	{ "authorize owm",
	    "11: there is no program \"owm\": write program owm "
	    "{ fastcgi FILE }, outside of all blocks\n" },
	{ "authorize a/b",
	    "11: \"a/b\" is not a name for a program: 32 letters, digits, "
	    "dots, dashes and _ at most\n" },
	{ "authorize php",
	    "11: program php cannot authorize: only programs of FastCGI can, "
	    "so it needs \"fastcgi\" and its file or server\n" },
	{ "path /a { authorize dir }",
	    "21: program dir cannot authorize: only programs of FastCGI can, "
	    "so it needs \"fastcgi\" and its file or server\n" },
	{ "path /a { authorize scgi }",
	    "21: program scgi cannot authorize: only programs of FastCGI can, "
	    "so it needs \"fastcgi\" and its file or server\n" },
	{ "body 65M",
	    "6: body is more than limits bodies, which is 64M for all requests "
	    "together: raise that, or name a directory for bodies by limits "
	    "spool\n" },
	{ "body 65M; }\nlimits { spool /tmp max 64K",
	    "6: body is more than limits bodies, which is 64M for all requests "
	    "together: raise that\n" },
	{ "body 2G; }\nlimits { spool /tmp",
	    "6: body is more than limits spool max, which is 1G for all "
	    "requests together: raise that\n" },
	{ "}\nsite b { listen *:81; redirect 301 http://c/; "
	    "path /a { cgi / }",
	    "61: cgi is without effect here: the site's redirect comes before "
	    "it; write a root in this path\n" },
	{ "}\nsite b { listen *:81; return 403; path /a { run php for x }",
	    "49: run is without effect here: the site's return comes before "
	    "it; write a root in this path\n" },
};

/* Errors without files and lines, and without the lines below them. */
static void
shorten(const char *all, struct buf *to)
{
	for (; *all != '\0'; all = strchr(all, '\n') + 1) {
		if (strncmp(all, "t.conf:", 7) != 0)
			continue;
		all = strchr(all + 7, ':') + 1;
		for (const char *c = all; *c != '\n'; c++)
			buf_addc(to, *c);
		buf_addc(to, '\n');
	}
}

START_TEST(bad_lines)
{
	struct buf	text = { 0 }, found = { 0 };

	buf_addf(&text, PROGRAMS "site a {\nlisten *:80\nroot /\n%s\n}\n",
	    bads[_i].line);
	ck_assert_ptr_null(read_conf(buf_string(&text)));
	shorten(buf_string(&errors), &found);
	ck_assert_str_eq(buf_string(&found), bads[_i].want);
	buf_free(&text);
	buf_free(&found);
}
END_TEST

static const char *const goods[] = {
	"run php", "run off", "run php for *.php; path /a { run off }",
	"path /a { alias /; run php for *.php }",
	"path /a { root /; cgi / }", "path /a { run dir; root / }",
	"path /a { return 410; run off }", "path /a { cgi /; status off }",
	"run php for *.php; path /a { redirect 301 /x }",
	"run php for for \"off\" \"{x,y}\"", "body 64M", "body 0",
	"authorize own; path /a { authorize off }",
	"authorize off; path /a { authorize far; return 410 }",
	"path /a { authorize own; run own }",
	("}\nsite b { listen *:81; redirect 301 http://c/; run off\n"
	"path /a { root /; run py }"),
};

START_TEST(good_lines)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_addf(&text, PROGRAMS "site a {\nlisten *:80\nroot /\n%s\n}\n",
	    goods[_i]);
	conf = good(buf_string(&text));
	conf_free(&conf);
	buf_free(&text);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, lists, 0, COUNT(cases));
	tcase_add_loop_test(tests, authorizers_around, 0, COUNT(authorizers));
	tcase_add_test(tests, none);
	tcase_add_test(tests, streams);
	tcase_add_loop_test(tests, bad_lines, 0, COUNT(bads));
	tcase_add_loop_test(tests, good_lines, 0, COUNT(goods));
}
