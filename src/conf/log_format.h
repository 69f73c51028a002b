/*
 * log_format: the form of a line of the access log, from text to a list of
 * pieces that is walked for each request.
 *
 * A piece is a field, and the letters that stand before it.
 */
#ifndef CONF_LOG_FORMAT_H
#define CONF_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The formats that there are without the conf's: id, name, json, text. */
#define CONF_LOG_FORMATS(X)							\
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
#define FIELD(id, letter, argument, most, put, help) LINE_##id,
#include "conf/log_fields.tbl"
#undef FIELD
	LINE_FIELD_COUNT,
	LINE_NO_FIELD = LINE_FIELD_COUNT	/* only what stands before it */
};

/* Copied whole, as that is quicker than to count. */
#define CONF_LOG_LITERAL_MAX	16	/* bytes */

struct conf_log_item {
	uint8_t	 field;			/* enum conf_log_field */
	uint8_t	 len;			/* of lead */
	char	 literal[CONF_LOG_LITERAL_MAX];
	char	*argument;		/* owned; NULL: none */
};

struct conf_log_format {
	struct conf_log_item	*items;
	size_t			 n;
	bool			 json;	/* how what a client sent is escaped */
};

/* Bytes of a line, without what clients send; a longer one is refused. */
#define CONF_LOG_LINE_MAX	4096

/* What is wrong with a text, and where. */
struct conf_log_error {
	size_t		 at, len;
	const char	*why;
};

/* An end of line is added; false: there is a fault, and nothing to be freed. */
bool conf_log_format_parse(struct conf_log_format *, const char *text,
    bool json, struct conf_log_error *);
void	conf_log_format_free(struct conf_log_format *);

#endif
