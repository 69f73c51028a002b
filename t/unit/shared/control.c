/*
 * Unit test of shared/control.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "shared/control.h"
#include "t/unit/unit.h"

static const struct {
	const char		*line;
	enum control_command	 command;
	size_t			 n;
	const char		*words[3];
} good[] = {
    {"status", CONTROL_STATUS, 0, {NULL}},
    {"status json", CONTROL_STATUS, 1, {"json"}},
    {"  reload  ", CONTROL_RELOAD, 0, {NULL}},
    {"reload\r", CONTROL_RELOAD, 0, {NULL}},
    {"purge /a  /b", CONTROL_PURGE, 2, {"/a", "/b"}},
    {"purge\t/a\t/b c\r", CONTROL_PURGE, 2, {"/a", "/b c"}},
    {"explain\tAccept: a/b\t/x", CONTROL_EXPLAIN, 2, {"Accept: a/b", "/x"}},
    {"find /img/*", CONTROL_FIND, 1, {"/img/*"}},
    {"policy s3fifo", CONTROL_POLICY, 1, {"s3fifo"}},
    {"preload\t\t/x", CONTROL_PRELOAD, 2, {"", "/x"}},
};

static const struct {
	const char	*line, *answer;
} bad[] = {
	{ "", "bad there is no such command; ampedctl help lists them\n.\n" },
	{ " ", "bad there is no such command; ampedctl help lists them\n.\n" },
	{ "\t", "bad there is no such command; ampedctl help lists them\n.\n" },
	{ "Reload", "bad there is no such command; ampedctl help lists "
	    "them\n.\n" },
	{ "reload\t now", "bad too many words: reload\n.\n" },
	{ "help", "bad there is no such command; ampedctl help lists "
	    "them\n.\n" },
	{ "top", "bad there is no such command; ampedctl help lists them\n.\n" },
	{ "explain", "bad too few words: explain URL\n.\n" },
	{ "policy", "bad too few words: policy "
	    "lru|sieve|s3fifo|lfu|gdsf|auto\n.\n" },
	{ "explain ", "bad too few words: explain URL\n.\n" },
};

START_TEST(understood)
{
	struct control_request	q;
	struct buf		answer = { 0 };
	char			*line = mem_string(good[_i].line);

	ck_assert(control_parse(line, &q, &answer));
	ck_assert_int_eq(q.command, good[_i].command);
	ck_assert_uint_eq(q.n, good[_i].n);
	for (size_t i = 0; i < q.n; i++)
		ck_assert_str_eq(q.words[i], good[_i].words[i]);
	ck_assert_uint_eq(answer.len, 0);
	free(line);
}
END_TEST

START_TEST(refused)
{
	struct control_request	q;
	struct buf		answer = { 0 };
	char			*line = mem_string(bad[_i].line);

	ck_assert(!control_parse(line, &q, &answer));
	ck_assert_str_eq(buf_string(&answer), bad[_i].answer);
	buf_free(&answer);
	free(line);
}
END_TEST

START_TEST(many_words)
{
	struct control_request	 q;
	struct buf		 answer = { 0 };
	char			*line = mem_zero(2 * CONTROL_WORDS_MAX + 10);

	strcpy(line, "purge");
	for (size_t i = 0; i < CONTROL_WORDS_MAX; i++)
		strcpy(line + 5 + 2 * i, " a");
	ck_assert(control_parse(line, &q, &answer));
	ck_assert_uint_eq(q.n, CONTROL_WORDS_MAX);
	strcpy(line, "purge");
	for (size_t i = 0; i <= CONTROL_WORDS_MAX; i++)
		strcpy(line + 5 + 2 * i, " a");
	ck_assert(!control_parse(line, &q, &answer));
	ck_assert_str_eq(buf_string(&answer), "bad too many words\n.\n");
	buf_free(&answer);
	free(line);
}
END_TEST

START_TEST(answers)
{
	struct buf	b = { 0 };
	const char	*text;

	control_begin_answer(&b, CONTROL_VERDICT_BUSY, "in %d s", 5);
	ck_assert_str_eq(buf_string(&b), "busy in 5 s\n");
	ck_assert_int_eq(
	    control_parse_verdict("busy in 5 s", &text), CONTROL_VERDICT_BUSY);
	ck_assert_str_eq(text, "in 5 s");
	ck_assert_int_eq(
	    control_parse_verdict("ok", &text), CONTROL_VERDICT_OK);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(
	    control_parse_verdict("okay", &text), CONTROL_VERDICT_COUNT);
	ck_assert_int_eq(
	    control_parse_verdict("", &text), CONTROL_VERDICT_COUNT);
	b.len = 0;
	control_begin_answer(&b, CONTROL_VERDICT_OK, "%s", "");
	buf_adds(&b, "a line without its end");
	control_end_answer(&b);
	ck_assert_str_eq(buf_string(&b), "ok\na line without its end\n.\n");
	ck_assert_int_eq(control_exit_status(CONTROL_VERDICT_OK), 0);
	ck_assert_int_eq(control_exit_status(CONTROL_VERDICT_CONF), 78);
	buf_free(&b);
}
END_TEST

START_TEST(names)
{
	for (size_t i = 0; i < CONTROL_COUNT; i++) {
		ck_assert_int_eq(control_find(control_rows[i].name), i);
		ck_assert_uint_le(control_rows[i].min, control_rows[i].max);
		ck_assert_uint_le(control_rows[i].max, CONTROL_WORDS_MAX);
		ck_assert(control_rows[i].max == 0 ||
		    control_rows[i].arguments[0] != '\0');
	}
	ck_assert_int_eq(control_find("nothing"), CONTROL_COUNT);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, understood, 0,
	    sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tests, refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tests, many_words);
	tcase_add_test(tests, answers);
	tcase_add_test(tests, names);
}
