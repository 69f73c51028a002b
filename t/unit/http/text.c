/*
 * Tests of what stands in lines of a log: every byte there is.
 */
#include <stdio.h>
#include <string.h>

#include "http/text.h"
#include "t/unit/unit.h"

static bool
is_plain(int byte, const char *also)
{
	return byte >= ' ' && byte < 0x7f && byte != '\\' &&
	    memchr(also, byte, strlen(also)) == NULL;
}

START_TEST(every_byte)
{
	static const char *const	also[] = { "", "\"", " \"", "\" " };
	char				byte, is[8], expected[8], *end;

	for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++)
		for (int b = 0; b < 256; b++) {
			byte = (char)b;
			end = text_escape((struct str){ &byte, 1 }, also[i],
			    is, is + sizeof(is));
			*end = '\0';
			snprintf(expected, sizeof(expected),
			    is_plain(b, also[i]) ? "%c" : "\\x%02x", b);
			ck_assert_str_eq(is, expected);
		}
}
END_TEST

START_TEST(no_room)
{
	char	is[9] = "........";

	/* Four bytes must be left for what may become of one. */
	ck_assert_ptr_eq(text_escape(STR("a\nbcd"), "", is, is + 8), is + 5);
	ck_assert_mem_eq(is, "a\\x0a...", 8);
	ck_assert_ptr_eq(text_escape(STR("abc"), "", is, is + 3), is);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, every_byte);
	tcase_add_test(tests, no_room);
}
