/*
 * Unit test of conf/dump: the table as a list, each bound in it, and a conf
 * as text again.
 */
#include <inttypes.h>

#include "conf/strategies.h"
#include "t/unit/conf/confs.h"

/* The output of a function; the caller frees it. */
static char *
dump(const struct conf *conf)
{
	char	*text;
	size_t	 len;
	FILE	*f = open_memstream(&text, &len);

	conf_dump(conf, f);
	fclose(f);
	return text;
}

static char *
list(void)
{
	char	*text;
	size_t	 len;
	FILE	*f = open_memstream(&text, &len);

	conf_dump_table(f);
	fclose(f);
	return text;
}

/* The value of a number with its unit. */
static int64_t
amount(const char *text)
{
	static const struct {
		const char	*name;
		int64_t		 worth;
	} units[] = {
		{ "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
		{ "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
		{ "d", 86400000 },
	};
	char	*end;
	int64_t	 n = strtoll(text, &end, 10);

	for (int i = 0; i < COUNT(units); i++) {
		if (strcmp(units[i].name, end) == 0)
			return n * units[i].worth;
	}
	ck_abort_msg("unit of %s", text);
}

struct row {
	char	*block, *word, *part, *type, *value, *lowest, *highest, *help;
};

/* Splits the next row of a list into columns; false at the end. */
static bool
next_row(char **text, struct row *row)
{
	char	**fields[] = {
		&row->block, &row->word, &row->part, &row->type, &row->value,
		&row->lowest, &row->highest, &row->help,
	};
	char	*line = strsep(text, "\n");

	if (line == NULL || *line == '\0')
		return false;
	for (int i = 0; i < COUNT(fields); i++) {
		*fields[i] = strsep(&line, "\t");
		ck_assert_msg(*fields[i] != NULL, "field %d is missing", i);
	}
	ck_assert_ptr_null(line);
	return true;
}

static bool
out_of_bounds(const struct row *row, int64_t n)
{
	struct buf	 text = { 0 };
	struct conf	*conf;
	bool		 top = strcmp(row->block, "top") == 0;
	bool		 path = strcmp(row->block, "path") == 0;
	bool		 files = strcmp(row->block, "files") == 0;
	bool		 program = strcmp(row->block, "program") == 0;

	buf_addf(&text, "%s%s%s %s %s %" PRId64 "%s %s%s",
	    path || files ? "site a { " : "", top ? "" : row->block,
	    top ? "" : path ? " /a {" : files || program ? " a {" : " {",
	    row->word,
	    row->part, n, strcmp(row->type, "time") == 0 ? "ms" : "",
	    top ? "" : "}", path || files ? "}" : "");
	conf = read_conf(buf_string(&text));
	ck_assert_ptr_null(conf);	/* the conf has no site */
	buf_free(&text);
	return strstr(buf_string(&errors), "out of bounds") != NULL;
}

START_TEST(bounds)
{
	char		*all = list(), *rest = all;
	struct row	 row;
	int		 n = 0;

	while (next_row(&rest, &row)) {
		if (row.lowest[0] == '\0')
			continue;
		ck_assert_msg(!out_of_bounds(&row, amount(row.lowest)) &&
		    !out_of_bounds(&row, amount(row.highest)),
		    "%s %s refuses its bounds", row.word, row.part);
		ck_assert_msg(out_of_bounds(&row, amount(row.highest) + 1),
		    "%s %s takes too much", row.word, row.part);
		ck_assert_msg(amount(row.lowest) == 0 ||
		    out_of_bounds(&row, amount(row.lowest) - 1),
		    "%s %s takes too little", row.word, row.part);
		n++;
	}
	ck_assert_int_gt(n, 20);
	free(all);
}
END_TEST

/* A dump without its comments. */
static char *
bare(char *text)
{
	char	*out = text, *in = text, *end;

	while (*in != '\0') {
		end = in + strcspn(in, "\n");
		for (char *c = in; c < end && strncmp(c, "  # ", 4) != 0; c++)
			*out++ = *c;
		while (out > text && out[-1] == ' ')
			out--;
		*out++ = '\n';
		in = end + (*end == '\n');
	}
	*out = '\0';
	return text;
}

START_TEST(round_trip)
{
	struct conf	*conf, *again;
	char		*first, *second;

	make_everything();
	conf = good(_i == 0 ? everything : _i == 1 ? SITE : _i == 2 ?
	    "program a { command /bin/sh \"b c\" \"\" \"#\" for\n"
	    "environment E \"f g\"; environment H \"\" }\n"
	    "program b { directory $; authorization pass }\n"
	    "program d { fastcgi /bin/sh -b \"c d\"; idle 2s; nice 3\n"
	    "user nobody daemon; confine files; writes / /tmp }\n"
	    "program e { fastcgi unix:/a [::1]:1\nfastcgi 10.0.0.1:2 }\n"
	    "program f { scgi unix:/a }\n"
	    "program g { filter /bin/sh -c \"a b\"; optional on }\n"
	    "program h { filter replace a \"b c\"; result 1M }\n"
	    "chain i { filters g h; onfail pass }\n"
	    "site c { listen *:80; root /; run a for \"*.a b\" *.c \"for\"\n"
	    "body within 5s 6M; path /a { cgi $ }; path /b { run b }\n"
	    "path /c { run off; authorize d }\npath /c/a { authorize off }\n"
	    "path /d { run a for x; run a for y }\n"
	    "path /e { chain i for text/html \"*.a b\" by query "
	    "\"w=1-20 f=a|b\" }\npath /f { chain off } }\n" :
	    "trust 10.0.0.1 unix:; site *.b.org { listen *:81 proxy [::1]:80; "
	    "listen unix:/a proxy mode 0600 owner root group root unix:/b; "
	    "redirect 301 http://c.org/ }\n");
	first = dump(conf);
	buf_free(&errors);
	again = conf_read_text("dump", first, &errors);
	ck_assert_msg(again != NULL, "%s", buf_string(&errors));
	second = dump(again);
	ck_assert_str_eq(bare(second), bare(first));
	free(first);
	free(second);
	conf_free(&conf);
	conf_free(&again);
}
END_TEST

START_TEST(dump_says_where)
{
	struct conf		*conf = good("helpers 4\ncache { paths 7\n"
				    "paths negative 9s\n}\n"
				    "site a.org {\nlisten *:80\nroot /\n"
				    "header A \"b c\"\npath /p { }\n}\n");
	char			*text = dump(conf);
	static const char *const wanted[] = {
		"helpers      4                                                   # t.conf:2\n"
		"helpers      max 32 share 0 within 1m idle 30s queue 1000        # default\n"
		"cache {\n"
		"    paths     7                                                  # t.conf:3\n"
		"    paths     revalidate 1s wait 50ms stale 1m                   # default\n"
		"    paths     negative 9s                                        # t.conf:4\n"
		"    watches   16384                                              # default\n"
		"    heads     32M                                                # default\n"
		"    logins    10000 keep 1m                                      # default\n"
		"    chunks    512M size 64K small 16K                            # default\n"
		"    admit     all                                                # default\n"
		"    policy    lru                                                # default\n"
		"    advice    on every 1m                                        # default\n"
		"    hints     off                                                # default\n"
		"    residency auto                                               # default\n"
		"    hotlist   every 10m                                          # default\n"
		"    results   max 1G                                             # default\n"
		"}\n"
		"log {\n"
		"    access stderr combined facility daemon tag amped             # default\n",
		"site a.org {                                                     # t.conf:6\n"
		"    listen        *:80                                           # t.conf:7\n"
		"    root          /                                              # t.conf:8\n"
		"    index         index.html                                     # default\n"
		"    try           off                                            # default\n"
		"    header        A \"b c\"                                        # t.conf:9\n"
		"    charset       utf-8                                          # default\n"
		"    nosniff       on                                             # default\n"
		"    etag          version                                        # default\n"
		"    listing       off                                            # default\n"
		"    precompressed off                                            # default\n"
		"    formats       off                                            # default\n"
		"    languages     off                                            # default\n"
		"    compress      off                                            # default\n"
		"    satisfy       all                                            # default\n"
		"    links         beneath                                        # default\n"
		"    users         from 1000                                      # default\n"
		"    path /p {                                                    # t.conf:10\n"
		"    }\n"
		"}\n",
	};

	for (int i = 0; i < COUNT(wanted); i++)
		ck_assert_msg(strstr(text, wanted[i]) != NULL, "%s",
		    wanted[i]);
	free(text);
	conf_free(&conf);
}
END_TEST

/* What the conf sets has its place, what the profile sets that of the
 * profile, and no default of another profile is set. */
START_TEST(dump_says_what_is_by_profile)
{
	struct conf		*conf = good("profile small-files\n"
				    "cache { hints off }\n" SITE);
	char			*text = dump(conf);
	static const char *const wanted[] = {
		"# t.conf:2\n", "    policy    gdsf ", "# by profile: t.conf:2\n",
		"    hints     off ", "# t.conf:3\n",
	};

	for (int i = 0; i < COUNT(wanted); i++)
		ck_assert_msg(strstr(text, wanted[i]) != NULL, "%s",
		    wanted[i]);
	ck_assert_int_eq(conf->order, ORDER_BY_ARRIVAL);
	free(text);
	conf_free(&conf);
	conf = good("cache { policy sieve }\nprofile small-files\n" SITE);
	ck_assert_int_eq(conf->cache.policy, POLICY_SIEVE);
	conf_free(&conf);
}
END_TEST

/* Each value of a profile is that of a row, which takes the value. */
START_TEST(profiles_have_values)
{
	static const struct {
		const char	*profile, *block, *word, *part, *value;
	} all[] = {
#define X(profile, block, word, part, value)				\
		{ #profile, #block, word, part, value },
		CONF_PROFILE_VALUES(X)
#undef X
	};
	static const char *const	 names[] = {
#define X(id, name)	name,
		CONF_PROFILES(X)
#undef X
	};
	char				 text[256];
	struct conf			*conf;

	for (int i = 0; i < COUNT(all); i++) {
		snprintf(text, sizeof(text), "%s %s %s\n" SITE, all[i].word,
		    all[i].part, all[i].value);
		if (strcmp(all[i].block, "TOP") != 0)
			snprintf(text, sizeof(text), "cache { %s %s %s }\n"
			    SITE, all[i].word, all[i].part, all[i].value);
		conf = good(text);
		conf_free(&conf);
	}
	for (int i = 0; i < COUNT(names); i++) {
		snprintf(text, sizeof(text), "profile %s\n" SITE, names[i]);
		conf = good(text);
		ck_assert_int_eq(conf->profile, i);
		conf_free(&conf);
	}
}
END_TEST

/* A dump has every row of the table. */
START_TEST(dump_is_complete)
{
	struct conf	*conf = good("program p { fastcgi /bin/sh }\n"
			    "program q { filter ssi }\n"
			    "chain c { filters q }\n" SITE);
	char		*text = dump(conf), *all = list(), *rest = all;
	char		 wanted[100];
	struct row	 row;
	int		 n = 0;

	while (next_row(&rest, &row)) {
		ck_assert_uint_gt(strlen(row.help), 0);
		if (row.value[0] == '\0' || strcmp(row.word, "user") == 0)
			continue;
		ck_assert_ptr_nonnull(strstr(text, row.word));
		snprintf(wanted, sizeof(wanted), " %s%s%s ", row.part,
		    row.part[0] != '\0' ? " " : "", row.value);
		ck_assert_msg(strcmp(row.value, "required") == 0 ||
		    strstr(text, wanted) != NULL, "no%s", wanted);
		n++;
	}
	ck_assert_int_gt(n, 30);
	free(all);
	free(text);
	conf_free(&conf);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, bounds);
	tcase_add_loop_test(tests, round_trip, 0, 4);
	tcase_add_test(tests, dump_says_where);
	tcase_add_test(tests, dump_says_what_is_by_profile);
	tcase_add_test(tests, profiles_have_values);
	tcase_add_test(tests, dump_is_complete);
}
