/*
 * Unit test of ampedctl/lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ampedctl/lines.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

static struct lines	lines;

/* Begins with a file that has these bytes. */
static void
begin(const char *bytes, size_t n)
{
	FILE	*f = tmpfile();

	ck_assert_ptr_nonnull(f);
	lines = (struct lines){ .file = dup(fileno(f)) };
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(lseek(lines.file, 0, SEEK_SET), 0);
}

static void
expect(enum lines_kind kind, const char *text, size_t n)
{
	struct str	line;

	ck_assert_int_eq(lines_next(&lines, &line), kind);
	if (kind != LINES_LINE)
		return;
	ck_assert_uint_eq(line.len, n);
	ck_assert_mem_eq(line.at, text, n);
}

static void
end(void)
{
	expect(LINES_END, "", 0);
	expect(LINES_END, "", 0);
	lines_free(&lines);
	io_close(&lines.file);
}

START_TEST(few)
{
	begin("a\n\nb c\r\n\0\xff\nlast", 15);
	expect(LINES_LINE, "a", 1);
	expect(LINES_LINE, "", 0);
	expect(LINES_LINE, "b c\r", 4);
	expect(LINES_LINE, "\0\xff", 2);
	expect(LINES_LINE, "last", 4);
	end();
	begin("", 0);
	end();
	begin("\n", 1);
	expect(LINES_LINE, "", 0);
	end();
}
END_TEST

/* Lines of all lengths around the limit, with one behind each. */
START_TEST(long_ones)
{
	static const size_t	lengths[] = { LINES_MAX - 1, LINES_MAX,
				    LINES_MAX + 1, 2 * LINES_MAX,
				    2 * LINES_MAX + 1, 10 * LINES_MAX };
	size_t			n = lengths[_i % 6];
	bool			newline = _i < 6;
	char			*bytes = mem_get(n + 3);

	memset(bytes, 'x', n);
	memcpy(bytes + n, "\nb\n", 3);
	begin(bytes, newline ? n + 3 : n);
	expect(n > LINES_MAX ? LINES_TOO_LONG : LINES_LINE, bytes, n);
	if (newline)
		expect(LINES_LINE, "b", 1);
	ck_assert_uint_lt(lines.text.size, 8 * LINES_MAX);
	end();
	free(bytes);
}
END_TEST

START_TEST(failed)
{
	struct str	line;

	lines = (struct lines){ .file = -1 };
	ck_assert_int_eq(lines_next(&lines, &line), LINES_FAILED);
	ck_assert_int_eq(lines.error, EBADF);
	lines_free(&lines);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, few);
	tcase_add_loop_test(tests, long_ones, 0, 12);
	tcase_add_test(tests, failed);
}
