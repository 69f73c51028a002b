/* Unit test of proto/why: the promises of the table. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "conf/table.h"
#include "proto/status.h"
#include "proto/why.h"
#include "t/unit/unit.h"

static bool
is_directive(const char *name)
{
	const struct conf_row	*row;
	char			 full[100];

	CONF_EACH_ROW(row) {
		snprintf(full, sizeof(full), "%s %s",
		    conf_blocks[row->block].word, row->word);
		if (strcmp(name, conf_blocks[row->block].arguments ==
		    ARGUMENTS_NONE && row->block != BLOCK_TOP ? full :
		    row->word) == 0)
			return true;
	}
	return false;
}

START_TEST(table)
{
	const char	*sentence = why_sentence(_i);
	const char	*directive = why_directive(_i);
	int		 status = why_status(_i);

	ck_assert(status == 0 || status_known(status));
	ck_assert((_i == WHY_NONE) == (*sentence == '\0'));
	/* A clause that fits into a line of the log. */
	ck_assert(!isupper((unsigned char)*sentence));
	ck_assert(*sentence == '\0' || sentence[strlen(sentence) - 1] != '.');
	ck_assert_ptr_null(strchr(sentence, '\n'));
	ck_assert_msg(*directive == '\0' || is_directive(directive),
	    "there is no directive %s", directive);
}
END_TEST

START_TEST(known)
{
	ck_assert_int_eq(why_status(WHY_NONE), 0);
	ck_assert_int_eq(why_status(WHY_HIDDEN), 403);
	ck_assert_str_eq(why_sentence(WHY_ABSENT), "there is no such file");
	ck_assert_str_eq(why_directive(WHY_RETURN), "return");
	/* A reason fits into a byte. */
	ck_assert_int_le(WHY_COUNT, 256);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, table, 0, WHY_COUNT);
	tcase_add_test(t, known);
}
