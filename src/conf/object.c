/*
 * object: the table of directives, the objects of a conf that have its rows'
 * members, and the origins of their values.
 */
#include <string.h>

#include "conf/private.h"
#include "conf/strategies.h"
#include "lib/mem.h"
#include "lib/need.h"

const struct conf_block_row conf_blocks[BLOCK_COUNT] = {
#define DIRECTIVE(block, word, part, type, member, def, low, high, help)
#define BLOCK(id, word, inside, arguments, help)			\
	[BLOCK_##id] = { word, BLOCK_##inside, ARGUMENTS_##arguments, help },
#include "conf/directives.tbl"
#undef BLOCK
#undef DIRECTIVE
};

/* The struct that the members of a block's rows belong to. */
#define STRUCT_TOP	struct conf
#define STRUCT_CACHE	struct conf
#define STRUCT_LOG	struct conf
#define STRUCT_LIMITS	struct conf
#define STRUCT_TRANSPORT struct conf
#define STRUCT_SITE	struct conf_site
#define STRUCT_PATH	struct conf_path
#define STRUCT_FILES	struct conf_files
#define STRUCT_PROGRAM	struct conf_program
#define STRUCT_CHAIN	struct conf_chain

const struct conf_row conf_rows[] = {
#define BLOCK(id, word, inside, arguments, help)
#define DIRECTIVE(block, word, part, type, member, def, low, high, help) \
	{ BLOCK_##block, word, part, TYPE_##type,			\
	    offsetof(STRUCT_##block, member), def, low, high, help },
#include "conf/directives.tbl"
#undef BLOCK
#undef DIRECTIVE
};

static const struct profile_value {
	enum conf_profile	 profile;
	enum conf_block		 block;
	const char		*word, *part, *value;
} profile_values[] = {
#define X(profile, block, word, part, value)				\
	{ PROFILE_##profile, BLOCK_##block, word, part, value },
	CONF_PROFILE_VALUES(X)
#undef X
};

const size_t conf_nrows = sizeof(conf_rows) / sizeof(conf_rows[0]);

static bool
block_may_stand(const char *word, enum conf_block block, enum conf_block inside)
{
	return conf_blocks[block].inside == inside && block != BLOCK_TOP &&
	    strcmp(conf_blocks[block].word, word) == 0;
}

bool
conf_block_find(const char *word, enum conf_block inside,
    enum conf_block *block)
{
	for (*block = 0; *block < BLOCK_COUNT; (*block)++) {
		if (block_may_stand(word, *block, inside))
			return true;
	}
	return false;
}

struct conf_object
conf_object(struct conf *conf)
{
	return (struct conf_object){ BLOCK_TOP, conf, &conf->origins };
}

struct conf_object
conf_object_site(struct conf_site *site)
{
	return (struct conf_object){ BLOCK_SITE, site, &site->origins };
}

struct conf_object
conf_object_path(struct conf_path *path)
{
	return (struct conf_object){ BLOCK_PATH, path, &path->origins };
}

struct conf_object
conf_object_files(struct conf_files *files)
{
	return (struct conf_object){ BLOCK_FILES, files, &files->origins };
}

struct conf_object
conf_object_program(struct conf_program *program)
{
	return (struct conf_object){
		BLOCK_PROGRAM, program, &program->origins
	};
}

struct conf_object
conf_object_chain(struct conf_chain *chain)
{
	return (struct conf_object){ BLOCK_CHAIN, chain, &chain->origins };
}

bool
conf_object_has(struct conf_object object, const struct conf_row *row)
{
	bool	shared = conf_blocks[row->block].arguments == ARGUMENTS_NONE;

	return object.kind == (shared ? BLOCK_TOP : row->block);
}

void *
conf_member(struct conf_object object, const struct conf_row *row)
{
	need(conf_object_has(object, row));
	return (char *)object.at + row->offset;
}

const struct conf_row *
conf_row_find(enum conf_block kind, size_t offset)
{
	const struct conf_row	*row;
	struct conf_object	 object = { kind, NULL, NULL };

	CONF_EACH_ROW(row) {
		if (conf_object_has(object, row) && row->offset == offset)
			return row;
	}
	need(!"a member without a row");
	return NULL;
}

struct conf_pos
conf_pos_top(struct conf *conf, size_t offset)
{
	const struct conf_origin	*o = conf_origin(conf_object(conf),
					    conf_row_find(BLOCK_TOP, offset),
					    0);

	return o != NULL ? o->pos : (struct conf_pos){ 0 };
}

int
conf_pos_order(const struct conf_pos *a, const struct conf_pos *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->column < b->column ? -1 : a->column > b->column;
}

struct conf_origin *
conf_origin(struct conf_object object, const struct conf_row *row,
    size_t element)
{
	struct conf_origin	*o;

	for (o = *object.origins; o != NULL; o = o->next) {
		if (o->row == row && o->element == element)
			return o;
	}
	return NULL;
}

void
conf_origin_add(struct conf_object object, const struct conf_row *row,
    size_t element, struct conf_pos pos, bool bad)
{
	struct conf_origin	*o = mem_zero(sizeof(*o));

	*o = (struct conf_origin){
		.next = *object.origins, .row = row, .element = element,
		.pos = pos, .bad = bad
	};
	*object.origins = o;
}

const struct conf_row *
conf_row_find_word(const char *word, enum conf_block block)
{
	const struct conf_row	*row;

	CONF_EACH_ROW(row) {
		if (row->block == block && strcmp(row->word, word) == 0)
			return row;
	}
	return NULL;
}

const char *
conf_row_profile_value(const struct conf_row *row, int64_t profile)
{
	const struct profile_value	*v = profile_values, *end = v +
					    sizeof(profile_values) /
					    sizeof(profile_values[0]);

	for (; v < end; v++)
		if ((int64_t)v->profile == profile && v->block == row->block &&
		    strcmp(v->word, row->word) == 0 &&
		    strcmp(v->part, row->part) == 0)
			return v->value;
	return NULL;
}
