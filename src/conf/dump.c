/*
 * dump: prints a conf in force as text, with the place of each value, and the
 * table of directives for other programs.
 *
 * The text can be read as a conf, and gives the same conf.
 */
#include <string.h>

#include "conf/run.h"
#include "lib/mem.h"

#define INDENT		4
#define COMMENT_MAX	64	/* columns before the comments, at most */

struct line {
	char	*text, *comment;	/* owned; comment may be NULL */
};

struct dump {
	const struct conf	*conf;
	struct line		*lines;
	size_t			 n;
	int			 depth;
};

/* A statement being built, of values that stand on the same line. */
struct statement {
	const char			*word;	/* NULL: none */
	const struct conf_origin	*from;
	struct buf			 text;
};

static void
add_line(struct dump *d, const char *text, const char *comment)
{
	struct buf	line = { 0 };

	if (text[0] != '\0')
		buf_addf(&line, "%*s%s", d->depth * INDENT, "", text);
	buf_string(&line);
	d->lines = mem_add_room(d->lines, d->n, sizeof(*d->lines));
	d->lines[d->n++] = (struct line){
		line.at, comment == NULL ? NULL : mem_string(comment)
	};
}

static void
add_from(struct dump *d, const char *text, const struct conf_origin *from)
{
	struct buf	where = { 0 };

	if (from == NULL)
		buf_adds(&where, "default");
	else
		buf_addf(&where, "%s%s:%zu", from->by_profile ?
		    "by profile: " : "", d->conf->files.at[from->pos.file],
		    from->pos.line);
	add_line(d, text, buf_string(&where));
	buf_free(&where);
}

static void
flush_statement(struct dump *d, struct statement *s)
{
	if (s->word != NULL)
		add_from(d, buf_string(&s->text), s->from);
	s->word = NULL;
	s->text.len = 0;
}

static int
word_width(enum conf_block block)
{
	const struct conf_row	*row;
	size_t			 width = 0;

	CONF_EACH_ROW(row) {
		if (row->block == block && strlen(row->word) > width)
			width = strlen(row->word);
	}
	return (int)width;
}

static bool
same_line(const struct conf_origin *a, const struct conf_origin *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->pos.file == b->pos.file && a->pos.line == b->pos.line;
}

/* "*:80" is one word, but two elements. */
static bool
same_word(const struct conf_origin *a, const struct conf_origin *b)
{
	return a != NULL && b != NULL && same_line(a, b) &&
	    a->pos.column == b->pos.column;
}

/* Whether a value is positional and not the first: it must stand behind the
 * value before it. */
static bool
must_follow(const struct conf_row *row)
{
	return row > conf_rows && row->part[0] == '\0' &&
	    row[-1].block == row->block && strcmp(row[-1].word, row->word) == 0;
}

/* A pair needs a statement of its own, and so do "run" and "chain": what stands
 * behind "for" are patterns up to the end. */
static bool
may_follow(const struct statement *s, const struct conf_row *row,
    const struct conf_origin *from)
{
	return s->word != NULL && strcmp(s->word, row->word) == 0 &&
	    (must_follow(row) || (same_line(s->from, from) &&
	    conf_value_words(row) == 1 && row->type != TYPE_RUN &&
	    row->type != TYPE_CHAIN));
}

static void
add_value(struct dump *d, struct statement *s, struct conf_object object,
    const struct conf_row *row, size_t element)
{
	const struct conf_origin	*from = conf_origin(object, row,
					    element);

	if (from == NULL &&
	    (row->value == CONF_REQUIRED || row->value[0] == '\0'))
		return;		/* a path has the site's value */
	if (element > 0 && same_word(from, conf_origin(object, row,
	    element - 1)))
		return;
	if (!may_follow(s, row, from)) {
		flush_statement(d, s);
		s->word = row->word;
		s->from = from;
		buf_addf(&s->text, "%-*s", word_width(row->block), row->word);
	}
	buf_addf(&s->text, " %s%s", row->part, row->part[0] ? " " : "");
	conf_value_print(row, conf_member(object, row), element, &s->text);
}

/* Whether a row can have an effect on an object: a program refuses others. */
static bool
takes(struct conf_object object, const struct conf_row *row)
{
	return object.kind != BLOCK_PROGRAM || conf_run_takes(object.at, row);
}

static void
dump_rows(struct dump *d, struct conf_object object, enum conf_block block)
{
	struct statement	 s = { 0 };
	const struct conf_row	*row;
	size_t			 n;

	CONF_EACH_ROW(row) {
		if (row->block != block || !takes(object, row))
			continue;
		if (row->type == TYPE_USER && d->conf->user == NULL) {
			add_line(d, "# user: the one who starts it", NULL);
			continue;
		}
		n = conf_value_count(row, conf_member(object, row));
		for (size_t i = 0; i < n; i++)
			add_value(d, &s, object, row, i);
	}
	flush_statement(d, &s);
	buf_free(&s.text);
}

/* Dumps a block up to its end.  The argument is words with a blank before each,
 * quoted where needed. */
static void
open_block(struct dump *d, enum conf_block block, struct conf_object object,
    const char *argument)
{
	struct buf	text = { 0 };

	buf_addf(&text, "%s%s {", conf_blocks[block].word, argument);
	if (object.kind == BLOCK_TOP)
		add_line(d, buf_string(&text), NULL);
	else
		add_from(d, buf_string(&text), conf_origin(object, NULL, 0));
	buf_free(&text);
	d->depth++;
	dump_rows(d, object, block);
}

static void
close_block(struct dump *d)
{
	d->depth--;
	add_line(d, "}", NULL);
}

static void
dump_path(struct dump *d, struct conf_path *path)
{
	struct buf	prefix = { 0 };

	buf_addc(&prefix, ' ');
	conf_value_quote(path->prefix, &prefix);
	open_block(d, BLOCK_PATH, conf_object_path(path), buf_string(&prefix));
	close_block(d);
	buf_free(&prefix);
}

static void
dump_files(struct dump *d, struct conf_files *files)
{
	struct buf	patterns = { 0 };

	for (size_t i = 0; i < files->patterns.n; i++) {
		buf_addc(&patterns, ' ');
		conf_value_quote(files->patterns.at[i], &patterns);
	}
	open_block(d, BLOCK_FILES, conf_object_files(files),
	    buf_string(&patterns));
	close_block(d);
	buf_free(&patterns);
}

static void
dump_site(struct dump *d, struct conf_site *site)
{
	struct buf	names = { 0 };

	for (size_t i = 0; i < site->names.n; i++)
		buf_addf(&names, " %s", site->names.at[i]);
	open_block(d, BLOCK_SITE, conf_object_site(site), buf_string(&names));
	for (size_t i = 0; i < site->npaths; i++)
		dump_path(d, &site->paths[i]);
	for (size_t i = 0; i < site->nfiles; i++)
		dump_files(d, &site->files[i]);
	close_block(d);
	buf_free(&names);
}

static void
dump_named(struct dump *d, const char *text, struct conf_object object)
{
	struct buf	name = { 0 };

	if (text == NULL)
		return;			/* a directive cgi has it */
	buf_addf(&name, " %s", text);
	open_block(d, object.kind, object, buf_string(&name));
	close_block(d);
	buf_free(&name);
}

static void
print_lines(struct dump *d, FILE *out)
{
	int	width = 0, len;

	for (size_t i = 0; i < d->n; i++) {
		len = (int)strlen(d->lines[i].text);
		if (d->lines[i].comment != NULL && len > width &&
		    len <= COMMENT_MAX)
			width = len;
	}
	for (size_t i = 0; i < d->n; i++) {
		if (d->lines[i].comment != NULL)
			fprintf(out, "%-*s  # %s\n", width, d->lines[i].text,
			    d->lines[i].comment);
		else
			fprintf(out, "%s\n", d->lines[i].text);
		mem_drop(&d->lines[i].text);
		mem_drop(&d->lines[i].comment);
	}
	mem_drop(&d->lines);
}

void
conf_dump(const struct conf *conf, FILE *out)
{
	struct conf		 all = *conf;	/* conf_object() is not const */
	struct dump		 d = { .conf = conf };
	struct conf_object	 object = conf_object(&all);

	dump_rows(&d, object, BLOCK_TOP);
	for (enum conf_block b = 0; b < BLOCK_COUNT; b++) {
		if (b == BLOCK_TOP ||
		    conf_blocks[b].arguments != ARGUMENTS_NONE)
			continue;
		open_block(&d, b, object, "");
		close_block(&d);
	}
	for (size_t i = 0; i < conf->nprograms; i++)
		dump_named(&d, conf->programs[i].name,
		    conf_object_program(&conf->programs[i]));
	for (size_t i = 0; i < conf->nchains; i++)
		dump_named(&d, conf->chains[i].name,
		    conf_object_chain(&conf->chains[i]));
	for (size_t i = 0; i < conf->nsites; i++)
		dump_site(&d, &conf->sites[i]);
	print_lines(&d, out);
}

static void
list_rows(enum conf_block block, FILE *out)
{
	const struct conf_row	*row;
	struct buf		 type = { 0 };

	CONF_EACH_ROW(row) {
		if (row->block != block)
			continue;
		type.len = 0;
		fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
		    block == BLOCK_TOP ? "top" : conf_blocks[block].word,
		    row->word, row->part, conf_value_type(row, &type),
		    row->value == CONF_REQUIRED ? "required" : row->value,
		    row->lowest, row->highest, row->help);
	}
	buf_free(&type);
}

void
conf_dump_table(FILE *out)
{
	const struct conf_block_row	*block;

	fprintf(out, "any\tinclude\t\tpattern\t\t\t\t%s\n",
	    "Reads other files here.");
	for (enum conf_block b = 0; b < BLOCK_COUNT; b++) {
		block = &conf_blocks[b];
		if (b != BLOCK_TOP)
			fprintf(out, "%s\t%s\t\tblock\t\t\t\t%s\n",
			    block->inside == BLOCK_TOP ? "top" :
			    conf_blocks[block->inside].word, block->word,
			    block->help);
		list_rows(b, out);
	}
}
