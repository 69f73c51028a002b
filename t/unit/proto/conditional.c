/*
 * Unit test of proto/conditional.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/conditional.h"
#include "t/unit/unit.h"

#define MODIFIED	784111777	/* the file of all cases */
#define NOW		(MODIFIED + 1000)
#define BEFORE		"Sun, 06 Nov 1994 08:49:36 GMT"
#define SAME		"Sun, 06 Nov 1994 08:49:37 GMT"
#define SAME_850	"Sunday, 06-Nov-94 08:49:37 GMT"
#define AFTER		"Sun, 06 Nov 1994 08:49:38 GMT"
#define FUTURE		"Sun, 06 Nov 1994 09:49:38 GMT"
#define COUNT(array)	(int)(sizeof(array) / sizeof((array)[0]))

/* NULL: not sent. */
struct ask {
	const char	*if_match, *if_none_match;
	const char	*if_modified_since, *if_unmodified_since;
	const char	*if_range, *range;
};

static struct str
get_field(const char *text)
{
	return text != NULL ? str_of(text) : (struct str){ NULL, 0 };
}

static struct cond_result
evaluate(const struct ask *a, const struct cond_selected *have)
{
	struct cond_request ask = {get_field(a->if_match),
	    get_field(a->if_none_match), get_field(a->if_modified_since),
	    get_field(a->if_unmodified_since), get_field(a->if_range),
	    get_field(a->range)};
	struct cond_result	answer;

	memset(&answer, 0xa5, sizeof(answer));
	conditional_evaluate(&ask, have, &answer);
	return answer;
}

static const struct {
	struct ask	 ask;
	const char	*etag;
	int		 status;
} conditions[] = {
	{ { NULL, NULL, NULL, NULL, NULL, NULL }, "\"a\"", 200 },

	{ { .if_match = "\"a\"" }, "\"a\"", 200 },
	{ { .if_match = "\"b\"" }, "\"a\"", 412 },
	{ { .if_match = "*" }, "\"a\"", 200 },
	{ { .if_match = "*" }, "W/\"a\"", 200 },
	{ { .if_match = "" }, "\"a\"", 412 },
	{ { .if_match = "\"b\", \"a\"" }, "\"a\"", 200 },
	{ { .if_match = "W/\"a\"" }, "\"a\"", 412 },
	{ { .if_match = "\"a\"" }, "W/\"a\"", 412 },
	{ { .if_match = "W/\"a\"" }, "W/\"a\"", 412 },
	{ { .if_match = "a" }, "\"a\"", 412 },

	{ { .if_unmodified_since = BEFORE }, "\"a\"", 412 },
	{ { .if_unmodified_since = SAME }, "\"a\"", 200 },
	{ { .if_unmodified_since = AFTER }, "\"a\"", 200 },
	{ { .if_unmodified_since = FUTURE }, "\"a\"", 200 },
	{ { .if_unmodified_since = "then" }, "\"a\"", 200 },
	/* If-Unmodified-Since is ignored with If-Match. */
	{ { .if_match = "\"a\"", .if_unmodified_since = BEFORE }, "\"a\"",
	    200 },
	{ { .if_match = "\"b\"", .if_unmodified_since = AFTER }, "\"a\"",
	    412 },

	{ { .if_none_match = "\"a\"" }, "\"a\"", 304 },
	{ { .if_none_match = "W/\"a\"" }, "\"a\"", 304 },
	{ { .if_none_match = "\"a\"" }, "W/\"a\"", 304 },
	{ { .if_none_match = "W/\"a\"" }, "W/\"a\"", 304 },
	{ { .if_none_match = "\"b\"" }, "\"a\"", 200 },
	{ { .if_none_match = "*" }, "\"a\"", 304 },
	{ { .if_none_match = "" }, "\"a\"", 200 },
	{ { .if_none_match = "\"b\",W/\"c\" ,, \"a\"" }, "\"a\"", 304 },

	{ { .if_modified_since = BEFORE }, "\"a\"", 200 },
	{ { .if_modified_since = SAME }, "\"a\"", 304 },
	{ { .if_modified_since = SAME_850 }, "\"a\"", 304 },
	{ { .if_modified_since = "Sun Nov  6 08:49:37 1994" }, "\"a\"", 304 },
	{ { .if_modified_since = AFTER }, "\"a\"", 304 },
	{ { .if_modified_since = FUTURE }, "\"a\"", 200 },
	{ { .if_modified_since = "then" }, "\"a\"", 200 },
	{ { .if_modified_since = "" }, "\"a\"", 200 },
	/* If-Modified-Since is ignored with If-None-Match. */
	{ { .if_none_match = "\"b\"", .if_modified_since = AFTER }, "\"a\"",
	    200 },
	{ { .if_none_match = "\"a\"", .if_modified_since = BEFORE }, "\"a\"",
	    304 },

	/* If-Match and If-Unmodified-Since come first. */
	{ { .if_match = "\"b\"", .if_none_match = "\"a\"" }, "\"a\"", 412 },
	{ { .if_match = "\"a\"", .if_none_match = "\"a\"" }, "\"a\"", 304 },
	{ { .if_unmodified_since = BEFORE, .if_none_match = "\"a\"" },
	    "\"a\"", 412 },
	{ { .if_none_match = "\"a\"", .range = "bytes=0-1" }, "\"a\"", 304 },
	{ { .if_none_match = "\"a\"", .range = "bytes=900-" }, "\"a\"", 304 },
	{ { .if_match = "\"b\"", .range = "bytes=0-1" }, "\"a\"", 412 },
	{ { .if_match = "\"a\"", .range = "bytes=0-1" }, "\"a\"", 206 },

	{ { .if_range = "\"a\"" }, "\"a\"", 200 },
	{ { .if_range = "\"a\"", .range = "bytes=0-1" }, "\"a\"", 206 },
	{ { .if_range = "\"a\"", .range = "bytes=900-" }, "\"a\"", 416 },
	{ { .if_range = "\"b\"", .range = "bytes=0-1" }, "\"a\"", 200 },
	{ { .if_range = "\"b\"", .range = "bytes=900-" }, "\"a\"", 200 },
	{ { .if_range = "W/\"a\"", .range = "bytes=0-1" }, "\"a\"", 200 },
	{ { .if_range = "W/\"a\"", .range = "bytes=0-1" }, "W/\"a\"", 200 },
	{ { .if_range = "\"a\"", .range = "bytes=0-1" }, "W/\"a\"", 200 },
	{ { .if_range = "*", .range = "bytes=0-1" }, "\"a\"", 200 },
	{ { .if_range = "", .range = "bytes=0-1" }, "\"a\"", 200 },
	{ { .if_range = "", .range = "bytes=0-1" }, "", 200 },
	{ { .if_range = "\"a\", \"b\"", .range = "bytes=0-1" }, "\"a\"", 200 },
	{ { .if_range = SAME, .range = "bytes=0-1" }, "\"a\"", 206 },
	{ { .if_range = SAME, .range = "bytes=0-1" }, "W/\"a\"", 206 },
	{ { .if_range = SAME_850, .range = "bytes=0-1" }, "\"a\"", 206 },
	{ { .if_range = BEFORE, .range = "bytes=0-1" }, "\"a\"", 200 },
	{ { .if_range = AFTER, .range = "bytes=0-1" }, "\"a\"", 200 },
};

START_TEST(condition)
{
	struct cond_selected	have = {
		str_of(conditions[_i].etag), MODIFIED, NOW, 100
	};
	struct cond_result	a = evaluate(&conditions[_i].ask, &have);

	ck_assert_int_eq(a.status, conditions[_i].status);
}
END_TEST

/* A date in the second of the change proves nothing. */
START_TEST(weak_date)
{
	struct ask		ask = { .if_range = SAME, .range = "bytes=0-" };
	struct cond_selected	have = { STR("\"a\""), MODIFIED, MODIFIED, 9 };

	ck_assert_int_eq(evaluate(&ask, &have).status, 200);
	have.now++;
	ck_assert_int_eq(evaluate(&ask, &have).status, 206);
}
END_TEST

#define HUGE	"99999999999999999999999"

static const struct {
	const char	*range;
	int64_t		 size;
	int		 status;
	int64_t		 first, length;
} ranges[] = {
	{ "bytes=0-", 100, 206, 0, 100 },
	{ "bytes=0-0", 100, 206, 0, 1 },
	{ "bytes=2-3", 100, 206, 2, 2 },
	{ "bytes=99-", 100, 206, 99, 1 },
	{ "bytes=99-99", 100, 206, 99, 1 },
	{ "bytes=50-100", 100, 206, 50, 50 },
	{ "bytes=50-" HUGE, 100, 206, 50, 50 },
	{ "bytes=002-003", 100, 206, 2, 2 },
	{ "BYTES=2-3", 100, 206, 2, 2 },
	{ "bytes=,2-3 ,", 100, 206, 2, 2 },
	{ "bytes=-5", 100, 206, 95, 5 },
	{ "bytes=-100", 100, 206, 0, 100 },
	{ "bytes=-101", 100, 206, 0, 100 },
	{ "bytes=-" HUGE, 100, 206, 0, 100 },
	{ "bytes=0-", INT64_MAX, 206, 0, INT64_MAX },
	{ "bytes=-1", INT64_MAX, 206, INT64_MAX - 1, 1 },
	{ "bytes=9223372036854775806-9223372036854775807", INT64_MAX, 206,
	    INT64_MAX - 1, 1 },

	{ "bytes=100-", 100, 416, 0, 0 },
	{ "bytes=100-200", 100, 416, 0, 0 },
	{ "bytes=" HUGE "-", 100, 416, 0, 0 },
	{ "bytes=" HUGE "-" HUGE, INT64_MAX, 416, 0, 0 },
	{ "bytes=-0", 100, 416, 0, 0 },
	{ "bytes=-0", 0, 416, 0, 0 },
	{ "bytes=0-", 0, 416, 0, 0 },
	{ "bytes=0-0", 0, 416, 0, 0 },
	/* Satisfiable by RFC 9110, section 14.1.2, but of length 0. */
	{ "bytes=-5", 0, 200, 0, 0 },

	/* Nonsense: the whole. */
	{ "bytes=0-1,x", 100, 200, 0, 0 },
	{ "", 100, 200, 0, 0 },
	{ "bytes", 100, 200, 0, 0 },
	{ "bytes=", 100, 200, 0, 0 },
	{ "bytes=,", 100, 200, 0, 0 },
	{ "bytes=-", 100, 200, 0, 0 },
	{ "bytes=--1", 100, 200, 0, 0 },
	{ "bytes=-1-", 100, 200, 0, 0 },
	{ "bytes=1--2", 100, 200, 0, 0 },
	{ "bytes=1-2-3", 100, 200, 0, 0 },
	{ "bytes=5", 100, 200, 0, 0 },
	{ "bytes=5-4", 100, 200, 0, 0 },
	{ "bytes=200-199", 100, 200, 0, 0 },
	{ "bytes=a-b", 100, 200, 0, 0 },
	{ "bytes=0-x", 100, 200, 0, 0 },
	{ "bytes=+0-1", 100, 200, 0, 0 },
	{ "bytes=0 -1", 100, 200, 0, 0 },
	{ "bytes=0- 1", 100, 200, 0, 0 },
	{ "bytes:0-1", 100, 200, 0, 0 },
	{ "bytes = 0-1", 100, 200, 0, 0 },
	{ " bytes=0-1", 100, 200, 0, 0 },
	{ "lines=0-1", 100, 200, 0, 0 },
	{ "0-1", 100, 200, 0, 0 },
};

START_TEST(range)
{
	struct ask		ask = { .range = ranges[_i].range };
	struct cond_selected	have = {
		STR("\"a\""), MODIFIED, NOW, ranges[_i].size
	};
	struct cond_result	a = evaluate(&ask, &have);

	if (a.status != 206)
		a.range[0] = (struct byte_range){ 0, 0 };
	else
		ck_assert_uint_eq(a.n, 1);
	ck_assert_msg(a.status == ranges[_i].status &&
	    a.range[0].first == ranges[_i].first &&
	    a.range[0].length == ranges[_i].length,
	    "%s of %lld gives %d, %lld from %lld", ranges[_i].range,
	    (long long)ranges[_i].size, a.status, (long long)a.range[0].length,
	    (long long)a.range[0].first);
}
END_TEST

/* Of 100 bytes. */
static const struct {
	const char	*range;
	int		 status;
	const char	*parts;		/* first-last, a blank behind each */
} several[] = {
	{ "bytes=0-1,3-4", 206, "0-1 3-4 " },
	{ "bytes=3-4,0-1", 206, "3-4 0-1 " },
	{ "bytes=0-0, -1", 206, "0-0 99-99 " },
	{ "bytes=,0-0 ,,\t5-5,", 206, "0-0 5-5 " },
	{ "bytes=0-1,5-6,10-11,90-", 206, "0-1 5-6 10-11 90-99 " },
	/* Unsatisfiable ranges are left out, unless all are. */
	{ "bytes=0-1,200-", 206, "0-1 " },
	{ "bytes=200-,0-1,-0", 206, "0-1 " },
	{ "bytes=100-,0-1,200-,5-5", 206, "0-1 5-5 " },
	{ "bytes=100-,200-300,-0", 416, "" },
	/* Overlapping, adjacent, bridged. */
	{ "bytes=0-5,3-9", 206, "0-9 " },
	{ "bytes=3-9,0-5", 206, "0-9 " },
	{ "bytes=0-4,5-9", 206, "0-9 " },
	{ "bytes=5-9,0-4", 206, "0-9 " },
	{ "bytes=0-4,6-9", 206, "0-4 6-9 " },
	{ "bytes=0-9,2-3", 206, "0-9 " },
	{ "bytes=2-3,0-9", 206, "0-9 " },
	{ "bytes=0-,0-,0-,-5,50-", 206, "0-99 " },
	{ "bytes=0-1,10-11,2-9", 206, "0-11 " },
	{ "bytes=50-51,0-1,10-11,2-9,60-61", 206, "50-51 0-11 60-61 " },
	{ "bytes=0-1,50-51,10-11,2-9,60-61", 206, "0-11 50-51 60-61 " },
	{ "bytes=0-1,50-51,10-11,60-61,2-9", 206, "0-11 50-51 60-61 " },
	{ "bytes=20-21,0-1,40-41,60-61,0-", 206, "0-99 " },
	/* An element that is not a range makes all invalid. */
	{ "bytes=0-1,x", 200, "" },
	{ "bytes=x,0-1", 200, "" },
	{ "bytes=0-1,5-4", 200, "" },
	{ "bytes=0-1,-", 200, "" },
	{ "bytes=0-1;3-4", 200, "" },
	{ "bytes=200-,x", 200, "" },
	{ "bytes=0-1,bytes=3-4", 200, "" },
	/* Sixteen ranges, and one more, in any place. */
	{ "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,"
	    "22-22,24-24,26-26,28-28,30-30", 206,
	    "0-0 2-2 4-4 6-6 8-8 10-10 12-12 14-14 16-16 18-18 20-20 22-22 "
	    "24-24 26-26 28-28 30-30 " },
	{ "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,"
	    "22-22,24-24,26-26,28-28,30-30,1-1", 206,
	    "0-2 4-4 6-6 8-8 10-10 12-12 14-14 16-16 18-18 20-20 22-22 "
	    "24-24 26-26 28-28 30-30 " },
	{ "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,"
	    "22-22,24-24,26-26,28-28,30-30,32-32", 200, "" },
	{ "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,"
	    "22-22,24-24,26-26,28-28,30-30,200-,0-", 206, "0-99 " },
};

START_TEST(several_ranges)
{
	struct ask		ask = { .range = several[_i].range };
	struct cond_selected	have = { STR("\"a\""), MODIFIED, NOW, 100 };
	struct cond_result	a = evaluate(&ask, &have);
	char			parts[400] = "";
	size_t			len = 0;

	for (unsigned i = 0; a.status == 206 && i < a.n; i++)
		len += (size_t)snprintf(parts + len, sizeof(parts) - len,
		    "%lld-%lld ", (long long)a.range[i].first, (long long)
		    (a.range[i].first + a.range[i].length - 1));
	ck_assert_msg(a.status == several[_i].status &&
	    strcmp(parts, several[_i].parts) == 0, "%s gives %d %s",
	    several[_i].range, a.status, parts);
}
END_TEST

static const struct {
	const char	*list, *tag;
	bool		 weak, strong;
} lists[] = {
	{ "\"a\"", "\"a\"", true, true },
	{ "*", "\"a\"", true, true },
	{ " \"a\"", "\"a\"", true, true },
	{ "\t,,\"b\"\t,\"a\" , \"c\"", "\"a\"", true, true },
	{ "\"b\",\"a\"", "\"a\"", true, true },
	{ "\"b\",W/\"a\"", "\"a\"", true, false },
	{ "W/\"a\",\"a\"", "\"a\"", true, true },
	{ "\"\"", "\"\"", true, true },
	/* Commas, backslashes, stars and blanks in a tag have no meaning. */
	{ "\"a,b\"", "\"a,b\"", true, true },
	{ "\"b,\"", "\"b\"", false, false },
	{ "\"x\\\", \"a\"", "\"a\"", true, true },
	{ "\"*\"", "\"a\"", false, false },
	{ "\"*\"", "\"*\"", true, true },
	{ "*, \"b\"", "\"a\"", false, false },
	{ "\"b\", *", "\"a\"", false, false },
	{ "\"a \"", "\"a\"", false, false },
	{ "\"A\"", "\"a\"", false, false },
	{ "w/\"a\"", "\"a\"", false, false },
	{ "W/ \"a\"", "\"a\"", false, false },
	{ "W/W/\"a\"", "\"a\"", false, false },
	{ "W/", "\"a\"", false, false },
	{ "W", "\"a\"", false, false },
	{ "", "\"a\"", false, false },
	{ ",", "\"a\"", false, false },
	{ "\"", "\"a\"", false, false },
	{ "\"a", "\"a\"", false, false },
	{ "a\"", "\"a\"", false, false },
	{ "a", "\"a\"", false, false },
	/* Whatever follows an invalid tag is ignored. */
	{ "b, \"a\"", "\"a\"", false, false },
	{ "\"b\" \"a\"", "\"a\"", false, false },
	{ "\"a\" x", "\"a\"", false, false },
	{ "\"a\", x", "\"a\"", true, true },
};

START_TEST(etag)
{
	struct str	list = str_of(lists[_i].list);
	struct str	tag = str_of(lists[_i].tag);

	ck_assert_msg(conditional_match(list, tag, false) == lists[_i].weak,
	    "%s in %s, weakly", lists[_i].tag, lists[_i].list);
	ck_assert_msg(conditional_match(list, tag, true) == lists[_i].strong,
	    "%s in %s, strongly", lists[_i].tag, lists[_i].list);
}
END_TEST

START_TEST(nul_in_list)
{
	ck_assert(!conditional_match((struct str){ "\0\"a\"", 4 },
	    STR("\"a\""), false));
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, condition, 0, COUNT(conditions));
	tcase_add_test(t, weak_date);
	tcase_add_loop_test(t, range, 0, COUNT(ranges));
	tcase_add_loop_test(t, several_ranges, 0, COUNT(several));
	tcase_add_loop_test(t, etag, 0, COUNT(lists));
	tcase_add_test(t, nul_in_list);
}
