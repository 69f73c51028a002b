/*
 * passage: answers of programs that pass through a chain of filters.
 */
#ifndef HTTP_PROGRAMS_PASSAGE_H
#define HTTP_PROGRAMS_PASSAGE_H

#include "filter.h"
#include "http/conn.h"
#include "lib/compiler.h"

/* The chain of an answer, whose head is complete; NULL: none. */
COLD const struct conf_chain *passage_choose(const struct conn *);
/* Whether a field is about the bytes that the program has written. */
COLD bool	passage_drops(struct str name);
/* Adds the media type of the response, by that of the answer. */
COLD void	passage_add_type(const struct conn *, struct str value,
		    struct buf *);
/* Begins a passage; passage_await() follows. */
COLD void	passage_begin(struct conn *);
/* Whether the head is to be put out; else sets how the step goes on: it waits
 * for the filters, or they have failed. */
COLD bool	passage_await(struct conn *, enum outcome, enum go *);
/* Puts off the deadline of a wait if something goes on. */
COLD void	passage_put_off(struct conn *, enum outcome);
/* Handles the end of the time of a passage with a head.  False: it is the
 * program that is late. */
COLD bool	passage_is_late(struct conn *);
/* The clause that says why a passage with a head is not complete. */
COLD const char	*passage_cause(const struct conn *);

#endif
