/*
 * parse: bytes to request line and fields (RFC 9112, sections 2 to 6).
 *
 * Pure: works in place on the caller's bytes, and allocates nothing.  Can be
 * resumed at every byte: feed it the same bytes again with more behind them, at
 * the same or another address.  Strict: any deviation from the grammar is
 * refused, with a status.
 */
#ifndef PROTO_PARSE_H
#define PROTO_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/str.h"

/* Methods of RFC 9110 and 5789; any other token is UNKNOWN. */
#define PARSE_METHODS(X)						\
	X(GET) X(HEAD) X(POST) X(PUT) X(DELETE) X(CONNECT) X(OPTIONS)	\
	X(TRACE) X(PATCH)

enum parse_method {
	METHOD_UNKNOWN,
#define X(name) METHOD_##name,
	PARSE_METHODS(X)
#undef X
	METHOD_COUNT
};

/*
 * The fields that amped reads: id, lower-case name, and whether a second line
 * is refused (ONE) or recorded (MANY).  Several lines of a list are one list:
 * see parse_next().
 */
#define PARSE_FIELDS(X)							\
	X(HOST,			"host",			ONE)		\
	X(CONNECTION,		"connection",		MANY)		\
	X(CONTENT_LENGTH,	"content-length",	ONE)		\
	X(TRANSFER_ENCODING,	"transfer-encoding",	ONE)		\
	X(EXPECT,		"expect",		MANY)		\
	X(ACCEPT,		"accept",		MANY)		\
	X(ACCEPT_ENCODING,	"accept-encoding",	MANY)		\
	X(ACCEPT_LANGUAGE,	"accept-language",	MANY)		\
	X(IF_MATCH,		"if-match",		MANY)		\
	X(IF_NONE_MATCH,	"if-none-match",	MANY)		\
	X(IF_MODIFIED_SINCE,	"if-modified-since",	MANY)		\
	X(IF_UNMODIFIED_SINCE,	"if-unmodified-since",	MANY)		\
	X(IF_RANGE,		"if-range",		MANY)		\
	X(RANGE,		"range",		MANY)		\
	X(AUTHORIZATION,	"authorization",	ONE)		\
	X(REFERER,		"referer",		MANY)		\
	X(USER_AGENT,		"user-agent",		MANY)

enum parse_field {
#define X(id, name, many) FIELD_##id,
	PARSE_FIELDS(X)
#undef X
	FIELD_COUNT
};

/* A part of the head, in bytes from its start: stays valid when the head is
 * moved. */
struct span {
	uint32_t	at, len;
};

struct parse_limits {
	size_t	line;		/* request line, bytes: else 414 */
	size_t	head;		/* whole head, bytes: else 431 */
	size_t	fields;		/* field lines: else 431 */
};

struct parse {
	/* private: where to go on */
	uint32_t		 line_at;	/* start of the current line */
	uint32_t		 searched;	/* no line end before here */
	uint32_t		 nfields;
	uint8_t			 state;

	/* the request */
	uint8_t			 method;	/* enum parse_method */
	uint8_t			 minor;		/* of HTTP/1.minor */
	bool			 close;		/* Connection: close */
	bool			 keep_alive;	/* Connection: keep-alive */
	bool			 chunked;	/* Transfer-Encoding: chunked */
	bool			 absolute;	/* target in absolute form */
	uint32_t		 present;	/* 1 << enum parse_field */
	uint32_t		 repeated;	/* 1 << enum parse_field */
	int64_t			 content_length; /* -1: none */
	struct span		 request_line;	/* without CRLF */
	struct span		 target;	/* as sent */
	struct span		 path;		/* of the target, raw; "*" */
	struct span		 query;		/* behind ?, len 0: none */
	struct span		 host;		/* of the target, else of Host;
						 * with port */
	uint32_t		 host_len;	/* without port */
	/* Trimmed values: the first line of each field. */
	struct span		 field[FIELD_COUNT];
	uint32_t		 size;		/* DONE: bytes of the head */
	uint16_t		 status;	/* REFUSED: status code */
	const char		*why;		/* REFUSED: a phrase */
};

enum parse_result {
	PARSE_MORE,		/* valid so far, not complete */
	PARSE_DONE,		/* the head is complete */
	PARSE_REFUSED		/* with status and why */
};

void			parse_init(struct parse *);
/* Reads on.  head: all bytes from the start of the head, not only new ones. */
enum parse_result	parse_feed(struct parse *, const struct parse_limits *,
			    const char *head, size_t len);
static inline struct str
parse_str(const char *head, struct span s)
{
	return (struct str){ head + s.at, s.len };
}

static inline bool
parse_has(const struct parse *p, enum parse_field f)
{
	return (p->present & 1u << f) != 0;
}

/* The value of the first line of a field; at NULL: there is none. */
struct str		parse_field(const struct parse *, const char *head,
			    enum parse_field);

/*
 * The value of the next line of a field in a complete head.  *at is 0 for the
 * first call, and is then kept for the next.  False: there are no more lines.
 */
bool			parse_next(const struct parse *, const char *head,
			    enum parse_field, uint32_t *at, struct str *value);

/* The next field line of a complete head, of any name; *at as above. */
bool			parse_next_line(const struct parse *, const char *head,
			    uint32_t *at, struct str *name, struct str *value);

/* Whether a text may stand in Host: host [":" port] of RFC 3986, section 3.2.2.
 * */
bool			parse_host_valid(struct str);
/* The host without port and without a dot at its end, of a head that is not
 * refused. */
static inline struct str
parse_host_name(const struct parse *p, const char *head)
{
	return (struct str){ head + p->host.at, p->host_len };
}

#endif
