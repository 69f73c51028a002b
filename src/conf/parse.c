/*
 * parse: reads statements, blocks and included files into a conf.
 *
 * The parser goes on after an error.  directive.c reads the values of a
 * statement.
 */
#include <errno.h>
#include <glob.h>
#include <string.h>

#include "conf/foreign.h"
#include "conf/run.h"
#include "conf/setters.h"
#include "lib/mem.h"
#include "lib/regular.h"

#define INCLUDE_DEPTH	16

struct statement {
	struct conf_word	*words;
	size_t			 n;
	enum conf_token		 end;		/* behind the last word */
	struct conf_pos		 end_pos;
};

struct scope {				/* the block around a statement */
	enum conf_block		 block;
	struct conf_object	 object;
	struct conf_site	*site;		/* NULL: outside of a site */
};

struct file {				/* being parsed */
	struct conf_lexer	 lexer;
	const struct file	*from;		/* includes this one, or NULL */
	size_t			 depth;		/* 0: included by none */
};

static void	parse_file(struct conf_reader *, size_t, const struct file *,
		    const struct scope *);
static void	parse_block(struct file *, const struct scope *,
		    const struct conf_word *);

static void
statement_next(struct conf_lexer *lexer, struct statement *s)
{
	struct conf_word	word;

	*s = (struct statement){ 0 };
	while ((s->end = conf_lexer_next(lexer, &word)) == TOKEN_WORD) {
		s->words = mem_grow(s->words, s->n + 1, sizeof(*s->words));
		s->words[s->n++] = word;
	}
	s->end_pos = lexer->pos;
}

static void
statement_drop(struct statement *s)
{
	for (size_t i = 0; i < s->n; i++)
		mem_drop(&s->words[i].text);
	mem_drop(&s->words);
}

/* Skips the rest of an unknown block, behind its opening brace. */
static void
skip_block(struct conf_lexer *lexer)
{
	struct statement	s;
	size_t			depth = 1;

	while (depth > 0) {
		statement_next(lexer, &s);
		statement_drop(&s);
		if (s.end == TOKEN_OPEN)
			depth++;
		else if (s.end == TOKEN_CLOSE)
			depth--;
		else if (s.end == TOKEN_EOF)
			return;
	}
}

static struct conf_site *
add_site(struct conf *conf)
{
	struct conf_site	*site;

	conf->sites = mem_grow(conf->sites, conf->nsites + 1,
	    sizeof(*conf->sites));
	site = &conf->sites[conf->nsites];
	*site = (struct conf_site){ .number = conf->nsites };
	conf->nplaces = ++conf->nsites;
	return site;
}

static struct conf_path *
add_path(struct conf_site *site)
{
	site->paths = mem_grow(site->paths, site->npaths + 1,
	    sizeof(*site->paths));
	site->paths[site->npaths] = (struct conf_path){ 0 };
	return &site->paths[site->npaths++];
}

static struct conf_files *
add_files(struct conf_site *site)
{
	site->files = mem_grow(site->files, site->nfiles + 1,
	    sizeof(*site->files));
	site->files[site->nfiles] = (struct conf_files){ 0 };
	return &site->files[site->nfiles++];
}

static void
add_names(struct conf_reader *reader, struct conf_site *site,
    const struct statement *s)
{
	for (size_t i = 1; i < s->n; i++) {
		if (conf_name_site(reader, &s->words[i], &site->names))
			conf_origin_add(conf_object_site(site), NULL,
			    site->names.n - 1, s->words[i].pos, false);
	}
	if (s->n == 1)
		conf_error(reader, s->words[0].pos,
		    "\"site\" needs a name, or \"default\"");
}

/* A wrong prefix is set to "", so that the rest of the block is checked. */
static void
set_prefix(struct conf_reader *reader, struct conf_path *path,
    const struct statement *s)
{
	const struct conf_word	*word = &s->words[s->n - 1];

	if (s->n == 3 && conf_foreign_error(reader, "path", &s->words[1]))
		;
	else if (s->n != 2)
		conf_error(reader, word->pos, "\"path\" needs one path");
	else
		path->prefix = conf_name_prefix(reader, word);
	conf_origin_add(conf_object_path(path), NULL, 0, word->pos,
	    path->prefix == NULL);
	if (path->prefix == NULL)
		path->prefix = mem_string("");
}

static void
add_patterns(struct conf_reader *reader, struct conf_files *files,
    const struct statement *s)
{
	conf_origin_add(conf_object_files(files), NULL, 0, s->words[0].pos,
	    false);
	for (size_t i = 1; i < s->n; i++)
		conf_access_add_pattern(reader, &s->words[i], &files->patterns);
	if (s->n == 1)
		conf_error(reader, s->words[0].pos,
		    "\"files\" needs a pattern of names");
}

/* A wrong name is set to "", so that the rest of the block is checked. */
static void
set_name(struct conf_reader *reader, char **name, struct conf_object object,
    const struct statement *s)
{
	const struct conf_word	*word = &s->words[s->n - 1];
	bool			 good;

	good = conf_error_none(reader, word, s->n == 2 ?
	    conf_program_wrong_name(word->text) :
	    "this block needs one name");
	*name = mem_string(good ? word->text : "");
	conf_origin_add(object, NULL, 0, word->pos, !good);
}

/* Adds a program or a chain. */
static struct conf_object
add_named(struct conf_reader *reader, enum conf_block block,
    const struct statement *s)
{
	struct conf_object	 object;
	struct conf_program	*program;
	struct conf_chain	*chain;
	char			**name;

	if (block == BLOCK_PROGRAM) {
		program = conf_program_add(reader->conf);
		object = conf_object_program(program);
		name = &program->name;
	} else {
		chain = conf_chain_add(reader->conf);
		object = conf_object_chain(chain);
		name = &chain->name;
	}
	set_name(reader, name, object, s);
	return object;
}

/* Reads a block's arguments; returns the scope within the block. */
static struct scope
enter_block(struct conf_reader *reader, enum conf_block block,
    const struct scope *outer, const struct statement *s)
{
	struct scope		 inner = *outer;
	struct conf_path	*path;
	struct conf_files	*files;

	inner.block = block;
	switch (conf_blocks[block].arguments) {
	case ARGUMENTS_NAMES:
		inner.site = add_site(reader->conf);
		inner.object = conf_object_site(inner.site);
		add_names(reader, inner.site, s);
		break;
	case ARGUMENTS_PREFIX:
		path = add_path(outer->site);
		inner.object = conf_object_path(path);
		set_prefix(reader, path, s);
		break;
	case ARGUMENTS_PATTERNS:
		files = add_files(outer->site);
		inner.object = conf_object_files(files);
		add_patterns(reader, files, s);
		break;
	case ARGUMENTS_NAME:
		inner.object = add_named(reader, block, s);
		break;
	case ARGUMENTS_NONE:
		if (s->n > 1)
			conf_error(reader, s->words[1].pos,
			    "unexpected \"%s\" behind \"%s\"",
			    s->words[1].text, s->words[0].text);
		break;
	}
	return inner;
}

/* Reads a brace on a line of its own; false: there is none. */
static bool
brace_follows(struct conf_lexer *lexer)
{
	struct conf_lexer	ahead = *lexer;
	struct statement	s;

	do {
		statement_next(&ahead, &s);
		statement_drop(&s);
	} while (s.n == 0 && s.end == TOKEN_END);
	if (s.n > 0 || s.end != TOKEN_OPEN)
		return false;
	*lexer = ahead;
	return true;
}

static void
parse_inner(struct file *file, enum conf_block block,
    const struct scope *outer, const struct statement *s)
{
	struct conf_reader	*reader = file->lexer.reader;
	struct scope		 inner = enter_block(reader, block, outer, s);
	bool			 open = s->end == TOKEN_OPEN;

	if (!open) {
		conf_error(reader, s->words[s->n - 1].pos,
		    "block \"%s\" needs a \"{\" at the end of this line",
		    s->words[0].text);
		open = s->end == TOKEN_END && brace_follows(&file->lexer);
	}
	if (open)
		parse_block(file, &inner, &s->words[0]);
	if (conf_blocks[block].arguments != ARGUMENTS_NONE)
		conf_value_default(reader, inner.object);
}

/* Escapes the directory's name, which is no pattern. */
static void
add_literally(const char *dir, struct buf *pattern)
{
	for (; *dir != '\0'; dir++) {
		if (strchr("*?[]\\", *dir) != NULL)
			buf_addc(pattern, '\\');
		buf_addc(pattern, *dir);
	}
}

static bool
is_included(const struct conf_reader *reader, const struct file *file,
    size_t number)
{
	const struct conf_source	*new = &reader->sources[number], *old;

	for (; file != NULL; file = file->from) {
		old = &reader->sources[file->lexer.pos.file];
		if (old->ino != 0 && old->ino == new->ino &&
		    old->dev == new->dev)
			return true;
	}
	return false;
}

static void
include_one(struct file *file, const char *name, const struct scope *scope,
    const struct conf_word *word)
{
	struct conf_reader	*reader = file->lexer.reader;
	const char		*wrong = regular_other_kind(name);
	size_t			 number;

	if (file->depth == INCLUDE_DEPTH)
		conf_error(reader, word->pos,
		    "more than %d files include one another", INCLUDE_DEPTH);
	else if (wrong != NULL)
		conf_error(reader, word->pos, "%s is %s, not a file", name,
		    wrong);
	else if (!conf_source_read(reader, name, false, &number))
		conf_error(reader, word->pos, "%s: %s", name,
		    strerror(errno));
	else if (is_included(reader, file, number))
		conf_error(reader, word->pos, "%s includes itself", name);
	else
		parse_file(reader, number, file, scope);
}

static void
include_pattern(struct file *file, const struct scope *scope,
    const struct conf_word *word)
{
	struct conf_reader	*reader = file->lexer.reader;
	struct buf		 pattern = { 0 };
	glob_t			 found;

	if (word->text[0] != '/') {
		add_literally(reader->sources[word->pos.file].dir, &pattern);
		buf_addc(&pattern, '/');
	}
	buf_adds(&pattern, word->text);
	if (glob(buf_string(&pattern), 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			include_one(file, found.gl_pathv[i], scope, word);
		globfree(&found);
	}
	buf_free(&pattern);
}

static void
parse_include(struct file *file, const struct scope *scope,
    const struct statement *s)
{
	const struct conf_word	*word = &s->words[s->n - 1];
	char			*name;

	if (s->n != 2) {
		conf_error(file->lexer.reader, word->pos,
		    "\"include\" needs one file or pattern");
	} else if (strpbrk(word->text, "*?[") != NULL) {
		include_pattern(file, scope, word);
	} else {
		name = conf_source_path(file->lexer.reader, word);
		include_one(file, name, scope, word);
		mem_drop(&name);
	}
}

/* Chooses the scope of a block that is unknown, so that what is in it is
 * checked in the same round; an error was reported, so no server gets the
 * objects.  A new site, path or program would move the outer one: there is none
 * within another. */
static struct scope
guess_scope(struct conf_reader *reader, enum conf_block block,
    const struct scope *outer, const struct statement *s)
{
	struct scope		 inner = *outer;
	struct conf_path	*path;

	if (block >= BLOCK_PROGRAM && outer->block == BLOCK_TOP)
		return enter_block(reader, block, outer, s);
	if (block == outer->block || block < BLOCK_SITE ||
	    (block == BLOCK_SITE ? outer->site != NULL :
	    outer->block > BLOCK_SITE)) {
		inner.block = block < BLOCK_SITE ? block : outer->block;
		return inner;
	}
	inner.block = block;
	if (inner.site == NULL)
		inner.site = add_site(reader->conf);
	inner.object = conf_object_site(inner.site);
	if (block != BLOCK_PATH)
		return inner;
	path = add_path(inner.site);
	path->prefix = mem_string("");
	inner.object = conf_object_path(path);
	conf_origin_add(inner.object, NULL, 0, s->words[0].pos, true);
	return inner;
}

/* Reads what is within an unknown block as if it were a block of amped's. */
static void
parse_guessed(struct file *file, enum conf_block block,
    const struct scope *outer, const struct statement *s)
{
	struct conf_reader	*reader = file->lexer.reader;
	struct scope		 inner = guess_scope(reader, block, outer, s);

	parse_block(file, &inner, &s->words[0]);
	if (inner.object.at != outer->object.at)
		conf_value_default(reader, inner.object);
	if (inner.site != outer->site && inner.block == BLOCK_PATH)
		conf_value_default(reader, conf_object_site(inner.site));
}

/* Reports an unknown word, and reads its block; the block around it may lack
 * what was meant by the word. */
static void
parse_unknown(struct file *file, const struct scope *scope,
    const struct statement *s)
{
	struct conf_origin	*around = conf_origin(scope->object, NULL, 0);
	enum conf_block		 likely;
	bool			 known;

	known = conf_directive_unknown(file->lexer.reader, s->words, s->n,
	    s->end == TOKEN_OPEN, scope->block, &likely);
	if (around != NULL)
		around->bad = true;
	if (s->end != TOKEN_OPEN)
		return;
	if (known && likely != BLOCK_FILES)
		parse_guessed(file, likely, scope, s);
	else
		skip_block(&file->lexer);
}

static void
parse_statement(struct file *file, const struct scope *scope,
    const struct statement *s)
{
	struct conf_reader	*reader = file->lexer.reader;
	const struct conf_word	*word = &s->words[0];
	const struct conf_row	*row = NULL;
	enum conf_block		 block;
	const char		*last;

	if (conf_block_find(word->text, scope->block, &block)) {
		parse_inner(file, block, scope, s);
		return;
	}
	if (strcmp(word->text, "include") == 0) {
		parse_include(file, scope, s);
	} else if ((row = conf_row_find_word(word->text, scope->block)) !=
	    NULL) {
		conf_directive_apply(reader, scope->object, row, s->words,
		    s->n);
	} else {
		parse_unknown(file, scope, s);
		return;
	}
	if (s->end != TOKEN_OPEN)
		return;
	last = s->words[s->n - 1].text;
	conf_error(reader, s->end_pos, last[0] != '\0' &&
	    last[strlen(last) - 1] == '%' ? "a word with %%{...} in it needs "
	    "quotes" : "\"%s\" is not a block", word->text);
	skip_block(&file->lexer);
}

/* Parses up to the closing brace, or without opener to the end of the file. */
static void
parse_block(struct file *file, const struct scope *scope,
    const struct conf_word *opener)
{
	struct conf_reader	*reader = file->lexer.reader;
	struct statement	 s;

	do {
		statement_next(&file->lexer, &s);
		if (s.n > 0) {
			parse_statement(file, scope, &s);
		} else if (s.end == TOKEN_OPEN) {
			conf_error(reader, s.end_pos,
			    "\"{\" without a word before it");
			skip_block(&file->lexer);
		}
		statement_drop(&s);
		if (s.end == TOKEN_CLOSE && opener != NULL)
			return;
		if (s.end == TOKEN_CLOSE)
			conf_error(reader, s.end_pos,
			    "\"}\" closes nothing");
	} while (s.end != TOKEN_EOF);
	if (opener != NULL)
		conf_error(reader, opener->pos,
		    "block \"%s\" is not closed: a \"}\" is missing",
		    opener->text);
}

static void
parse_file(struct conf_reader *reader, size_t number, const struct file *from,
    const struct scope *scope)
{
	struct file	file = {
		.from = from, .depth = from == NULL ? 0 : from->depth + 1,
	};

	conf_lexer_start(&file.lexer, reader, number);
	parse_block(&file, scope, NULL);
}

void
conf_parse(struct conf_reader *reader, size_t source)
{
	struct scope	top = { BLOCK_TOP, conf_object(reader->conf), NULL };

	parse_file(reader, source, NULL, &top);
}
