/*
 * table: the rows of directives.tbl.  For the files of this folder only.
 *
 * A row has the type of a value and its offset in the block's struct.  So the
 * code that reads, prints and frees values names no directive.
 */
#ifndef CONF_TABLE_H
#define CONF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_REQUIRED	NULL	/* in place of a default: must be given */

#define CONF_ALWAYS	"always"	/* behind a field: on errors, too */

#define CONF_SWITCHES(X)						\
	X(OFF, "off") X(ON, "on")

#define CONF_AUTHORIZATIONS(X)						\
	X(HIDE, "hide") X(PASS, "pass")

/* The status codes that redirect and return take, as choices. */
#define CONF_REDIRECTS(X)						\
	X(301, "301") X(302, "302") X(303, "303") X(307, "307") X(308, "308")
#define CONF_REFUSALS(X)						\
	X(403, "403") X(404, "404") X(410, "410") X(451, "451")		\
	X(500, "500") X(503, "503")
/* Words of "error": classes, and all errors of proto/status.tbl.  Other codes
 * from 400 to 599 are accepted, but never sent. */
#define CONF_ERROR_CLASSES(X)						\
	X(4, "4xx") X(5, "5xx") X(CONF_ERROR_ALL, "*")
#define CONF_ERRORS(X)							\
	X(400, "400") X(401, "401") X(403, "403") X(404, "404")		\
	X(405, "405") X(406, "406") X(408, "408") X(410, "410")		\
	X(412, "412") X(413, "413") X(414, "414") X(416, "416")		\
	X(417, "417") X(429, "429") X(431, "431") X(451, "451")		\
	X(500, "500") X(501, "501") X(502, "502") X(503, "503")		\
	X(504, "504") X(505, "505")

enum conf_type {
#define TYPE(id, name, set, keep) TYPE_##id,
#define CHECKED TYPE
#include "conf/types.tbl"
#undef CHECKED
#undef TYPE
	TYPE_COUNT
};

enum conf_block {
#define DIRECTIVE(block, word, part, type, member, def, low, high, help)
#define BLOCK(id, word, inside, arguments, help) BLOCK_##id,
#include "conf/directives.tbl"
#undef BLOCK
#undef DIRECTIVE
	BLOCK_COUNT
};

enum conf_arguments { ARGUMENTS_NONE, ARGUMENTS_NAMES, ARGUMENTS_PREFIX,
	ARGUMENTS_PATTERNS, ARGUMENTS_NAME };

struct conf_block_row {
	const char		*word;
	enum conf_block		 inside;
	enum conf_arguments	 arguments;
	const char		*help;
};

struct conf_row {
	enum conf_block	 block;
	const char	*word, *part;		/* part "": positional */
	enum conf_type	 type;
	size_t		 offset;		/* in the block's struct */
	const char	*value;		/* default; "" or CONF_REQUIRED */
	const char	*lowest, *highest;	/* "": any */
	const char	*help;
};

extern const struct conf_block_row	 conf_blocks[BLOCK_COUNT];
extern const struct conf_row		 conf_rows[];	/* by block */
extern const size_t			 conf_nrows;

#define CONF_EACH_ROW(row)						\
	for (row = conf_rows; row < conf_rows + conf_nrows; row++)

/* Format and arguments for a row's name in a message: "helpers max". */
#define CONF_ROW		"%s%s%s"
#define CONF_ROW_NAME(row)						\
	(row)->word, *(row)->part != '\0' ? " " : "", (row)->part

bool	conf_block_find(const char *word, enum conf_block inside,
	    enum conf_block *);
/* The row of a member, by its offset in the struct of that kind of object. */
const struct conf_row *conf_row_find(enum conf_block kind, size_t offset);
/* The value that an enum conf_profile has in place of a row's default; NULL:
 * none. */
const char *conf_row_profile_value(const struct conf_row *, int64_t profile);
/* The first row of a directive, whose others follow it; NULL: no such word. */
const struct conf_row *conf_row_find_word(const char *word, enum conf_block);

#endif
