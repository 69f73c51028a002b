/*
 * errors: the errors in a conf, with file, line and column.
 *
 * Errors are collected until all files were read, and then printed in the order
 * of the files.
 */
#include <sys/param.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/setters.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/visible.h"

#define DISTANCE_MAX	2	/* edits that a mistyped word may have */
#define WORD_MAX	24	/* bytes; no directive is longer */
#define SHOWN_MAX	200	/* bytes of a line from the word on */

struct conf_error {
	struct conf_pos		 pos;
	size_t			 number;	/* in the order of reporting */
	char			*message;
	const char		*hint;		/* a static word, or NULL */
};

void
conf_error(struct conf_reader *reader, struct conf_pos pos,
    const char *format, ...)
{
	struct conf_error	*c;
	va_list			 ap;
	char			*message;

	va_start(ap, format);
	if (vasprintf(&message, format, ap) == -1)
		fatal("no memory for a message");
	va_end(ap);

	reader->errors = mem_grow(reader->errors,
	    reader->nerrors + 1, sizeof(*reader->errors));
	c = &reader->errors[reader->nerrors];
	*c = (struct conf_error){
		.pos = pos, .number = reader->nerrors++,
		.message = message,
	};
}

bool
conf_error_none(struct conf_reader *reader, const struct conf_word *word,
    const char *wrong)
{
	if (wrong != NULL)
		conf_error(reader, word->pos, wrong, word->text);
	return wrong == NULL;
}

void
conf_error_hint(struct conf_reader *reader, const char *word)
{
	reader->errors[reader->nerrors - 1].hint = word;
}

void
conf_error_drop(struct conf_reader *reader, size_t n)
{
	while (reader->nerrors > n)
		mem_drop(&reader->errors[--reader->nerrors].message);
}

void
conf_error_both(struct conf_reader *reader, const struct conf_origin *a,
    const struct conf_origin *b)
{
	const struct conf_origin	*first = a, *later = b;

	if (a->bad || b->bad)
		return;		/* an error was reported */
	if (conf_pos_order(&a->pos, &b->pos) > 0) {
		first = b;
		later = a;
	}
	conf_error(reader, later->pos,
	    "%s and %s exclude each other: %s is given at %s:%zu",
	    later->row->word, first->row->word, first->row->word,
	    reader->conf->files.at[first->pos.file], first->pos.line);
}

/*
 * The edits from one word to the other: letters added, dropped, changed, or
 * swapped with their neighbour (Damerau 1964, Levenshtein 1966), each letter in
 * at most one edit.
 */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t	la = strlen(a), lb = strlen(b);
	size_t	d[WORD_MAX + 1][WORD_MAX + 1];

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (size_t i = 0; i <= la; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++)
		for (size_t j = 1; j <= lb; j++) {
			d[i][j] = MIN(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
			    MIN(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[la][lb];
}

const char *
conf_error_nearer(const char *typed, const char *best, const char *word)
{
	size_t	d = edit_distance(typed, word);

	/* Other servers take words in capitals, too. */
	if (strcasecmp(typed, word) == 0)
		return word;

	/* A number is meant as it stands. */
	if (isdigit((unsigned char)typed[0]))
		return best;
	if (d > DISTANCE_MAX || d >= strlen(typed) || d >= strlen(word))
		return best;
	return best == NULL || d < edit_distance(typed, best) ? word : best;
}

/* Errors about a file as a whole come behind those with a line. */
static int
by_pos(const void *p, const void *q)
{
	const struct conf_error	*a = p, *b = q;
	int				 order;

	if ((a->pos.line == 0) != (b->pos.line == 0))
		return a->pos.line == 0 ? 1 : -1;
	order = conf_pos_order(&a->pos, &b->pos);
	if (order != 0)
		return order;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool
is_same_error(const struct conf_error *a, const struct conf_error *b)
{
	return conf_pos_order(&a->pos, &b->pos) == 0 &&
	    strcmp(a->message, b->message) == 0;
}

/* Characters in UTF-8: all bytes but those that continue one. */
static size_t
count_characters(const char *at, size_t len)
{
	size_t	n = 0;

	for (size_t i = 0; i < len; i++)
		n += (at[i] & 0xc0) != 0x80;
	return n;
}

static const char *
find_line(const struct conf_source *source, size_t line)
{
	const char	*at = source->text;

	while (--line > 0)
		at = strchr(at, '\n') + 1;
	return at;
}

/* The line without its indentation, and the caret under the word. */
static void
print_line(const struct conf_error *c, const char *line, struct buf *out)
{
	size_t	begin = strspn(line, " \t"), end = strcspn(line, "\r\n");
	size_t	carets;

	if (begin > c->pos.column)
		begin = c->pos.column;
	if (end > c->pos.column + SHOWN_MAX)
		end = c->pos.column + SHOWN_MAX;
	buf_adds(out, "    ");
	for (size_t i = begin; i < end; i++)
		buf_addc(out, (unsigned char)line[i] < ' ' &&
		    line[i] != '\t' ? '?' : line[i]);
	buf_adds(out, "\n    ");
	/* A tab under each tab aligns the caret at any width of tabs. */
	for (size_t i = begin; i < c->pos.column; i++)
		if ((line[i] & 0xc0) != 0x80)
			buf_addc(out, line[i] == '\t' ? '\t' : ' ');
	buf_addc(out, '^');
	carets = count_characters(line + c->pos.column, c->pos.len);
	while (carets-- > 1)
		buf_addc(out, '~');
	if (c->hint != NULL)
		buf_addf(out, " did you mean \"%s\"?", c->hint);
	buf_addc(out, '\n');
}

static void
print_error(const struct conf_reader *reader, const struct conf_error *c,
    struct buf *out)
{
	const char	*line;

	if (c->pos.line == 0) {
		buf_addf(out, "%s: %s\n",
		    reader->conf->files.at[c->pos.file], c->message);
		return;
	}
	line = find_line(&reader->sources[c->pos.file], c->pos.line);
	if (reader->unwritten) {
		buf_addf(out, "amped: %.*s: %s\n", (int)c->pos.len,
		    line + c->pos.column, c->message);
		return;
	}
	buf_addf(out, "%s:%zu:%zu: %s\n",
	    reader->conf->files.at[c->pos.file], c->pos.line,
	    count_characters(line, c->pos.column) + 1, c->message);
	print_line(c, line, out);
}

void
conf_error_print(struct conf_reader *reader, struct buf *out)
{
	struct conf_error	*c = reader->errors;
	size_t			 n = reader->nerrors, from = out->len;

	qsort(c, n, sizeof(*c), by_pos);
	for (size_t i = 0; i < n; i++) {
		/* A file that is included twice reports each error twice. */
		if (i == 0 || !is_same_error(&c[i - 1], &c[i]))
			print_error(reader, &c[i], out);
	}
	/* Other users may have chosen the names of files. */
	if (out->len > from)
		visible_text(out->at + from, out->len - from);
	for (size_t i = 0; i < n; i++)
		mem_drop(&c[i].message);
	mem_drop(&reader->errors);
	reader->nerrors = 0;
}
