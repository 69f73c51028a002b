/*
 * session: what a connection is between its requests; for the steps only.
 */
#ifndef HTTP_SESSION_H
#define HTTP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "http/machine.h"
#include "lib/token_bucket.h"

struct address;
struct conn;
struct peer_addr;
struct wait_addresses;

/* The start of a session, before its first request. */
enum opening {
	OPENING_NONE,
	OPENING_REFUSED,	/* its address has too many connections */
	OPENING_PROXY,		/* a header of the PROXY protocol */
	OPENING_STRANGER	/* the same, of a peer that is not trusted */
};

/* The faults of an opening, each with a clause about the header. */
#define PEER_FAULTS(X)							\
	X(STRANGER, "its peer is not trusted (trust)")			\
	X(LATE, "it took too long to arrive (limits { head, gap })")	\
	X(CUT_OFF, "the connection ended before it was complete")	\
	X(WRONG, "")			/* as proxy_header.h says */

enum peer_fault {
#define X(id, clause) PEER_##id,
	PEER_FAULTS(X)
#undef X
	PEER_FAULT_COUNT
};

/* The part of a connection that outlasts an exchange.  An idle connection has
 * no other record. */
struct session {
	struct http_loop	*http;
	struct conn		*conn;		/* NULL: idle */
	const struct client_kind *kind;		/* NULL: a plain one */
	union {
		struct address	*address;	/* NULL: not limited */
		struct peer_addr *proxy;	/* its own, if is_proxy */
	};
	struct wait_addresses	*ends;		/* of its connection; NULL: no
						 * program has needed them */
	struct token_bucket	 pace;		/* bytes that may be sent */
	uint32_t		 requests;	/* answered */
	uint16_t		 listener;
	uint8_t			 family;	/* AF_INET, AF_INET6, else */
	uint8_t			 addr_text_len;	/* IPv4 only */
	uint8_t			 addr[20];	/* 16 bytes of IPv6, or 4 of
						 * IPv4 and their text */
	bool			 is_proxy;	/* trusted to name clients: addr
						 * is that of the present one */
	uint8_t			 opening;	/* enum opening */
	uint8_t			 idle_term;	/* of its next wait */
};

/* Whether the administrator makes its requests: no guards, no pace, any number
 * of requests. */
static inline bool
session_is_trusted(const struct session *s)
{
	return s->kind != NULL && s->kind->trusted;
}

/* Whether nobody makes its requests: they are explained, or fill caches. */
static inline bool
session_is_invented(const struct session *s)
{
	return s->kind != NULL && s->kind->request_ended != NULL;
}

/* Whether a hint makes its requests. */
static inline bool
session_is_background(const struct session *s)
{
	return s->kind != NULL && s->kind->background;
}

/* Whether somebody waits for its answers: those of a hint only fill caches, and
 * those of a walk are not made. */
static inline bool
session_has_answers(const struct session *s)
{
	return s->kind == NULL || !(s->kind->background || s->kind->no_answers);
}

#endif
