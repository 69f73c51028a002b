/*
 * parse: bytes to request line and fields (RFC 9112, sections 2 to 6).
 *
 * Pure: works in place on the caller's bytes, allocates nothing, knows no
 * socket.  It can be resumed at every byte: feed it the same bytes again with
 * more behind them, at the same or another address.  Strict: whatever is not
 * exactly right is refused, with the status that says why.
 */
#ifndef PROTO_PARSE_H
#define PROTO_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/str.h"

/* Methods of RFC 9110 and 5789; anything else that is a token: UNKNOWN. */
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
 * The fields that somebody looks at: id, lower-case name, and whether a
 * second one makes the request invalid (ONE) or is noted (MANY).  Several
 * lines with a list count as one list: see parse_next().
 */
#define PARSE_FIELDS(X)							\
	X(HOST,			"host",			ONE)		\
	X(CONNECTION,		"connection",		MANY)		\
	X(CONTENT_LENGTH,	"content-length",	ONE)		\
	X(TRANSFER_ENCODING,	"transfer-encoding",	ONE)		\
	X(EXPECT,		"expect",		MANY)		\
	X(ACCEPT,		"accept",		MANY)		\
	X(ACCEPT_ENCODING,	"accept-encoding",	MANY)		\
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

/* Where something stands, in bytes from the start of the head; so it stays
 * true when the head is moved. */
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
	uint32_t		 line_at;		/* start of the current line */
	uint32_t		 searched;		/* its end not before here */
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
	uint32_t		 repeated;	/* the same, for a second one */
	int64_t			 content_length;	/* Content-Length, -1: none */
	struct span		 request_line;	/* without CRLF */
	struct span		 target;	/* as sent */
	struct span		 path;		/* of the target, raw; "*" */
	struct span		 query;		/* behind ?, len 0: none */
	struct span		 host;		/* of the target, else of Host;
						 * with port */
	uint32_t		 host_len;		/* bytes of that: the host */
	/* Trimmed values, the first where there are more. */
	struct span		 field[FIELD_COUNT];
	uint32_t		 size;		/* of the head, when done */
	uint16_t		 status;	/* when refused */
	const char		*why;		/* when refused: one phrase */
};

enum parse_result {
	PARSE_MORE,		/* all fine so far, not complete */
	PARSE_DONE,		/* size bytes are the head */
	PARSE_REFUSED		/* status, why */
};

void			parse_init(struct parse *);
/* head: all bytes from the start of this head, not only the new ones. */
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

/* The one first value, or an empty str with at NULL. */
struct str		parse_field(const struct parse *, const char *head,
			    enum parse_field);

/*
 * The values of all lines of a field, one after the other: *at is 0 at first,
 * then where to go on.  Of a complete head only; false: no more.
 */
bool			parse_next(const struct parse *, const char *head,
			    enum parse_field, uint32_t *at, struct str *value);

/* host [":" port] of RFC 3986, section 3.2.2, as it may stand in Host. */
bool			parse_host_valid(struct str);
/* The host alone: without port, without a dot at its end; of a head that was
 * not refused. */
static inline struct str
parse_host_name(const struct parse *p, const char *head)
{
	return (struct str){ head + p->host.at, p->host_len };
}

#endif
