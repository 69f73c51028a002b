/*
 * log_format: parses a format of the access log into items.
 *
 * An item is a literal and the field behind it; log_line.c walks the items for
 * each request.
 */
#ifndef CONF_LOG_FORMAT_H
#define CONF_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf;

/* The built-in formats: id, name, json, text. */
#define CONF_LOG_FORMATS(X)						\
	X(COMMON, "common", false,					\
	    "%h %l %u %t \"%r\" %>s %b")				\
	X(COMBINED, "combined", false,					\
	    "%h %l %u %t \"%r\" %>s %b "				\
	    "\"%{Referer}i\" \"%{User-Agent}i\"")			\
	X(VCOMBINED, "vcombined", false,				\
	    "%v:%p %h %l %u %t \"%r\" %>s %O "				\
	    "\"%{Referer}i\" \"%{User-Agent}i\"")			\
	X(JSON, "json", true,						\
	    "{\"time\":\"%{%Y-%m-%dT%H:%M:%SZ}t\",\"client\":\"%h\","	\
	    "\"user\":\"%u\",\"site\":\"%v\",\"port\":%p,"		\
	    "\"host\":\"%V\",\"request\":\"%r\",\"method\":\"%m\","	\
	    "\"path\":\"%U\",\"query\":\"%q\",\"protocol\":\"%H\","	\
	    "\"status\":%s,\"bytes\":%B,\"received\":%I,\"sent\":%O,"	\
	    "\"ms\":%{ms}T,\"referer\":\"%{Referer}i\","		\
	    "\"agent\":\"%{User-Agent}i\",\"connection\":\"%X\"}")

enum conf_log_field {
#define FIELD(id, letter, argument, max, put, help) LINE_##id,
#include "conf/log_fields.tbl"
#undef FIELD
	LINE_FIELD_COUNT,
	LINE_NO_FIELD = LINE_FIELD_COUNT	/* of an item without a field */
};

/* Bytes; log_line.c copies all of them, which is faster than copying len. */
#define CONF_LOG_LITERAL_MAX	16

struct conf_log_item {
	uint8_t	 field;			/* enum conf_log_field */
	uint8_t	 len;			/* bytes of literal in use */
	char	 literal[CONF_LOG_LITERAL_MAX];
	char	*argument;		/* owned; NULL: none */
};

struct conf_log_format {
	struct conf_log_item	*items;
	size_t			 n;
	bool			 json;	/* escape clients' bytes for JSON */
};

/* Bytes of a line without those that clients send; a format that may need more
 * is an error. */
#define CONF_LOG_LINE_MAX	4096

/* An access log: one format of one target. */
struct conf_access_log {
	size_t			 target;	/* its number */
	const char		*name;		/* of the format */
	struct conf_log_format	 line;
};

/* All access logs; the first is that of block log, unless that log is off.
 * Targets are distinct; the first is the target of that log. */
struct conf_access_logs {
	struct conf_access_log	**at;		/* owned */
	size_t			  n;
	const char		**targets;	/* files, stdout, stderr,
						 * |program or, the first,
						 * syslog */
	size_t			  ntargets;
};
#define CONF_TARGETS_MAX	64

/* An error in the text of a format, and its place there. */
struct conf_log_error {
	size_t		 at, len;
	const char	*why;
};

/* Parses a text, and adds a newline.  The caller frees the format.  False: the
 * error is set, and there is nothing to be freed. */
bool	conf_log_format_parse(struct conf_log_format *, const char *text,
	    bool json, struct conf_log_error *);
void	conf_log_format_free(struct conf_log_format *);
/* The access log that all requests go to; NULL: there is none, or several, or
 * some sites or paths have none. */
const struct conf_access_log *conf_find_only_log(const struct conf *);

#endif
