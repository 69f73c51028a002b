/*
 * Tests of stats/report: each form by its own grammar, and that every number of
 * the table is in it.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stats/chain_stats.h"
#include "stats/program_stats.h"
#include "stats/report_private.h"
#include "stats/scoreboard.h"
#include "t/unit/unit.h"

static struct buf	out;

/* Gives each row a number of its own. */
static void
fill_gauges(void)
{
	for (int i = 0; i < STATS_COUNT; i++)
		stats[i] = 100000 + (uint64_t)i;
	for (int i = 0; i < STATS_GAUGE_COUNT; i++)
		stats_gauges[i] = 200000 + i;
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++)
		for (int k = 0; k <= i; k++)
			histogram_add(&stats_histograms[i], 3000 + k);
	stats_nfs_queues = 1;
	stats_fs_queues[0] = (struct stats_fs_queue){ "8:1", 5, 3, 16 };
}

/* One program by its name, and one by a directory of any name, with a server;
 * each row has a number of its own. */
static void
fill_programs(void)
{
	char				 address[] = "unix:/run/s";
	char				*addresses[] = { address };
	const struct program_stats_label labels[] = {
		{ "php", NULL, 0 }, { "/a \"b\\<c&", addresses, 1 },
	};

	program_stats_use(program_stats_new(labels, 2));
	for (int i = 0; i < PROGRAM_STATS_COUNT; i++) {
		program_stats_add(0, i, 300000 + (uint64_t)i);
		program_stats_add(1, i, 400000 + (uint64_t)i);
	}
	for (int i = 0; i < PROGRAM_STATS_GAUGE_COUNT; i++)
		program_stats_set(0, i, 500000 + (uint64_t)i);
	for (int i = 0; i < PROGRAM_STATS_SERVER_COUNT; i++)
		program_stats_set_server(1, 0, i, 600000 + (uint64_t)i);
	program_stats_time(0, PROGRAM_STATS_HISTOGRAM_WAIT, 3000);
	program_stats_time(0, PROGRAM_STATS_HISTOGRAM_ANSWER, 5000);
	program_stats_time(0, PROGRAM_STATS_HISTOGRAM_ANSWER, 6000);
}

/* Two chains, the first with a number for each row. */
static void
fill_chains(void)
{
	static const char *const	names[] = { "pages", "a<b" };

	chain_stats_use(chain_stats_new(names, 2));
	for (int i = 0; i < CHAIN_STATS_COUNT; i++)
		for (int k = 0; k <= i; k++)
			chain_stats_add(0, i);
	chain_stats_time(0, CHAIN_STATS_HISTOGRAM_TIME, 3000);
}

static const char *
write_report(enum report_form form)
{
	out.len = 0;
	report_write(&out, form);
	return buf_string(&out);
}

static bool
has_line(const char *text, const char *format, ...)
{
	struct buf	b = { 0 };
	va_list		args;
	bool		found;

	va_start(args, format);
	buf_addv(&b, format, args);
	va_end(args);
	found = strstr(text, buf_string(&b)) != NULL;
	if (!found)
		ck_abort_msg("there is no %s", b.at);
	buf_free(&b);
	return found;
}

START_TEST(forms)
{
	enum report_form	form;

	ck_assert(report_find_form(STR("json"), &form));
	ck_assert_int_eq(form, REPORT_JSON);
	ck_assert(!report_find_form(STR("jso"), &form));
	ck_assert(!report_find_form(STR(""), &form));
	ck_assert_str_eq(report_media(REPORT_PROMETHEUS), "text/plain");
	ck_assert_str_eq(report_type(REPORT_PROMETHEUS),
	    "text/plain; version=0.0.4; charset=utf-8");
}
END_TEST

/* A number as reports have it, until the next call. */
static const char *
number_of(const struct stats_row *row, int64_t n)
{
	static char	text[32];

	if (row->unit == STATS_UNIT_RATIO || row->unit == STATS_UNIT_MILLIONTHS)
		snprintf(text, sizeof(text), "%" PRId64 ".%06" PRId64,
		    n / 1000000, n % 1000000);
	else
		snprintf(text, sizeof(text), "%" PRId64, n);
	return text;
}

static void
text_has_rows(const char *text, const char *before, enum stats_kind kind,
    int64_t first)
{
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++)
		has_line(text, "\n%s%s %s\n", before, rows[i].name,
		    number_of(&rows[i], first + (int64_t)i));
}

START_TEST(text)
{
	const char	*t, *end;

	fill_gauges();
	fill_programs();
	t = write_report(REPORT_TEXT);
	ck_assert(strncmp(t, "version ", 8) == 0);
	text_has_rows(t, "", STATS_KIND_COUNTER, 100000);
	text_has_rows(t, "", STATS_KIND_GAUGE, 200000);
	text_has_rows(t, "program-php-", STATS_KIND_PROGRAM_COUNTER, 300000);
	fill_chains();
	t = write_report(REPORT_TEXT);
	text_has_rows(t, "chain-pages-", STATS_KIND_CHAIN_COUNTER, 1);
	has_line(t, "\nchain-pages-time-count 1\n");
	has_line(t, "\nchain-a<b-runs 0\n");
	text_has_rows(t, "program-/a_\"b\\<c&-", STATS_KIND_PROGRAM_COUNTER,
	    400000);
	text_has_rows(t, "program-php-", STATS_KIND_PROGRAM_GAUGE, 500000);
	text_has_rows(t, "program-/a_\"b\\<c&-server-unix:/run/s-",
	    STATS_KIND_SERVER_GAUGE, 600000);
	has_line(t, "\nprogram-php-answer-count 2\n"
	    "program-php-answer-sum 0.011000\n");
	has_line(t, "\nloop-lag-count 1\nloop-lag-sum 0.003000\n"
	    "loop-lag-max 0.003000\nloop-lag-median 0.003000\n"
	    "loop-lag-p99 0.003000\n");
	has_line(t, "\njob-resolve-count 2\njob-resolve-sum 0.006001\n");
	has_line(t, "\nfs-8:1-queued 5\nfs-8:1-helpers 3\nfs-8:1-limit 16\n");
	/* Each line is a name and a value. */
	for (; *t != '\0'; t = end + 1) {
		end = strchr(t, '\n');
		ck_assert_ptr_nonnull(end);
		ck_assert_ptr_eq(memchr(t, ' ', (size_t)(end - t)),
		    t + strcspn(t, " "));
		ck_assert_ptr_null(memchr(t + strcspn(t, " ") + 1, ' ',
		    (size_t)(end - t) - strcspn(t, " ") - 1));
	}
}
END_TEST

/* JSON: a reader without knowledge of the report. */

static const char	*json_value(const char *);

static const char *
json_space(const char *p)
{
	return p + strspn(p, " \n\r\t");
}

static const char *
json_string(const char *p)
{
	ck_assert_msg(*p == '"', "a string at %.20s", p);
	for (p++; *p != '"'; p++) {
		ck_assert((unsigned char)*p >= ' ');
		if (*p == '\\')
			ck_assert_ptr_nonnull(strchr("\"\\/bfnrtu", *++p));
	}
	return p + 1;
}

static const char *
json_list(const char *p, char close, bool named)
{
	p = json_space(p + 1);
	while (*p != close) {
		if (named) {
			p = json_space(json_string(p));
			ck_assert_msg(*p == ':', "a colon at %.20s", p);
			p = json_space(p + 1);
		}
		p = json_space(json_value(p));
		if (*p != ',')
			break;
		p = json_space(p + 1);
		ck_assert_msg(*p != close, "a comma before %.20s", p);
	}
	ck_assert_msg(*p == close, "%c at %.20s", close, p);
	return p + 1;
}

static const char *
json_number(const char *p)
{
	size_t	n = strspn(p, "0123456789");

	ck_assert_msg(n > 0 && (n == 1 || *p != '0'), "number at %.20s", p);
	p += n;
	if (*p == '.') {
		n = strspn(p + 1, "0123456789");
		ck_assert(n > 0);
		p += 1 + n;
	}
	return p;
}

static const char *
json_value(const char *p)
{
	switch (*p) {
	case '{':
		return json_list(p, '}', true);
	case '[':
		return json_list(p, ']', false);
	case '"':
		return json_string(p);
	default:
		return json_number(p);
	}
}

static void
json_has_rows(const char *t, enum stats_kind kind, int64_t first)
{
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++)
		has_line(t, "\"%s\":%s", rows[i].name,
		    number_of(&rows[i], first + (int64_t)i));
}

START_TEST(json)
{
	const char	*t;

	t = write_report(REPORT_JSON);
	ck_assert_str_eq(json_space(json_value(t)), "");
	fill_gauges();
	t = write_report(REPORT_JSON);
	ck_assert_str_eq(json_space(json_value(t)), "");
	ck_assert_ptr_nonnull(strstr(t, "\"programs\":[\n]"));
	ck_assert_ptr_nonnull(strstr(t, "\"chains\":[\n]"));
	json_has_rows(t, STATS_KIND_COUNTER, 100000);
	json_has_rows(t, STATS_KIND_GAUGE, 200000);
	has_line(t, "\"job-resolve\":{\"count\":2,\"sum\":0.006001,"
	    "\"max\":0.003001,\"median\":0.003001,\"p99\":0.003001,"
	    "\"below\":[[0.004096,2]]}");
	has_line(t, "{\"name\":\"8:1\",\"queued\":5,\"helpers\":3,"
	    "\"limit\":16}");
	fill_programs();
	t = write_report(REPORT_JSON);
	ck_assert_str_eq(json_space(json_value(t)), "");
	json_has_rows(t, STATS_KIND_PROGRAM_COUNTER, 300000);
	json_has_rows(t, STATS_KIND_PROGRAM_COUNTER, 400000);
	json_has_rows(t, STATS_KIND_PROGRAM_GAUGE, 500000);
	has_line(t, "{\"name\":\"/a \\\"b\\\\<c&\",\n\"requests\":400000,");
	has_line(t, "\"servers\":[{\"address\":\"unix:/run/s\",\n"
	    "\"connections\":600000,\n\"refused-since\":600001}]}],\n");
	fill_chains();
	t = write_report(REPORT_JSON);
	ck_assert_str_eq(json_space(json_value(t)), "");
	has_line(t, "{\"name\":\"pages\",\n\"runs\":1,\n\"hits\":2,");
}
END_TEST

/*
 * Prometheus
 */

/* One sample: its metric, its labels, its value. */
struct sample {
	char	metric[80], labels[120];
	double	value;
};

static void
read_sample(const char *line, size_t len, struct sample *s)
{
	size_t		 n = strspn(line, "abcdefghijklmnopqrstuvwxyz_:");
	const char	*p = line + n;
	char		*end;

	ck_assert_msg(n > 0 && n < sizeof(s->metric), "%.*s", (int)len, line);
	memcpy(s->metric, line, n);
	s->metric[n] = s->labels[0] = '\0';
	if (*p == '{') {
		n = strcspn(++p, "}");
		ck_assert(n > 0 && n < sizeof(s->labels));
		memcpy(s->labels, p, n);
		s->labels[n] = '\0';
		p += n + 1;
	}
	ck_assert_msg(*p == ' ', "%.*s", (int)len, line);
	s->value = strtod(p + 1, &end);
	ck_assert_msg(end == line + len, "%.*s", (int)len, line);
}

/* name="value", and commas between them. */
static void
check_labels(const char *l)
{
	while (*l != '\0') {
		ck_assert(islower((unsigned char)*l));
		l += strspn(l, "abcdefghijklmnopqrstuvwxyz_");
		ck_assert(l[0] == '=' && l[1] == '"');
		for (l += 2; *l != '"'; l++)
			if (*l == '\\')
				ck_assert_ptr_nonnull(strchr("\"\\n", *++l));
			else
				ck_assert(*l != '\0' && *l != '\n');
		l++;
		if (*l == '\0')
			break;
		ck_assert(*l++ == ',' && *l != '\0');
	}
}

static bool
is_of_metric(const char *metric, const char *family, const char *type)
{
	size_t		 n = strlen(family);
	const char	*end = metric + n;

	if (strncmp(metric, family, n) != 0)
		return false;
	if (strcmp(type, "histogram") != 0)
		return *end == '\0';
	return strcmp(end, "_bucket") == 0 || strcmp(end, "_sum") == 0 ||
	    strcmp(end, "_count") == 0;
}

/* Buckets only rise, and the last one is the count. */
static void
check_histogram(const struct sample *s, double *last)
{
	if (strstr(s->metric, "_bucket") != NULL) {
		ck_assert_ptr_nonnull(strstr(s->labels, "le=\""));
		ck_assert(s->value >= *last);
		*last = s->value;
	} else if (strstr(s->metric, "_count") != NULL) {
		ck_assert(s->value == *last);
		*last = 0;
	}
}

static void
check_exposition(const char *t)
{
	char		 family[80] = "", type[20] = "", seen[16384] = "";
	const char	*end;
	struct sample	 s;
	double		 last = 0;

	for (; *t != '\0'; t = end + 1) {
		end = strchr(t, '\n');
		ck_assert_ptr_nonnull(end);
		if (sscanf(t, "# HELP %79s", family) == 1) {
			/* The samples of a metric stand together. */
			strcat(family, " ");
			ck_assert_msg(strstr(seen, family) == NULL, "%s twice",
			    family);
			strcat(seen, family);
			family[strlen(family) - 1] = type[0] = '\0';
			ck_assert(end[-1] == '.');
			continue;
		}
		if (t[0] == '#') {
			ck_assert(sscanf(t, "# TYPE %*s %19s", type) == 1);
			ck_assert(strncmp(t + 7, family, strlen(family)) == 0);
			continue;
		}
		read_sample(t, (size_t)(end - t), &s);
		check_labels(s.labels);
		ck_assert_msg(is_of_metric(s.metric, family, type),
		    "%s in %s %s", s.metric, family, type);
		if (strcmp(type, "histogram") == 0)
			check_histogram(&s, &last);
		else
			ck_assert_msg((strcmp(type, "counter") == 0) ==
			    (strstr(s.metric, "_total") != NULL), "%s is a %s",
			    s.metric, type);
	}
}

static void
exposition_has_rows(const char *t, enum stats_kind kind, int64_t first)
{
	const struct stats_row	*rows;
	char			 metric[STATS_METRIC_MAX];
	size_t			 n;
	bool			 labelled;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++) {
		stats_metric(kind, &rows[i], metric, sizeof(metric));
		ck_assert_uint_lt(strlen(metric), sizeof(metric) - 1);
		labelled = rows[i].label[0] != '\0';
		has_line(t, "\n%s%s%s%s %s\n", metric,
		    labelled ? "{" : "", rows[i].label, labelled ? "}" : "",
		    number_of(&rows[i], first + (int64_t)i));
	}
}

START_TEST(prometheus)
{
	const char	*t;

	check_exposition(write_report(REPORT_PROMETHEUS));
	fill_gauges();
	t = write_report(REPORT_PROMETHEUS);
	check_exposition(t);
	exposition_has_rows(t, STATS_KIND_COUNTER, 100000);
	exposition_has_rows(t, STATS_KIND_GAUGE, 200000);
	has_line(t, "\namped_loop_lag_seconds_bucket{le=\"0.002048\"} 0\n"
	    "amped_loop_lag_seconds_bucket{le=\"0.004096\"} 1\n");
	has_line(t, "\namped_loop_lag_seconds_bucket{le=\"+Inf\"} 1\n"
	    "amped_loop_lag_seconds_sum 0.003000\n"
	    "amped_loop_lag_seconds_count 1\n");
	has_line(t, "\namped_job_duration_seconds_bucket{kind=\"resolve\","
	    "le=\"0.004096\"} 2\n");
	has_line(t, "\namped_job_duration_seconds_count{kind=\"resolve\"} 2\n");
	has_line(t, "\namped_fs_helpers{fs=\"8:1\"} 3\n");
	ck_assert_ptr_null(strstr(t, "amped_program_"));
	fill_programs();
	t = write_report(REPORT_PROMETHEUS);
	check_exposition(t);
	has_line(t, "\namped_program_requests_total{program=\"php\"} 300000\n"
	    "amped_program_requests_total{program=\"/a \\\"b\\\\<c&\"} "
	    "400000\n");
	has_line(t, "\namped_program_limit{program=\"php\"} 500000\n"
	    "amped_program_limit{program=\"/a \\\"b\\\\<c&\"} 0\n");
	has_line(t, "\namped_program_answer_seconds_bucket{program=\"php\","
	    "le=\"0.008192\"} 2\n");
	has_line(t, "\namped_program_wait_seconds_count{program=\"php\"} 1\n");
	has_line(t, "\namped_program_server_connections{program="
	    "\"/a \\\"b\\\\<c&\",server=\"unix:/run/s\"} 600000\n");
	ck_assert_ptr_null(strstr(t, "amped_chain_"));
	fill_chains();
	t = write_report(REPORT_PROMETHEUS);
	check_exposition(t);
	has_line(t, "\namped_chain_hits_total{chain=\"pages\"} 2\n"
	    "amped_chain_hits_total{chain=\"a<b\"} 0\n");
	has_line(t, "\namped_chain_time_seconds_count{chain=\"pages\"} 1\n");
}
END_TEST

/* Durations beyond the last bucket are in +Inf. */
START_TEST(long_ones)
{
	const char	*t;

	histogram_add(&stats_histograms[0], (int64_t)1 << 40);
	t = write_report(REPORT_PROMETHEUS);
	check_exposition(t);
	has_line(t, "\namped_loop_lag_seconds_bucket{le=\"67.108864\"} 0\n"
	    "amped_loop_lag_seconds_bucket{le=\"+Inf\"} 1\n");
}
END_TEST

/*
 * HTML
 */

/* Every tag is closed, in order. */
static void
check_page(const char *t)
{
	char	 open[32][16], name[16];
	int	 depth = 0;
	size_t	 n;

	ck_assert(strncmp(t, "<!DOCTYPE html>\n", 16) == 0);
	for (t += 15; (t = strchr(t, '<')) != NULL; ) {
		bool	closes = *++t == '/';

		t += closes;
		n = strcspn(t, " />");
		ck_assert_uint_lt(n, sizeof(name));
		memcpy(name, t, n);
		name[n] = '\0';
		t += strcspn(t, ">");
		ck_assert(*t == '>');
		if (closes) {
			ck_assert_int_gt(depth, 0);
			ck_assert_str_eq(open[--depth], name);
		} else if (t[-1] != '/') {
			ck_assert_int_lt(depth, 32);
			strcpy(open[depth++], name);
		}
	}
	ck_assert_int_eq(depth, 0);
}

/* Whether there should be more helpers, by the load of these. */
START_TEST(helpers)
{
	const char	*advice = "<b>jobs wait for helpers</b>";

	fill_gauges();
	stats_gauges[STATS_GAUGE_HELPERS_LIMIT] = 4;
	stats_gauges[STATS_GAUGE_HELPERS_LOAD] = 3900000;
	has_line(write_report(REPORT_HTML), "keep 3.9 of at most 4 helpers busy");
	ck_assert_ptr_null(strstr(out.at, advice));
	stats_gauges[STATS_GAUGE_HELPERS_LOAD] = 4000000;
	has_line(write_report(REPORT_HTML), "keep 4.0 of at most 4 helpers busy");
	ck_assert_ptr_nonnull(strstr(out.at, advice));
}
END_TEST

START_TEST(html)
{
	const char	*t;

	check_page(write_report(REPORT_HTML));
	for (int i = 0; i < 3; i++) {
		fill_gauges();
		stats_gauges[STATS_GAUGE_UPTIME] = 10 * i;
		stats[STATS_REQUESTS] = 20 * (uint64_t)i;
		t = write_report(REPORT_HTML);
		check_page(t);
	}
	ck_assert_ptr_null(strstr(t, "<script"));
	ck_assert_ptr_null(strstr(t, "http:"));
	ck_assert_ptr_null(strstr(t, "src="));
	ck_assert_ptr_null(strstr(t, "url("));
	has_line(t, "<td>lookups</td><td>%" PRIu64 "</td>", stats[STATS_LOOKUPS]);
	has_line(t, ">2 requests a second</span>");
	has_line(t, "<tr><td>auth</td>");
	has_line(t, "<td>8:1</td><td>5</td><td>3 of 16</td>");
	ck_assert_uint_lt(out.len, 128 * 1024);
	ck_assert_ptr_null(strstr(t, "<h2>Programs"));
	fill_programs();
	program_stats_set(0, PROGRAM_STATS_GAUGE_LIMIT, 1000000);
	t = write_report(REPORT_HTML);
	check_page(t);
	has_line(t, "<tr><td>php</td><td>500,003</td><td><span class=\"meter\">"
	    "<i style=\"width:50.0%%\"></i></span> 50.0&#160;%%</td>"
	    "<td>500,002</td><td>300,000</td>");
	has_line(t, "<tr><td>/a &quot;b\\&lt;c&amp;</td><td>unix:/run/s</td>"
	    "<td>600,000</td>");
	ck_assert_ptr_null(strstr(t, "<h2>Filters"));
	fill_chains();
	t = write_report(REPORT_HTML);
	check_page(t);
	has_line(t, "<tr><td>pages</td><td>1</td><td>2</td><td>3</td>");
	has_line(t, "<tr><td>a&lt;b</td><td>0</td>");
}
END_TEST

/*
 * For ampedctl
 */

START_TEST(table_of_chains)
{
	struct buf	t = { 0 };

	fill_chains();
	report_chains(&t);
	ck_assert_str_eq(buf_string(&t),
	    "name         runs        hits      failed     refused    left-out"
	    "    recalled      median        99 %\n"
	    "pages           1           2           3           4           5"
	    "           6         3.0         3.0\n"
	    "a<b             0           0           0           0           0"
	    "           0         0.0         0.0\n");
	buf_free(&t);
}
END_TEST

START_TEST(table)
{
	struct buf	t = { 0 };

	fill_programs();
	report_programs(&t);
	ck_assert_str_eq(buf_string(&t),
	    "name         busy   limit  queued   procs  requests  failed    "
	    "late  refused  wait  answer\n"
	    "php        500001  500000  500002  500003    300000  300002  "
	    "300003   300004   3.0     6.0\n"
	    "/a \"b\\<c&       0       0       0       0    400000  400002  "
	    "400003   400004   0.0     0.0\n");
	buf_free(&t);
}
END_TEST

START_TEST(lines)
{
	struct buf	t = { 0 };

	fill_programs();
	program_stats_set_server(1, 0, PROGRAM_STATS_SERVER_REFUSED_SINCE,
	    1000);
	report_programs_one(&t, 0, 1000);
	ck_assert_str_eq(buf_string(&t),
	    "requests  300,000: answered 300,001, failed 300,002, late 300,003, "
	    "refused 300,004, left 300,005\n"
	    "now       500,001 busy of 500,000, 500,002 queued\n"
	    "processes 500,003: idle 500,004, outdated 500,005; started "
	    "300,006, killed 300,007\n"
	    "wait      3.0 ms at most for a half of them, 3.0 ms for 99 %, "
	    "3.0 ms for the longest\n"
	    "answer    6.0 ms at most for a half of them, 6.0 ms for 99 %, "
	    "6.0 ms for the longest\n"
	    "bodies    292 KiB\n");
	t.len = 0;
	report_programs_one(&t, 1, 1090);
	has_line(buf_string(&t), "\nserver    unix:/run/s: 600,000 connections; "
	    "has accepted none for 1 min 30 s\n");
	ck_assert_ptr_null(strstr(buf_string(&t), "processes"));
	t.len = 0;
	report_programs_one(&t, 2, 1000);
	ck_assert_uint_eq(t.len, 0);
	buf_free(&t);
}
END_TEST

/* The number of samples is limited, and a second has at most one. */
START_TEST(history)
{
	const char	*t;

	for (int i = 0; i < 3 * REPORT_SAMPLES; i++) {
		stats_gauges[STATS_GAUGE_UPTIME] = i / 2;
		stats[STATS_REQUESTS] = 10 * ((uint64_t)i / 2);
		t = write_report(REPORT_HTML);
	}
	check_page(t);
	has_line(t, ">10 requests a second</span>");
	has_line(t, "at most 10</span>");
	stats_gauges[STATS_GAUGE_UPTIME]++;
	stats[STATS_REQUESTS]++;
	has_line(write_report(REPORT_HTML), ">1 request a second</span>");
}
END_TEST

START_TEST(quantiles)
{
	struct histogram	h = { 0 };

	ck_assert_uint_eq(report_quantile(&h, 500), 0);
	for (int i = 0; i < 98; i++)
		histogram_add(&h, 10);
	histogram_add(&h, 5000);
	histogram_add(&h, 100000);
	ck_assert_uint_eq(report_quantile(&h, 500), 16);
	ck_assert_uint_eq(report_quantile(&h, 980), 8192);
	ck_assert_uint_eq(report_quantile(&h, 990), 100000);
}
END_TEST

static const struct {
	void		(*add)(struct buf *, uint64_t);
	uint64_t	  n;
	const char	 *text;
} words[] = {
	{ report_count, 0, "0" }, { report_count, 999, "999" },
	{ report_count, 1000, "1,000" },
	{ report_count, 1234567, "1,234,567" },
	{ report_count, 1000005, "1,000,005" },
	{ report_bytes, 0, "0 B" }, { report_bytes, 1023, "1023 B" },
	{ report_bytes, 1024, "1 KiB" }, { report_bytes, 1536, "1.5 KiB" },
	{ report_bytes, 20 << 20, "20 MiB" },
	{ report_bytes, UINT64_MAX, "15 EiB" },
	{ report_time, 0, "0 \302\265s" }, { report_time, 999, "999 \302\265s" },
	{ report_time, 1500, "1.5 ms" }, { report_time, 12345678, "12 s" },
	{ report_age, 59, "59 s" }, { report_age, 61, "1 min 1 s" },
	{ report_age, 3660, "1 h 1 min" }, { report_age, 90000, "1 d 1 h" },
};

START_TEST(for_people)
{
	struct buf	b = { 0 };

	words[_i].add(&b, words[_i].n);
	ck_assert_str_eq(buf_string(&b), words[_i].text);
	buf_free(&b);
}
END_TEST

START_TEST(escapes)
{
	struct buf	b = { 0 };

	report_text(&b, "a<b>&\"c\"");
	ck_assert_str_eq(buf_string(&b), "a&lt;b>&amp;&quot;c&quot;");
	buf_free(&b);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_test(t, forms);
	tcase_add_test(t, text);
	tcase_add_test(t, json);
	tcase_add_test(t, prometheus);
	tcase_add_test(t, long_ones);
	tcase_add_test(t, helpers);
	tcase_add_test(t, html);
	tcase_add_test(t, table);
	tcase_add_test(t, table_of_chains);
	tcase_add_test(t, lines);
	tcase_add_test(t, history);
	tcase_add_test(t, quantiles);
	tcase_add_loop_test(t, for_people, 0,
	    (int)(sizeof(words) / sizeof(words[0])));
	tcase_add_test(t, escapes);
}
