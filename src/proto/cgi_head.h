/*
 * cgi_head: the head of a program's answer (RFC 3875, section 6).
 *
 * Pure: works in place on the caller's bytes, and allocates nothing.  Can be
 * resumed at every byte, as parse.h.  Strict: what a client could read in
 * another way than amped is refused.
 */
#ifndef PROTO_CGI_HEAD_H
#define PROTO_CGI_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/str.h"
#include "proto/parse.h"

#define CGI_HEAD_MAX		(64 * 1024)	/* bytes */
#define CGI_HEAD_FIELDS_MAX	500

enum cgi_head_result {
	CGI_HEAD_MORE,		/* valid so far, not complete */
	CGI_HEAD_DONE,		/* the head is complete */
	CGI_HEAD_REFUSED	/* with a clause why */
};

/* All zero before the first byte of a head. */
struct cgi_head {
	/* private: where to go on */
	uint32_t	 line_at;	/* start of the current line */
	uint32_t	 searched;	/* no line end before here */
	uint32_t	 nfields;
	uint32_t	 fields_at;	/* the first line with a field */
	uint32_t	 seen;		/* a bit for each field of CGI */
	uint8_t		 state;

	/* the answer; at and len 0: there is no such field */
	uint16_t	 status;	/* 200 to 599; 0: it has none */
	struct span	 reason;	/* of the status */
	struct span	 type, location;
	struct span	 file, path;	/* X-Sendfile, X-Accel-Redirect */
	int64_t		 length;	/* DONE: Content-Length; -1: none */
	uint32_t	 size;		/* DONE: bytes of the head */
	const char	*why;		/* REFUSED: a clause about the answer */
};

/* Reads on.  head: all bytes from the start of the head, not only new ones;
 * NULL while there are none. */
enum cgi_head_result	cgi_head_feed(struct cgi_head *, const char *head,
			    size_t len);
/* The next field line of a complete head, of any name; *at is 0 for the first
 * call, and is then kept for the next.  False: there are no more lines. */
bool			cgi_head_next(const struct cgi_head *,
			    const char *head, uint32_t *at, struct str *name,
			    struct str *value);
/* Whether a complete head is a local redirect (section 6.2.2): a path, and
 * nothing else. */
bool			cgi_head_is_local(const struct cgi_head *,
			    const char *head);
/* Whether a field of that name is the server's business, and is not passed
 * on. */
bool			cgi_head_is_own(struct str name);

#endif
