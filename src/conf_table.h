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

#define CONF_SWITCHES(X)						\
	X(OFF, "off") X(ON, "on")

/* The status codes that a conf may send, in words that are choices. */
#define CONF_REDIRECTS(X)						\
	X(301, "301") X(302, "302") X(303, "303") X(307, "307") X(308, "308")
#define CONF_REFUSALS(X)						\
	X(403, "403") X(404, "404") X(410, "410") X(451, "451")		\
	X(500, "500") X(503, "503")
/* Those that a page can be given for: where the site is known by then, and
 * nothing is told that only the short page tells. */
#define CONF_ERRORS(X)							\
	X(403, "403") X(404, "404") X(405, "405") X(410, "410")		\
	X(412, "412") X(417, "417") X(451, "451") X(500, "500")		\
	X(501, "501") X(503, "503")

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
	X(FIELD,	"field",	set_field,	PAIRS)		\
	X(FIELD_NAME,	"name",		set_field_name,	WORDS)		\
	X(REDIRECT,	NULL,		conf_value_code, INTEGER)	\
	X(TARGET,	"target",	conf_answer_target, TEXT)	\
	X(REFUSAL,	NULL,		conf_value_code, INTEGER)	\
	X(PAGE,		"path|off",	conf_answer_page, TEXT)		\
	X(ERROR,	"path",		conf_answer_error, PAIRS)	\
	X(AGE,		"type time",	conf_answer_age, PAIRS)		\
	X(CHARSET,	"charset|off",	conf_answer_charset, TEXT)	\
	X(SWITCH,	NULL,		set_choice,	INTEGER)

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
