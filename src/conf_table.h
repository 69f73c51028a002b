/*
 * conf_table: the rows of conf.tbl, for the files of the conf only.
 *
 * Everything goes by them: a row knows where its value lies in its block's
 * struct, and of which type it is, so reading, checking, printing and freeing
 * need not know a single directive by name.
 */
#ifndef CONF_TABLE_H
#define CONF_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define CONF_MUST	NULL	/* a default: there is none, say it */

/* id, name, how one value is read, how it is kept */
#define CONF_TYPES(X)							\
	X(NUMBER,	"number",	set_scaled,	INTEGER)	\
	X(SIZE,		"size",		set_scaled,	INTEGER)	\
	X(TIME,		"time",		set_scaled,	INTEGER)	\
	X(ARCHITECTURE,	NULL,		set_choice,	INTEGER)	\
	X(RESIDENCY,	NULL,		set_choice,	INTEGER)	\
	X(LOG_FORMAT,	NULL,		set_choice,	INTEGER)	\
	X(LOG_GRADE,	NULL,		set_choice,	INTEGER)	\
	X(LISTING,	NULL,		set_listing,	WORDS)		\
	X(USER,		"user",		set_text,	TEXT)		\
	X(TYPES,	"file",		set_file,	TEXT)		\
	X(DIRECTORY,	"directory",	set_directory,	TEXT)		\
	X(LOG,		"file|stderr",	set_log,	TEXT)		\
	X(LOG_OR_OFF,	"file|stderr|off", set_log,	TEXT)		\
	X(FILENAME,	"filename",	set_filename,	WORDS)		\
	X(PATTERN,	"pattern",	set_filename,	WORDS)		\
	X(ADDRESS,	"address",	set_address,	ADDRESSES)	\
	X(FIELD,	"field",	set_field,	FIELDS)

enum conf_type {
#define X(id, name, set, keep) TYPE_##id,
	CONF_TYPES(X)
#undef X
	TYPE_COUNT
};

enum conf_block {
#define DIRECTIVE(block, word, part, type, member, def, low, high, help)
#define BLOCK(id, word, inside, arguments, help) BLOCK_##id,
#include "conf.tbl"
#undef BLOCK
#undef DIRECTIVE
	BLOCK_COUNT
};

enum conf_arguments { ARGUMENTS_NONE, ARGUMENTS_NAMES, ARGUMENTS_PREFIX };

struct conf_block_row {
	const char		*word;
	enum conf_block		 inside;
	enum conf_arguments	 arguments;
	const char		*help;
};

struct conf_row {
	enum conf_block	 block;
	const char	*word, *part;		/* part "": by its place */
	enum conf_type	 type;
	size_t		 offset;		/* in the block's struct */
	const char	*value;			/* default; "" or CONF_MUST */
	const char	*lowest, *highest;	/* "": any */
	const char	*help;
};

extern const struct conf_block_row	 conf_blocks[BLOCK_COUNT];
extern const struct conf_row		 conf_rows[];	/* by block */
extern const size_t			 conf_nrows;

#define CONF_EACH_ROW(row)						\
	for (row = conf_rows; row < conf_rows + conf_nrows; row++)

/* A row's name in a message: "helpers max". */
#define CONF_ROW		"%s%s%s"
#define CONF_ROW_NAME(row)						\
	(row)->word, *(row)->part != '\0' ? " " : "", (row)->part

bool	conf_block_find(const char *word, enum conf_block inside,
	    enum conf_block *);
/* The row for a member, by the kind of struct that it is in. */
const struct conf_row *conf_row_find(enum conf_block kind, size_t offset);

#endif
