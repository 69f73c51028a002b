/*
 * explain: an invented request, and an explanation of its response for people.
 *
 * The request goes through the machine as any other.  The caller, a driver,
 * gives the machine its bytes and keeps the head of the response.  When the
 * request ends, facts about it are added to the explanation.  The caller may
 * add facts that the machine cannot know.
 */
#ifndef HTTP_EXPLAIN_H
#define HTTP_EXPLAIN_H

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>

#include "http/machine.h"
#include "lib/buf.h"

/* In the order of the output; the caller adds those with a star. */
#define EXPLAIN_FACTS(X)						\
	X(REQUEST,	"request")	/* * */				\
	X(LISTENER,	"listener")	/* * the socket that it uses */	\
	X(SITE,		"site")		/* the site, by which name */	\
	X(PATH,		"path")		/* the block that answers */	\
	X(AUTHORIZE,	"authorize")	/* each that would be asked */	\
	X(FILES,	"files")	/* blocks with fields for it */	\
	X(LOOKUP,	"lookup")	/* * each lookup on disk */	\
	X(FILE,		"file")		/* the version that is sent */	\
	X(FILTERS,	"filters")	/* its chain */ 		\
	X(PROGRAM,	"program")	/* which would run */		\
	X(VARIABLE,	"variable")	/* each that it would get */	\
	X(PAGE,		"page")		/* sent in the file's place */	\
	X(STATUS,	"status")					\
	X(WHY,		"why")		/* the reason for the status */	\
	X(HEADER,	"header")	/* lines of the response head */

enum explain_fact {
#define X(id, name) EXPLAIN_##id,
	EXPLAIN_FACTS(X)
#undef X
	EXPLAIN_FACT_COUNT
};

struct explanation {			/* begins as all zero */
	struct client_kind kind;	/* first: casts rely on it */
	struct buf	request;	/* its bytes, which are used up */
	struct buf	head;		/* of the response */
	struct buf	facts[EXPLAIN_FACT_COUNT];	/* lines */
};

/* Makes a session for the request; the explanation must outlive it. */
struct session	*explain_new(struct http_loop *, struct explanation *,
		    const struct sockaddr *peer, size_t listener);
/* Adds a line to a fact. */
void		 explain_add(struct explanation *, enum explain_fact,
		    const char *, ...)
		    __attribute__((__format__(__printf__, 3, 4)));
void		 explain_print(const struct explanation *, FILE *);
void		 explain_free(struct explanation *);

#endif
