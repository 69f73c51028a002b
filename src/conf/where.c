/*
 * where: finds the statement that is in force for a directive, and its place.
 */
#include <string.h>

#include "conf/private.h"
#include "conf/where.h"

/* The block that has these rules; the top if rules is NULL. */
static struct conf_object
find_block(const struct conf *conf, const struct conf_rules *rules)
{
	struct conf_site	*site;

	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		if (rules == &site->rules)
			return conf_object_site(site);
		for (size_t j = 0; j < site->npaths; j++) {
			if (rules == &site->paths[j].rules)
				return conf_object_path(&site->paths[j]);
		}
	}
	/* conf_object() is not const, but where only reads the object. */
	return conf_object((struct conf *)(uintptr_t)conf);
}

static void
add_pos(const struct conf *conf, const struct conf_origin *from,
    struct buf *to)
{
	if (from == NULL)
		buf_adds(to, " (default)");
	else
		buf_addf(to, " (%s:%zu)", conf->files.at[from->pos.file],
		    from->pos.line);
}

void
conf_where_block(const struct conf *conf, const struct conf_rules *rules,
    struct buf *to)
{
	add_pos(conf, conf_origin(find_block(conf, rules), NULL, 0), to);
}

/* Whether a row has this name; rows of a block such as limits are named with
 * it, as "limits body". */
static bool
is_meant(const struct conf_row *row, const char *directive)
{
	const char	*block = conf_blocks[row->block].word;
	size_t		 n = strlen(block);

	if (conf_blocks[row->block].arguments == ARGUMENTS_NONE && n > 0) {
		if (strncmp(directive, block, n) != 0 || directive[n] != ' ')
			return false;
		directive += n + 1;
	}
	return strcmp(row->word, directive) == 0;
}

/* The first row of a directive, if it is set in the object or has a default. */
static const struct conf_row *
find_row(struct conf_object object, const char *directive)
{
	const struct conf_row	*row;

	CONF_EACH_ROW(row) {
		if (conf_object_has(object, row) && is_meant(row, directive) &&
		    (conf_origin(object, row, 0) != NULL ||
		    (row->value != CONF_REQUIRED && row->value[0] != '\0')))
			return row;
	}
	return NULL;
}

/* Adds one value of a row, or all. */
static void
add_values(struct conf_object object, const struct conf_row *row,
    size_t element, struct buf *to)
{
	const void	*member = conf_member(object, row);

	for (size_t i = 0; i < conf_value_count(row, member); i++) {
		if (element != CONF_WHERE_ALL && i != element)
			continue;
		buf_addc(to, ' ');
		conf_value_print(row, member, i, to);
	}
}

static void
add_statement(const struct conf *conf, struct conf_object object,
    const struct conf_row *row, size_t element, struct buf *to)
{
	const struct conf_row	*first = row;
	size_t			 start = to->len;

	buf_adds(to, conf_blocks[row->block].arguments == ARGUMENTS_NONE ?
	    conf_blocks[row->block].word : "");
	buf_adds(to, to->len > start ? " " : "");
	buf_adds(to, row->word);
	if (row->part[0] != '\0') {	/* each row of "require" has one */
		buf_addf(to, " %s", row->part);
		add_values(object, row, element, to);
	}
	/* Positional values stand in this row and the rows behind it. */
	for (; row < conf_rows + conf_nrows && row->part[0] == '\0' &&
	    row->block == first->block &&
	    strcmp(row->word, first->word) == 0; row++)
		add_values(object, row, element, to);
	add_pos(conf, conf_origin(object, first, element == CONF_WHERE_ALL ?
	    0 : element), to);
}

bool
conf_where(const struct conf *conf, const struct conf_rules *rules,
    const char *directive, size_t element, struct buf *to)
{
	struct conf_object	 object;
	const struct conf_row	*row;

	do {
		object = find_block(conf, rules);
		row = find_row(object, directive);
		rules = rules != NULL ? rules->outer : NULL;
	} while (row == NULL && object.kind != BLOCK_TOP);
	if (row == NULL || (row->type == TYPE_USER && conf->user == NULL))
		return false;		/* no user is in force */
	add_statement(conf, object, row, element, to);
	return true;
}

bool
conf_where_is_one(const struct conf *conf, const struct conf_rules *rules,
    const char *directive, size_t element)
{
	struct conf_object		 object = find_block(conf, rules);
	const struct conf_row		*row = find_row(object, directive);
	const struct conf_origin	*a, *b;

	if (row == NULL)
		return false;
	a = conf_origin(object, row, element);
	b = conf_origin(object, row, element + 1);
	return a != NULL && b != NULL && a->pos.file == b->pos.file &&
	    a->pos.line == b->pos.line;
}

static void
add_files(const struct conf *conf, struct conf_files *files, struct buf *to)
{
	buf_adds(to, "files");
	for (size_t i = 0; i < files->patterns.n; i++)
		buf_addf(to, " %s", files->patterns.at[i]);
	add_pos(conf, conf_origin(conf_object_files(files), NULL, 0), to);
}

bool
conf_where_files(const struct conf *conf, const struct conf_guard *guard,
    struct buf *to)
{
	struct conf_site	*site;

	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		for (size_t j = 0; j < site->nfiles; j++) {
			if (guard != &site->files[j].guard)
				continue;
			add_files(conf, &site->files[j], to);
			return true;
		}
	}
	return false;
}
