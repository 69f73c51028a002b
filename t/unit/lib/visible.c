/*
 * Tests of lib/visible: every byte and every character.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/visible.h"
#include "t/unit/unit.h"

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
	const char	*text, *line;
} cases[] = {
	{ "",			"" },
	{ "plain ~",		"plain ~" },
	{ "a\nb\tc\rd\033[31m",	"a?b?c?d?[31m" },
	{ "\x7f",		"?" },
	/* C1: as bytes, and as characters. */
	{ "\x9b" "31mRED",	"?31mRED" },
	{ "\xc2\x9b" "31mRED",	"??31mRED" },
	{ "\xc2\x80\xc2\x9f",	"????" },
	{ "\xc2\xa0\xc3\xa9",	"\xc2\xa0\xc3\xa9" },
	{ "\x80\x9f\xa0\xff",	"????" },
	/* No UTF-8: cut off, too long, surrogates, beyond the last. */
	{ "\xc3",		"?" },
	{ "\xc3(",		"?(" },
	{ "\xe2\x82",		"??" },
	{ "\xe2\x82\xac",	"\xe2\x82\xac" },
	{ "\xc0\x9b\xc1\xbf",	"????" },
	{ "\xe0\x82\x9b",	"???" },
	{ "\xf0\x80\x82\x9b",	"????" },
	{ "\xed\xa0\x80",	"???" },
	{ "\xf4\x8f\xbf\xbf",	"\xf4\x8f\xbf\xbf" },
	{ "\xf4\x90\x80\x80",	"????" },
	{ "\xf5\x80\x80\x80",	"????" },
	{ "\xf0\x9f\x98\x80!",	"\xf0\x9f\x98\x80!" },
	{ "\xe2\xe2\x82\xac",	"?\xe2\x82\xac" },
	/* Changes of direction, and line separators. */
	{ "\xe2\x80\xae" "a",	"???a" },
	{ "\xe2\x81\xa6\xe2\x81\xa9", "??????" },
	{ "\xe2\x80\xa8\xe2\x80\xa9", "??????" },
	{ "\xe2\x80\x8f",	"\xe2\x80\x8f" },
};

START_TEST(lines)
{
	char	text[64];

	strcpy(text, cases[_i].text);
	visible_line(text, strlen(text));
	ck_assert_str_eq(text, cases[_i].line);
}
END_TEST

START_TEST(texts)
{
	char	text[] = "a\n\tb\r\0\x9b\n";

	visible_text(text, sizeof(text) - 1);
	ck_assert_mem_eq(text, "a\n\tb???\n", sizeof(text));
}
END_TEST

/* The expected length of a character; 0: it may not be shown. */
static size_t
shown(const unsigned char *at, size_t n)
{
	size_t		len = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 :
			    at[0] < 0xf0 ? 3 : 4;
	uint32_t	c = at[0] & (len == 1 ? 0x7f : 0xff >> (len + 1));

	if (len > n)
		return 0;
	for (size_t k = 1; k < len; k++) {
		if ((at[k] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (at[k] & 0x3f);
	}
	return c >= 0x20 && (c < 0x7f || c > 0x9f) ? len : 0;
}

/* Bytes at random. */
START_TEST(arbitrary)
{
	unsigned char	text[8];
	size_t		len;

	srandom(1);
	for (int turn = 0; turn < 500000; turn++) {
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (unsigned char)(random() >> 8);
		visible_line((char *)text, sizeof(text));
		for (size_t i = 0; i < sizeof(text); i += len) {
			len = shown(text + i, sizeof(text) - i);
			if (len == 0)
				ck_abort_msg("turn %d: %s", turn,
				    unit_show(text, sizeof(text)));
		}
	}
}
END_TEST

/* Opens both ends of a terminal; false: the system has none. */
static bool
open_terminal(int ends[2])
{
	ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
	if (ends[0] == -1 || grantpt(ends[0]) == -1 || unlockpt(ends[0]) == -1)
		return false;
	ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
	return ends[1] != -1;
}

/* Text that goes elsewhere than to a terminal is not changed. */
START_TEST(printed)
{
	char	text[16] = "";
	FILE	*file = tmpfile();
	char	line[] = "\x9b" "a\n", accent[] = "\x9b" "a\xc3\xa9\n";
	int	ends[2];

	ck_assert_ptr_nonnull(file);
	visible_print(file, line, 3);
	visible_print(file, NULL, 0);
	rewind(file);
	ck_assert_uint_eq(fread(text, 1, sizeof(text), file), 3);
	ck_assert_mem_eq(text, "\x9b" "a\n", 3);
	fclose(file);
	if (!open_terminal(ends))
		return;
	file = fdopen(ends[1], "w");
	ck_assert_ptr_nonnull(file);
	visible_print(file, accent, 5);
	fflush(file);
	ck_assert_int_ge(read(ends[0], text, sizeof(text)), 5);
	ck_assert_mem_eq(text, "?a\xc3\xa9", 4);
	fclose(file);
	close(ends[0]);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, lines, 0, COUNT(cases));
	tcase_add_test(tests, texts);
	tcase_add_test(tests, arbitrary);
	tcase_add_test(tests, printed);
}
