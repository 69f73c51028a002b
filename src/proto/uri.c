/*
 * uri: turns the raw path of a request into a path beneath a root.
 *
 * Decodes once: an escape in the result is part of a name.  Links that leave
 * the root are the helper's business.
 */
#include <stdbool.h>
#include <string.h>

#include "proto/char_class.h"
#include "proto/uri.h"

/* Valid in a path besides letters and digits (RFC 3986, section 3.3). */
#define PATH_PLAIN	"-._~!$&'()*+,;=:@/"

/* Cuts one byte, decoded, off the front; an enum why, negative, if not valid.
 * */
static int
take_byte(struct str *raw)
{
	int	c = (unsigned char)raw->at[0], high, low;
	size_t	n = 1;

	if (c == '%') {
		if (raw->len < 3)
			return -WHY_BAD_ESCAPE;
		high = char_class_hex(raw->at[1]);
		low = char_class_hex(raw->at[2]);
		if (high == -1 || low == -1)
			return -WHY_BAD_ESCAPE;
		c = high << 4 | low;
		n = 3;
	}
	if (c < ' ' || c == 0x7f || c == '/')
		return -WHY_BAD_BYTE;
	str_skip(raw, n);
	return c;
}

/* Decodes up to the next slash or the end, and appends to out. */
static enum why
take_segment(struct str *raw, char *out, size_t size, size_t *len)
{
	int	c;

	while (raw->len > 0 && raw->at[0] != '/') {
		c = take_byte(raw);
		if (c < 0)
			return (enum why)-c;
		if (*len + 1 >= size)
			return WHY_PATH_LONG;
		out[(*len)++] = (char)c;
	}
	return WHY_NONE;
}

/*
 * Removes the segment at start if it is dots, and for two dots the one before
 * it, too.  False: it climbs above the root.
 */
static bool
remove_dots(const char *out, size_t start, size_t *len)
{
	size_t	n = *len - start;

	if (n == 0 || n > 2 || memcmp(out + start, "..", n) != 0)
		return true;
	*len = start;
	if (n == 1)
		return true;
	if (start == 1)
		return false;
	do
		(*len)--;
	while (out[*len - 1] != '/');
	return true;
}

/* Whether a segment of the final path is hidden: a/.git/../b has none. */
static bool
is_hidden(const char *path)
{
	static const char	known[] = "/.well-known";
	const size_t		n = sizeof(known) - 1;

	if (strncmp(path, known, n) == 0 && (path[n] == '/' || path[n] == '\0'))
		path += n;
	return strstr(path, "/.") != NULL;
}

enum why
uri_resolve(struct str raw, char *out, size_t size, size_t *len)
{
	size_t		n = 0, start;
	enum why	why;

	if (raw.len == 0 || raw.at[0] != '/')
		return WHY_BAD_ESCAPE;
	if (size < 2)
		return WHY_PATH_LONG;
	/* Each iteration: slashes (one may be there already), a segment. */
	while (raw.len > 0) {
		while (raw.len > 0 && raw.at[0] == '/')
			str_skip(&raw, 1);
		if (n == 0 || out[n - 1] != '/') {
			if (n + 1 >= size)
				return WHY_PATH_LONG;
			out[n++] = '/';
		}
		start = n;
		why = take_segment(&raw, out, size, &n);
		if (why != WHY_NONE) {
			out[n] = '\0';
			*len = n;
			return why;
		}
		if (!remove_dots(out, start, &n))
			return WHY_ABOVE_ROOT;
	}
	out[n] = '\0';
	*len = n;
	return is_hidden(out) ? WHY_HIDDEN : WHY_NONE;
}

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (c != '\0' && strchr(PATH_PLAIN, c));
}

size_t
uri_encode(struct str path, char *out)
{
	static const char	digits[] = "0123456789ABCDEF";
	size_t			n = 0;

	for (size_t i = 0; i < path.len; i++) {
		unsigned char	c = (unsigned char)path.at[i];

		if (is_plain((char)c)) {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '%';
		out[n++] = digits[c >> 4];
		out[n++] = digits[c & 15];
	}
	out[n] = '\0';
	return n;
}
