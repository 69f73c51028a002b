/*
 * Unit test of conf/log_format: the items of a format, and errors with their
 * places.
 */
#include <stdarg.h>

#include "lib/facility.h"
#include "t/unit/conf/confs.h"

/* Items as text: the literal, then <number:argument>. */
static const char *
print_format(const struct conf_log_format *f)
{
	static char	text[1000];
	char		*to = text;

	for (size_t i = 0; i < f->n; i++) {
		to += sprintf(to, "%.*s", (int)f->items[i].len,
		    f->items[i].literal);
		if (f->items[i].field != LINE_NO_FIELD)
			to += sprintf(to, "<%d:%s>", f->items[i].field,
			    f->items[i].argument != NULL ?
			    f->items[i].argument : "");
	}
	return text;
}

static void
check_format(const char *text, const char *expected, ...)
{
	struct conf_log_format		f;
	struct conf_log_error		error;
	char				all[1000];
	va_list				ap;

	va_start(ap, expected);
	vsnprintf(all, sizeof(all), expected, ap);
	va_end(ap);
	ck_assert(conf_log_format_parse(&f, text, false, &error));
	ck_assert_str_eq(print_format(&f), all);
	conf_log_format_free(&f);
}

START_TEST(items)
{
	check_format("", "\n");
	check_format("text", "text\n");
	check_format("100%%", "100%%\n");
	check_format("%%%h%%", "%%<%d:>%%\n", LINE_PEER);
	check_format("%h %l %u", "<%d:> - <%d:>\n", LINE_PEER, LINE_USER);
	check_format("%s%>s%<s", "<%d:><%d:><%d:>\n", LINE_STATUS, LINE_STATUS,
	    LINE_STATUS);
	check_format("%t%{sec}t%{SEC}t%{%H:%M}t",
	    "<%d:><%d:sec><%d:SEC><%d:%%H:%%M>\n", LINE_TIME, LINE_SECONDS,
	    LINE_SECONDS, LINE_DATE);
	check_format("%{referer}i%{user-AGENT}i%{Cookie}i",
	    "<%d:referer><%d:user-AGENT><%d:Cookie>\n", LINE_REFERER,
	    LINE_USER_AGENT, LINE_FIELD);
	check_format("%T%{s}T%{ms}T%{us}T%D",
	    "<%d:><%d:s><%d:ms><%d:us><%d:>\n", LINE_DURATION, LINE_DURATION_S,
	    LINE_DURATION_MS, LINE_DURATION_US, LINE_MICROSECONDS);
	/* A literal longer than an item's. */
	check_format("0123456789abcdef0123456789abcdef0%h!",
	    "0123456789abcdef0123456789abcdef0<%d:>!\n", LINE_PEER);
	check_format("0123456789abcdef%h", "0123456789abcdef<%d:>\n",
	    LINE_PEER);
}
END_TEST

START_TEST(errors_in_formats)
{
	static const struct {
		const char	*text;
		size_t		 at, len;
		const char	*why;
	} bad[] = {
		{ "%", 0, 1, "there is no such field" },
		{ "%h %y", 3, 2, "there is no such field" },
		{ "%h %", 3, 1, "there is no such field" },
		{ "%>", 0, 2, "there is no such field" },
		{ "%!200s", 0, 6, "there is no such field" },
		{ "%{X", 0, 3, "there is no such field" },
		{ "%{X}", 0, 4, "there is no such field" },
		{ "%i", 0, 2, "this field needs a {word}" },
		{ "a%{}i", 1, 4, "this field does not take that word" },
		{ "%{x}h", 0, 5, "this field does not take that word" },
		{ "%{d}T", 0, 5, "this field does not take that word" },
		{ "a\tb", 1, 1, "a control byte" },
		{ "[$time_local] $status", 1, 11,
		    "this is a variable of nginx: write %t, which has "
		    "brackets" },
		{ "$ $$date %h $status\"", 12, 7,
		    "this is a variable of nginx: write %>s" },
	};
	struct conf_log_format		f;
	struct conf_log_error		error;

	for (int i = 0; i < COUNT(bad); i++) {
		ck_assert_msg(!conf_log_format_parse(&f, bad[i].text, false,
		    &error), "%s", bad[i].text);
		ck_assert_msg(strcmp(error.why, bad[i].why) == 0, "%s: %s",
		    bad[i].text, error.why);
		ck_assert_uint_eq(error.at, bad[i].at);
		ck_assert_uint_eq(error.len, bad[i].len);
		ck_assert_uint_eq(f.n, 0);
		ck_assert_ptr_null(f.items);
	}
}
END_TEST

/* A format whose lines may be longer than CONF_LOG_LINE_MAX. */
START_TEST(too_long)
{
	char				text[CONF_LOG_LINE_MAX + 2];
	struct conf_log_format		f;
	struct conf_log_error		error;

	memset(text, 'x', sizeof(text));
	text[CONF_LOG_LINE_MAX] = '\0';
	ck_assert(conf_log_format_parse(&f, text, false, &error));
	conf_log_format_free(&f);
	text[CONF_LOG_LINE_MAX] = 'x';
	text[CONF_LOG_LINE_MAX + 1] = '\0';
	ck_assert(!conf_log_format_parse(&f, text, false, &error));
	ck_assert_str_eq(error.why, "the format is too long");
	/* A short text with long lines. */
	for (int i = 0; i < 300; i += 2)
		memcpy(text + i, "%h", 2);
	text[300] = '\0';
	ck_assert(!conf_log_format_parse(&f, text, false, &error));
}
END_TEST

/* Each format of each target is one log; targets are numbered. */
START_TEST(of_sites)
{
	struct conf			*conf;
	const struct conf_access_logs	*all;
	const struct conf_rules		*site, *a, *b, *c;

	conf = good("log { access $/a mine; format mine \"%v\" }\n"
	    "site a { listen *:80; root /; access $/b json\n"
	    "path /a { access off }; path /b { access $/a }\n"
	    "path /c { charset off } }\n"
	    "site b { listen *:80; root /; path /c { access $/b json } }\n");
	all = &conf->log.all;
	ck_assert_uint_eq(all->ntargets, 2);
	ck_assert_uint_eq(all->n, 3);
	site = &conf->sites[0].rules;
	a = conf_find_rules(&conf->sites[0], "/a", 2);
	b = conf_find_rules(&conf->sites[0], "/b", 2);
	c = conf_find_rules(&conf->sites[0], "/c", 2);
	ck_assert_uint_eq(site->log->target, 1);
	ck_assert(site->log->line.json);
	ck_assert_ptr_null(a->log);
	ck_assert_uint_eq(b->log->target, 0);
	ck_assert_str_eq(b->log->name, "json");		/* the site's */
	ck_assert_ptr_eq(c->log, site->log);
	ck_assert_ptr_eq(conf->sites[1].rules.log, all->at[0]);
	ck_assert_ptr_eq(conf_find_rules(&conf->sites[1], "/c", 2)->log,
	    site->log);
	ck_assert_ptr_null(conf_find_only_log(conf));
	conf_free(&conf);
	conf = good("log { access $/a }\nsite a { listen *:80; root /\n"
	    "path /a { access $/a } }\n");
	ck_assert_ptr_eq(conf_find_only_log(conf), conf->log.all.at[0]);
	ck_assert_ptr_eq(conf->sites[0].paths[0].rules.log,
	    conf->log.all.at[0]);
	conf_free(&conf);
	conf = good("log { access $/a }\nsite a { listen *:80; root /\n"
	    "path /a { access off } }\n");
	ck_assert_ptr_null(conf_find_only_log(conf));
	conf_free(&conf);
	conf = good("log { access off }\nsite a { listen *:80; root /\n"
	    "access $/a }\n");
	ck_assert_ptr_null(conf_find_only_log(conf));
	ck_assert_uint_eq(conf->sites[0].rules.log->target, 0);
	conf_free(&conf);
}
END_TEST

START_TEST(in_a_conf)
{
	struct conf	*conf;

	conf = good("log { access $/a mine; format mine \"%v \\\"%r\\\"\" }\n"
	    SITE);
	ck_assert_str_eq(conf->log.access_format, "mine");
	ck_assert_uint_eq(conf->log.all.at[0]->line.n, 3);
	ck_assert(!conf->log.all.at[0]->line.json);
	conf_free(&conf);
	conf = good("log { format json mine \"{%s}\"; access $/a mine }\n"
	    SITE);
	ck_assert(conf->log.all.at[0]->line.json);
	conf_free(&conf);
	conf = good("log { access $/a json }\n" SITE);
	ck_assert(conf->log.all.at[0]->line.json);
	ck_assert_uint_gt(conf->log.all.at[0]->line.n, 19);
	conf_free(&conf);
	conf = good("log { access \"|/bin/cat -u\" vcombined facility local3 "
	    "tag web; error syslog:/a/b info }\n" SITE);
	ck_assert_str_eq(conf->log.access.to, "|/bin/cat -u");
	ck_assert_int_eq(conf->log.access.facility, FACILITY_LOCAL3);
	ck_assert_str_eq(conf->log.access.tag, "web");
	ck_assert_str_eq(conf->log.error.to, "syslog:/a/b");
	conf_free(&conf);
}
END_TEST

/* A bad log block, and its errors; line 1 is "user". */
START_TEST(bad_conf)
{
	static const struct {
		const char	*text, *want;
	} bad[] = {
		{ "log { format mine \"\\\"%r\\\" \\\\ %y\" }\n" SITE,
		    "t.conf:2:30: \"%y\": there is no such field\n"
		    "    log { format mine \"\\\"%r\\\" \\\\ %y\" }\n"
		    "                                 ^~\n" },
		{ "log { format json \"%h\" }\n" SITE,
		    "t.conf:2:19: \"%h\" needs a value\n" },
		{ "log { format common \"%h\" }\n" SITE,
		    "t.conf:2:14: there is a format \"common\" already\n" },
		{ "log { format a \"%h\"; format json a \"%h\" }\n" SITE,
		    "t.conf:2:34: there is a format \"a\" already\n" },
		{ "log { format \"a b\" \"%h\" }\n" SITE,
		    "t.conf:2:14: \"a b\" is not a name for a format" },
		{ "log { access /tmp/a combned }\n" SITE,
		    "t.conf:2:21: there is no format \"combned\", but common" },
		{ "log { access syslogx }\n" SITE,
		    "t.conf:2:14: \"syslogx\": behind syslog there is" },
		{ "log { access syslog common facility local9 }\n" SITE,
		    "t.conf:2:37: \"local9\" is not one of user" },
		{ "log { error syslog info tag \"a b\" }\n" SITE,
		    "t.conf:2:29: a tag has 32 letters" },
		{ "log { access |cat }\n" SITE,
		    "t.conf:2:14: a program is named from / on" },
		{ "log { access \"|/no/such -x\" }\n" SITE,
		    "t.conf:2:14: cannot run /no/such: No such file" },
	};

	for (int i = 0; i < COUNT(bad); i++) {
		ck_assert_ptr_null(read_conf(bad[i].text));
		ck_assert_msg(strncmp(buf_string(&errors), bad[i].want,
		    strlen(bad[i].want)) == 0, "%s", errors.at);
	}
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, items);
	tcase_add_test(tests, errors_in_formats);
	tcase_add_test(tests, too_long);
	tcase_add_test(tests, in_a_conf);
	tcase_add_test(tests, of_sites);
	tcase_add_test(tests, bad_conf);
}
