/*
 * explain: an invented request, and what came of it, in words for people.
 *
 * The request goes through the machine as any other: a transport gives its
 * bytes, keeps the head of the response and drops the body.  When it ends,
 * what there is to say about it is added to the explanation; whoever runs it
 * may add what the machine cannot know (see the facts).
 */
#ifndef HTTP_EXPLAIN_H
#define HTTP_EXPLAIN_H

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>

#include "http/machine.h"
#include "lib/buf.h"

/* In the order in which they are told; * is for who runs it. */
#define EXPLAIN_FACTS(X)						\
	X(REQUEST,	"request")	/* * what is asked for */	\
	X(LISTENER,	"listener")	/* * where it comes in */	\
	X(SITE,		"site")		/* which, and by which name */	\
	X(PATH,		"path")		/* the block that answers */	\
	X(LOOKUP,	"looked")	/* * each look on disk */	\
	X(FILE,		"file")		/* the version that is sent */	\
	X(PAGE,		"page")		/* what is sent in its place */	\
	X(STATUS,	"answer")	/* status */			\
	X(WHY,		"why")		/* the reason for that */	\
	X(HEADER,	"header")	/* each line of the response's */

enum explain_fact {
#define X(id, name) EXPLAIN_##id,
	EXPLAIN_FACTS(X)
#undef X
	EXPLAIN_FACT_COUNT
};

struct explanation {			/* all zero at first */
	struct buf	request;	/* its bytes; they are used up */
	struct buf	head;		/* of the response */
	struct buf	facts[EXPLAIN_FACT_COUNT];	/* lines */
};

/* A connection on which the request comes; the explanation outlives it. */
struct session	*explain_new(struct http_loop *, struct explanation *,
		    const struct sockaddr *peer, size_t listener);
/* One more line of that fact. */
void		 explain_add(struct explanation *, enum explain_fact,
		    const char *, ...)
		    __attribute__((__format__(__printf__, 3, 4)));
void		 explain_print(const struct explanation *, FILE *);
void		 explain_free(struct explanation *);

#endif
