/*
 * visible: which characters are shown.
 *
 * Bytes from 0x80 to 0x9f are commands to many terminals, alone and as
 * characters of UTF-8; so are those below a space.  What is no UTF-8 is taken
 * for Latin-1 by some, in which it may be one of these.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/visible.h"

/* First and last of those that are obeyed; the last four are lines' ends, and
 * what has a text stand in another order than it is in. */
static const uint32_t	controls[][2] = {
	{ 0x00, 0x1f }, { 0x7f, 0x9f }, { 0x2028, 0x2029 }, { 0x202a, 0x202e },
	{ 0x2066, 0x2069 }
};

static size_t
length_of(unsigned char first)
{
	return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 :
	    first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/* Bytes of the character that begins here; 0: none does. */
static size_t
decode_character(const unsigned char *at, size_t n, uint32_t *character)
{
	static const uint32_t	least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t			len = length_of(at[0]);
	uint32_t		c = len == 1 ? at[0] : at[0] & (0x7fU >> len);

	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (at[i] & 0x3fU);
	}
	*character = c;
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ?
	    0 : len;
}

static bool
is_control(uint32_t c)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (c >= controls[i][0] && c <= controls[i][1])
			return true;
	return false;
}

size_t
visible_character(const char *at, size_t n)
{
	size_t		len;
	uint32_t	c;

	if (at[0] >= ' ' && at[0] <= '~')
		return 1;
	len = decode_character((const unsigned char *)at, n, &c);
	return len == 0 || is_control(c) ? 0 : len;
}

/* Of a character that may not be shown each byte is none. */
static void
make_visible(char *text, size_t n, const char *kept)
{
	size_t	len;

	for (size_t i = 0; i < n; i += len == 0 ? 1 : len) {
		len = visible_character(text + i, n - i);
		if (len == 0 && (text[i] == '\0' ||
		    strchr(kept, text[i]) == NULL))
			text[i] = '?';
	}
}

void
visible_line(char *line, size_t n)
{
	make_visible(line, n, "");
}

void
visible_text(char *text, size_t n)
{
	make_visible(text, n, "\n\t");
}

void
visible_print(FILE *to, const char *text, size_t n)
{
	char	*copy;

	if (n == 0)
		return;
	if (!isatty(fileno(to))) {
		fwrite(text, 1, n, to);
		return;
	}
	copy = mem_get(n);
	memcpy(copy, text, n);
	visible_text(copy, n);
	fwrite(copy, 1, n, to);
	mem_drop(&copy);
}
