/*
 * Unit test of conf/foreign: each word of the table gets its advice, and no
 * advice names a word that amped's conf does not have.
 */
#include <ctype.h>

#include "conf/table.h"
#include "t/unit/conf/confs.h"

static const struct {
	const char	*directive, *word, *server, *advice;
} rows[] = {
#define FOREIGN(directive, word, server, advice)			\
	{ directive, word, server, advice },
#define FOREIGN_BLOCK(word, block)
#define FOREIGN_FIELD(name, field)
#include "conf/foreign.tbl"
#undef FOREIGN_FIELD
#undef FOREIGN_BLOCK
#undef FOREIGN
};

/* Whether a word stands for a place, not for a directive. */
static bool
is_place(const char *directive)
{
	return strcmp(directive, "in site") == 0 ||
	    strcmp(directive, "at top") == 0;
}

/* A statement that has the word, and the words behind it as an advice has
 * them. */
static void
add_statement(int i, struct buf *to)
{
	const char	*directive = rows[i].directive;

	if (is_place(directive))
		directive = "";
	if (strcmp(directive, "trust") == 0)
		buf_adds(to, "}\n");
	else if (strcmp(directive, "root") == 0)
		buf_adds(to, "path /z {\n");
	buf_addf(to, "%s %s", directive, rows[i].word);
	if (strcmp(directive, "path") == 0)
		buf_adds(to, " x { }");
	else if (strcmp(directive, "header") == 0 || isupper(directive[0]))
		buf_adds(to, " $2 $3 $4");
	if (strcmp(directive, "trust") == 0)
		buf_adds(to, "\nsite b {\n");
	else if (strcmp(directive, "root") == 0)
		buf_adds(to, "\n}\n");
}

START_TEST(each_word)
{
	bool		 is_behind = rows[_i].directive[0] != '\0' &&
			    rows[_i].server[0] != '\0' &&
			    !is_place(rows[_i].directive);
	bool		 in_site = rows[_i].directive[0] != '\0' &&
			    strcmp(rows[_i].directive, "at top") != 0;
	struct buf	 text = { 0 };
	char		*place;

	buf_addf(&text, "user %s\n%s", me(), in_site ? "site a.org {\n"
	    "listen *:80\nroot /\n" : "");
	add_statement(_i, &text);
	buf_addf(&text, "\n%s\n", in_site ? "}" : "");
	ck_assert_ptr_null(conf_read_text("t.conf", buf_string(&text),
	    &errors));
	text.len = 0;
	if (rows[_i].server[0] != '\0')
		buf_addf(&text, ": \"%s\" is a word of %s: ",
		    is_behind ? rows[_i].directive : rows[_i].word,
		    rows[_i].server);
	else
		buf_addf(&text, ": \"%s\" behind \"%s\": ", rows[_i].word,
		    rows[_i].directive);
	ck_assert_msg(strstr(buf_string(&errors), buf_string(&text)) != NULL,
	    "%s", buf_string(&errors));
	text.len = 0;
	buf_addf(&text, "%s\n", rows[_i].advice);
	place = strstr(buf_string(&text), "$1");
	if (place != NULL)		/* the only such word is a path */
		memcpy(place, rows[_i].word, 2);
	ck_assert_msg(strstr(buf_string(&errors), buf_string(&text)) != NULL,
	    "%s", buf_string(&errors));
	buf_free(&text);
}
END_TEST

/* A statement, in a site or outside, and what is said of it. */
static const struct {
	bool		 in_site;
	const char	*text, *want;
} statements[] = {
	{ true, "CustomLog /x combined", "Apache: write access FILE FORMAT" },
	{ false, "CustomLog /x combined", "Apache: write log { access FILE }" },
	{ true, "access_log off;", "nginx: write access off, in block log" },
	{ true, "log off", "Caddy: write access off, in block log" },
	{ false, "sendfile on;", "nginx: leave it out" },
	{ true, "gzip off;", "nginx: write compress off" },
	{ false, "gzip on;", "nginx: in a site or path, write compress on" },
	{ true, "gzip on;", "nginx: write compress on" },
	{ false, "bind /x", "Caddy: in a site, write listen ADDRESS:PORT" },
	{ true, "location ~ \\.php$ {\n}", "nginx: write run NAME for *.php" },
	{ true, "location = /x {\n}", "nginx: write path /PREFIX" },
	{ true, "rewrite ^ /index.php last;", "is no file to a program" },
	{ true, "rewrite ^/a /b permanent;", "nginx: write redirect 301" },
	{ true, "RewriteRule ^ /index.php [L]", "is no file to a program" },
	{ true, "RewriteRule ^a /b [R=301,L]", "Apache: write redirect 301" },
	{ true, "Directory /x {\n}", "Apache: write path /PREFIX" },
	{ true, "limit_except GET {\n}", "nginx: leave it out" },
	{ true, "etag on;", "leave it out: each file has a tag" },
	{ true, "access_log /x;", "nginx: write access FILE FORMAT" },
	{ true, "path /a { log }", "Caddy: write access FILE FORMAT" },
	{ true, "Require ip 10.0.0.0/8", "Apache: write allow NETWORK ..." },
	{ true, "Require not ip 10.0.0.0/8", "Apache: write deny NETWORK ..." },
	{ true, "Require all granted", "Apache: write allow all" },
	{ true, "REQUIRE ALL DENIED", "Apache: write deny all" },
	{ true, "Redirect permanent /old /new",
	    "Apache: write path /old { redirect 301 /new }" },
	{ true, "Redirect /old https://b.org/",
	    "Apache: write path /old { redirect 302 https://b.org/ }" },
	{ true, "Redirect permanent",
	    "Apache: write path /OLD { redirect 302 TARGET }" },
	{ true, "redirect permanent /old /new",
	    "write path /OLD { redirect 301 TARGET }" },
	{ true, "Header always set X-A \"b c\"",
	    "Apache: write header X-A \"b c\" always" },
	{ true, "Header set X-A b", "Apache: write header X-A b" },
	{ true, "Alias /x /srv/x", "Apache: write path /x { alias /srv/x }" },
	{ true, "Allow from 10.1", "Apache: write allow 10.1" },
	{ true, "</VirtualHost>", "Apache: a block ends with }" },
	{ true, "@x path /y", "Caddy: amped has no matchers: write path /PREFIX" },
	{ true, "header /api/* X-A b", "\"/api/*\" is not a field's name: write "
	    "path /PREFIX { header NAME VALUE }" },
	{ true, "header -Server", "\"-Server\" is not a field's name: write "
	    "header remove NAME, in a path" },
	{ true, "header -Server x", "write header remove NAME, in a path" },
	{ true, "header +X-A b", "write header add NAME VALUE" },
	{ true, "header always X b", "\"always\" behind \"header\": it stands "
	    "behind the value: write header NAME VALUE always" },
	{ true, "header unset X b", "write header remove NAME, in a path" },
	{ true, "path /z { root * /srv }", "\"*\" behind \"root\": write root DIRECTORY" },
	{ true, "require staff", "\"staff\" behind \"require\": write require "
	    "user NAME, or require group NAME" },
	{ true, "require valid-user", "auth alone lets in each user of its "
	    "file: leave require out" },
	{ true, "listen *:80 proxy_protocol",
	    "write listen ADDRESS:PORT proxy" },
	{ true, "listen unix:/s proxy", "trust unix:, say" },
	{ false, "trust private_ranges", "write trust 10.0.0.0/8 172.16.0.0/12" },
	{ false, "trust proxies", "\"proxies\": proxies are written as an "
	    "address, as 192.0.2.0/24, 2001:db8::/32, or unix:" },
	{ false, ":9201 { }", "\":9201\" begins a site of Caddy: write site "
	    "default { listen 127.0.0.1:9201 ... }" },
	{ false, "localhost:81 { }",
	    "write site default { listen 127.0.0.1:81 ... }" },
	{ false, "http://a.org:82 { }",
	    "write site a.org { listen *:82 ... }" },
	{ false, "a.org, b.org {\n}", "write site a.org { listen *:80 ... }" },
	{ true, "header \"A: b\"", "write header A \"b\"" },
	{ true, "header A: b", "\"A:\" is not a field's name: write it without "
	    "the colon" },
	{ true, "path /a { internal; }", "\"internal\" needs a value: on or off" },
	{ true, "expires max", "\"expires\": write expires */* 365d" },
	{ true, "path /a { redirect https://b.org/ }", "a status comes first: "
	    "write redirect 301 https://b.org/" },
	{ true, "path /a { redirect 300 /b }",
	    "\"300\" is not one of 301, 302, 303, 307, 308" },
	{ true, "listing html hide x", "4:14: \"hide\" begins a statement: "
	    "write ; before it" },
	{ false, "site b { listen *:80 root / index x }", "2:22: \"root\" begins "
	    "a statement: write ; before it" },
	{ false, "cache { heads 1M paths 7 }", "2:18: \"paths\" begins a "
	    "statement: write ; before it" },
	{ false, "SITE a.org { }", "did you mean \"site\"?" },
	{ false, "site .b.org { listen *:81; root / }",
	    "t.conf:2:6: \".b.org\" is not a site's name: for a name and all "
	    "that end like it, write site example.org *.example.org" },
	{ false, "site a.org _ { listen *:81; root / }",
	    "t.conf:2:12: \"_\" is not a site's name: for all other names, "
	    "write site default" },
	{ false, "site *..org { listen *:81; root / }",
	    "\"*..org\" is not a site's name" },
};

START_TEST(whole_statements)
{
	struct buf	 text = { 0 };

	buf_addf(&text, "%s%s\n%s", statements[_i].in_site ? "site a.org {\n"
	    "listen *:81; root /\n" : "", statements[_i].text,
	    statements[_i].in_site ? "}\n" : SITE);
	ck_assert_ptr_null(read_conf(buf_string(&text)));
	ck_assert_msg(strstr(buf_string(&errors), statements[_i].want) != NULL,
	    "%s", buf_string(&errors));
	/* One error, and not also what follows from it. */
	ck_assert_msg(strstr(strstr(buf_string(&errors), "t.conf:") + 1,
	    "\nt.conf:") == NULL, "%s", buf_string(&errors));
	buf_free(&text);
}
END_TEST

/* What is in a block of another server is read, too. */
static const struct {
	const char	*text, *want;
} within[] = {
	{ "http {\nserver {\nlistn *:80\nlocation /a {\nalis /x\n}\n}\n}\n",
	    "2:1 3:1 4:1 5:1 6:1 " },
	{ "server {\nlisten 80;\naccess_log /x;\n}\n", "2:1 3:8 4:1 " },
	{ ":9201 {\nroot * /x\nfile_server {\nbrowse\n}\n}\n",
	    "2:1 3:6 4:1 5:1 " },
	{ "events {\nworker_connections 9;\n}\ncach { heds 1M }\n",
	    "2:1 3:1 5:1 5:8 " },
	{ "sit a {\nindx x\n}\n", "2:1 3:1 " },
	{ "handle /x {\nserver {\nlocation /y {\n}\n}\n}\n", "2:1 3:1 4:1 " },
	{ SITE "site b {\nserver {\nlocation /x {\nlocation /y {\n"
	    "listing no\n}\n}\n}\npath /p {\nfils *.c { type x }\n}\n}\n",
	    "7:1 8:1 9:1 10:9 15:1 " },
	{ "map a b {\nx y\n}\n", "2:1 " },
};

START_TEST(within_blocks)
{
	struct buf	 places = { 0 };
	const char	*at;

	ck_assert_ptr_null(read_conf(within[_i].text));
	for (at = buf_string(&errors); at != NULL; at = strchr(at, '\n')) {
		at += at[0] == '\n';
		if (strncmp(at, "t.conf:", 7) == 0)
			buf_addf(&places, "%.*s ", (int)strcspn(at + 7, " ") - 1,
			    at + 7);
	}
	ck_assert_str_eq(buf_string(&places), within[_i].want);
	buf_free(&places);
}
END_TEST

/* Copies a word up to a blank. */
static void
copy_word(char word[64], const char *from)
{
	snprintf(word, 64, "%.*s", (int)strcspn(from, " ,"), from);
}

/* Whether amped has such a word outside of the blocks without arguments. */
static bool
is_directive(const char *word)
{
	enum conf_block	block;

	return conf_row_find_word(word, BLOCK_TOP) != NULL ||
	    conf_row_find_word(word, BLOCK_SITE) != NULL ||
	    conf_row_find_word(word, BLOCK_PATH) != NULL ||
	    strcmp(word, "include") == 0 ||
	    conf_block_find(word, BLOCK_SITE, &block) ||
	    conf_block_find(word, BLOCK_TOP, &block);
}

START_TEST(own_words)
{
	const char	*advice = rows[_i].advice;
	char		 word[64], inner[64];
	enum conf_block	 block;

	if (strncmp(advice, "write ", 6) != 0)
		return;
	copy_word(word, advice + 6);
	ck_assert_msg(is_directive(word), "%s", advice);
	if (!conf_block_find(word, BLOCK_TOP, &block) ||
	    conf_blocks[block].arguments != ARGUMENTS_NONE)
		return;
	ck_assert_ptr_nonnull(strstr(advice, "{ "));
	copy_word(inner, strstr(advice, "{ ") + 2);
	ck_assert_msg(conf_row_find_word(inner, block) != NULL, "%s", advice);
}
END_TEST

START_TEST(byte_order_mark)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_addf(&text, "\xef\xbb\xbfuser %s\n" SITE, me());
	conf = conf_read_text("t.conf", buf_string(&text), &errors);
	ck_assert_msg(conf != NULL, "%s", buf_string(&errors));
	conf_free(&conf);
	buf_free(&text);
	ck_assert_ptr_null(conf_read_text("t.conf", "\xef\xbb\xbfversio off\n",
	    &errors));
	ck_assert_msg(strstr(buf_string(&errors), "t.conf:1:1: unknown word "
	    "\"versio\"\n    versio off\n    ^~~~~~ did you mean "
	    "\"version\"?\n") != NULL, "%s", buf_string(&errors));
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, each_word, 0, COUNT(rows));
	tcase_add_loop_test(tests, whole_statements, 0, COUNT(statements));
	tcase_add_loop_test(tests, within_blocks, 0, COUNT(within));
	tcase_add_loop_test(tests, own_words, 0, COUNT(rows));
	tcase_add_test(tests, byte_order_mark);
}
