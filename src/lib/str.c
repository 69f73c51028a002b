/*
 * str: comparing and cutting text by pointer and length.
 */
#include <string.h>
#include <strings.h>

#include "lib/str.h"

bool
str_same(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool
str_same_nocase(struct str a, struct str b)
{
	/* No process calls setlocale(3), so this compares ASCII. */
	return a.len == b.len &&
	    (a.len == 0 || strncasecmp(a.at, b.at, a.len) == 0);
}

/* Most texts differ in the first byte. */
bool
str_is(struct str s, const char *text)
{
	return s.len > 0 && ((s.at[0] ^ text[0]) & ~0x20) == 0 &&
	    strncasecmp(s.at, text, s.len) == 0 && strlen(text) == s.len;
}

bool
str_is_among(struct str s, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(s, texts[i]))
			return true;
	return false;
}

bool
str_starts(struct str s, struct str with)
{
	return s.len >= with.len &&
	    (with.len == 0 || memcmp(s.at, with.at, with.len) == 0);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct str
str_trim(struct str s)
{
	while (s.len > 0 && is_blank(s.at[0]))
		str_skip(&s, 1);
	while (s.len > 0 && is_blank(s.at[s.len - 1]))
		s.len--;
	return s;
}

bool
str_number(struct str s, int64_t *number)
{
	int64_t	n = 0;

	if (s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.at[i] < '0' || s.at[i] > '9')
			return false;
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, s.at[i] - '0', &n))
			return false;
	}
	*number = n;
	return true;
}

/* The number of bytes before a comma that is not in a quoted string. */
static size_t
element_length(struct str s)
{
	bool	quoted = false;
	size_t	i;

	for (i = 0; i < s.len && (quoted || s.at[i] != ','); i++) {
		if (s.at[i] == '"')
			quoted = !quoted;
		else if (quoted && s.at[i] == '\\' && i + 1 < s.len)
			i++;
	}
	return i;
}

bool
str_next(struct str *rest, struct str *element)
{
	size_t	n, cut;

	while (rest->len > 0) {
		n = element_length(*rest);
		*element = str_trim((struct str){ rest->at, n });
		cut = n < rest->len ? n + 1 : n;	/* the comma too */
		str_skip(rest, cut);
		if (element->len > 0)
			return true;
	}
	return false;
}

struct str
str_cut(struct str *s, char c)
{
	struct str	 part = *s;
	const char	*end;

	if (s->len == 0)
		return part;
	end = memchr(s->at, c, s->len);
	if (end != NULL)
		part.len = (size_t)(end - s->at);
	str_skip(s, part.len + (end != NULL));
	return part;
}

bool
str_has_control(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.at[i] < ' ' || s.at[i] == 0x7f)
			return true;
	return false;
}
