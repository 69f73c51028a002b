/*
 * lines: reads a file in parts, and finds the newlines.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "ampedctl/lines.h"

/* Reads behind what is left; false: the file has ended or failed. */
static bool
read_part(struct lines *l)
{
	ssize_t	n;

	buf_consume(&l->text, l->at);
	l->at = 0;
	buf_reserve(&l->text, LINES_MAX);
	do
		n = read(l->file, l->text.at + l->text.len, LINES_MAX);
	while (n == -1 && errno == EINTR);
	l->error = n == -1 ? errno : 0;
	if (n > 0)
		l->text.len += (size_t)n;
	return n > 0;
}

/* Takes what is left when there is no more to read. */
static enum lines_kind
take_rest(struct lines *l, bool too_long, struct str *line)
{
	*line = (struct str){ l->text.at + l->at, l->text.len - l->at };
	l->at = l->text.len;
	if (l->error != 0)
		return LINES_FAILED;
	if (too_long)
		return LINES_TOO_LONG;
	return line->len > 0 ? LINES_LINE : LINES_END;
}

enum lines_kind
lines_next(struct lines *l, struct str *line)
{
	const char	*newline;
	bool		 too_long = false;

	buf_reserve(&l->text, 1);
	for (;;) {
		*line = (struct str){ l->text.at + l->at, l->text.len - l->at };
		newline = line->len > 0 ?
		    memchr(line->at, '\n', line->len) : NULL;
		if (newline != NULL) {
			line->len = (size_t)(newline - line->at);
			l->at += line->len + 1;
			return too_long || line->len > LINES_MAX ?
			    LINES_TOO_LONG : LINES_LINE;
		}
		if (line->len > LINES_MAX) {
			too_long = true;
			l->at = l->text.len;
		}
		if (!read_part(l))
			return take_rest(l, too_long, line);
	}
}

void
lines_free(struct lines *l)
{
	buf_free(&l->text);
}
