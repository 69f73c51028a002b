/*
 * errors: complaints about a conf, with the line they are about.
 *
 * They are kept until all of the conf has been seen, and printed in the
 * order of the files.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/private.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/visible.h"

#define NEAR	2	/* so many slips of the finger */
#define LONGEST	24	/* no word of ours is longer */
#define SHOWN	200	/* bytes of a line behind the word, at most */

struct conf_complaint {
	struct conf_mark	 mark;
	size_t			 number;	/* in order of finding */
	char			*message;
	const char		*hint;		/* a word that stays, or NULL */
};

void
conf_complain(struct conf_reader *reader, struct conf_mark mark,
    const char *format, ...)
{
	struct conf_complaint	*c;
	va_list			 ap;
	char			*message;

	va_start(ap, format);
	if (vasprintf(&message, format, ap) == -1)
		fatal("no memory for a message");
	va_end(ap);

	reader->complaints = mem_grow(reader->complaints,
	    reader->ncomplaints + 1, sizeof(*reader->complaints));
	c = &reader->complaints[reader->ncomplaints];
	*c = (struct conf_complaint){
		.mark = mark, .number = reader->ncomplaints++,
		.message = message,
	};
}

void
conf_complain_hint(struct conf_reader *reader, const char *word)
{
	reader->complaints[reader->ncomplaints - 1].hint = word;
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many letters must be added, dropped, changed, or swapped with their
 * neighbour (Damerau 1964, Levenshtein 1966), each letter touched once.
 */
static size_t
distance(const char *a, const char *b)
{
	size_t	la = strlen(a), lb = strlen(b);
	size_t	d[LONGEST + 1][LONGEST + 1];

	if (la > LONGEST || lb > LONGEST)
		return LONGEST;
	for (size_t i = 0; i <= la; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++)
		for (size_t j = 1; j <= lb; j++) {
			d[i][j] = least(d[i - 1][j - 1] +
			    (a[i - 1] != b[j - 1]),
			    least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[la][lb];
}

const char *
conf_complain_nearer(const char *typed, const char *best, const char *word)
{
	size_t	d = distance(typed, word);

	if (d > NEAR || d >= strlen(typed) || d >= strlen(word))
		return best;
	return best == NULL || d < distance(typed, best) ? word : best;
}

/* What is about a file as a whole comes behind what has a line. */
static int
by_mark(const void *p, const void *q)
{
	const struct conf_complaint	*a = p, *b = q;
	int				 order;

	if ((a->mark.line == 0) != (b->mark.line == 0))
		return a->mark.line == 0 ? 1 : -1;
	order = conf_mark_order(&a->mark, &b->mark);
	if (order != 0)
		return order;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool
same(const struct conf_complaint *a, const struct conf_complaint *b)
{
	return conf_mark_order(&a->mark, &b->mark) == 0 &&
	    strcmp(a->message, b->message) == 0;
}

/* Characters in UTF-8: all bytes but those that continue one. */
static size_t
characters(const char *at, size_t len)
{
	size_t	n = 0;

	for (size_t i = 0; i < len; i++)
		n += (at[i] & 0xc0) != 0x80;
	return n;
}

static const char *
line_of(const struct conf_source *source, size_t line)
{
	const char	*at = source->text;

	while (--line > 0)
		at = strchr(at, '\n') + 1;
	return at;
}

/* The line without its indentation, and the caret under the word. */
static void
print_line(const struct conf_complaint *c, const char *line, struct buf *out)
{
	size_t	begin = strspn(line, " \t"), end = strcspn(line, "\r\n");
	size_t	carets;

	if (begin > c->mark.column)
		begin = c->mark.column;
	if (end > c->mark.column + SHOWN)
		end = c->mark.column + SHOWN;
	buf_adds(out, "    ");
	for (size_t i = begin; i < end; i++)
		buf_addc(out, (unsigned char)line[i] < ' ' &&
		    line[i] != '\t' ? '?' : line[i]);
	buf_adds(out, "\n    ");
	/* A tab under each tab: it works wherever the terminal's stops are. */
	for (size_t i = begin; i < c->mark.column; i++)
		if ((line[i] & 0xc0) != 0x80)
			buf_addc(out, line[i] == '\t' ? '\t' : ' ');
	buf_addc(out, '^');
	carets = characters(line + c->mark.column, c->mark.len);
	while (carets-- > 1)
		buf_addc(out, '~');
	if (c->hint != NULL)
		buf_addf(out, " did you mean \"%s\"?", c->hint);
	buf_addc(out, '\n');
}

static void
print_one(const struct conf_reader *reader, const struct conf_complaint *c,
    struct buf *out)
{
	const char	*line;

	if (c->mark.line == 0) {
		buf_addf(out, "%s: %s\n",
		    reader->conf->files.at[c->mark.file], c->message);
		return;
	}
	line = line_of(&reader->sources[c->mark.file], c->mark.line);
	buf_addf(out, "%s:%zu:%zu: %s\n",
	    reader->conf->files.at[c->mark.file], c->mark.line,
	    characters(line, c->mark.column) + 1, c->message);
	print_line(c, line, out);
}

void
conf_complain_print(struct conf_reader *reader, struct buf *out)
{
	struct conf_complaint	*c = reader->complaints;
	size_t			 n = reader->ncomplaints, from = out->len;

	qsort(c, n, sizeof(*c), by_mark);
	for (size_t i = 0; i < n; i++) {
		/* A file included twice is read twice. */
		if (i == 0 || !same(&c[i - 1], &c[i]))
			print_one(reader, &c[i], out);
	}
	/* Names are of files that others may have made. */
	if (out->len > from)
		visible_text(out->at + from, out->len - from);
	for (size_t i = 0; i < n; i++)
		mem_drop(&c[i].message);
	mem_drop(&reader->complaints);
	reader->ncomplaints = 0;
}
