/*
 * visible: decides which characters are shown.
 *
 * Characters below a space, and from 0x80 to 0x9f, control many terminals.
 * Invalid UTF-8 is replaced, since some terminals read it as Latin-1, where it
 * may be such a character.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "lib/visible.h"

/* Ranges of control characters; the last three are line separators and
 * characters that change the direction of text. */
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

size_t
visible_decode(const char *text, size_t n, uint32_t *character)
{
	const unsigned char	*at = (const unsigned char *)text;
	static const uint32_t	 lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t			 len = length_of(at[0]);
	uint32_t		 c = len == 1 ? at[0] : at[0] & (0x7fU >> len);

	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (at[i] & 0x3fU);
	}
	*character = c;
	return c < lowest[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ?
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
	len = visible_decode(at, n, &c);
	return len == 0 || is_control(c) ? 0 : len;
}

/* Replaces each byte of a character that may not be shown, but those kept. */
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
visible_print(FILE *to, char *text, size_t n)
{
	if (n == 0)			/* then there may be no text */
		return;
	if (isatty(fileno(to)))
		visible_text(text, n);
	fwrite(text, 1, n, to);
}
