/*
 * Unit test of conf/foreign: each word of the table gets its advice, and no
 * advice names a word that amped's conf does not have.
 */
#include "conf/table.h"
#include "t/unit/conf/confs.h"

static const struct {
	const char	*directive, *word, *server, *advice;
} rows[] = {
#define FOREIGN(directive, word, server, advice)			\
	{ directive, word, server, advice },
#include "conf/foreign.tbl"
#undef FOREIGN
};

START_TEST(each_word)
{
	const char	*behind = strcmp(rows[_i].directive, "path") == 0 ?
			    " x { }" : "";
	struct buf	 text = { 0 };

	buf_addf(&text, "user %s\n" "site a.org {\nlisten *:80\nroot /\n"
	    "%s %s%s\n}\n", me(), rows[_i].directive, rows[_i].word, behind);
	ck_assert_ptr_null(conf_read_text("t.conf", buf_string(&text),
	    &errors));
	text.len = 0;
	if (rows[_i].server[0] != '\0')
		buf_addf(&text, ": \"%s\" is a word of %s: %s\n",
		    rows[_i].word, rows[_i].server, rows[_i].advice);
	else
		buf_addf(&text, ": \"%s\" behind \"%s\": %s\n", rows[_i].word,
		    rows[_i].directive, rows[_i].advice);
	ck_assert_msg(strstr(buf_string(&errors), buf_string(&text)) != NULL,
	    "%s", buf_string(&errors));
	buf_free(&text);
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
	tcase_add_loop_test(tests, own_words, 0, COUNT(rows));
	tcase_add_test(tests, byte_order_mark);
}
