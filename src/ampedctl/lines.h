/*
 * lines: the lines of a file, one after the other.
 *
 * A line has a limit, so a file without newlines needs no more memory than any
 * other.
 */
#ifndef AMPEDCTL_LINES_H
#define AMPEDCTL_LINES_H

#include <stddef.h>

#include "lib/buf.h"
#include "lib/str.h"

#define LINES_MAX	65536	/* bytes of a line */

enum lines_kind {
	LINES_LINE,
	LINES_TOO_LONG,		/* the line is left out */
	LINES_END,
	LINES_FAILED		/* lines.error says why */
};

struct lines {			/* begins as all zero, but for the file */
	int		file;
	struct buf	text;
	size_t		at;	/* of text: the next line */
	int		error;	/* errno of the last read; 0: none */
};

/* Takes the next line, without its newline; valid until the next call. */
enum lines_kind	lines_next(struct lines *, struct str *line);
void		lines_free(struct lines *);

#endif
