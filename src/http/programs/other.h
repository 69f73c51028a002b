/*
 * other: requests that are not for files, by their method or a body that is not
 * discarded before it is known whether a program takes it.  They are let
 * through where the rules run programs, and nowhere else.
 */
#ifndef HTTP_PROGRAMS_OTHER_H
#define HTTP_PROGRAMS_OTHER_H

#include <stdbool.h>

#include "http/conn.h"
#include "lib/compiler.h"

/* Of parse.present. */
#define OTHER_BIT	(1U << 31)

/* Whether the rules of a target that may not be held yet run programs. */
COLD bool	other_is_possible(const struct conn *);
/* Whether a request is such a request. */
bool		other_is(const struct request *);
/* Makes a request such a request. */
void		other_note(struct request *);
/* Defers the discard of the body, and goes to AUTHORIZE. */
COLD enum go	other_defer(struct conn *);
/* Discards a deferred body, then goes to AUTHORIZE again. */
COLD enum go	other_discard(struct conn *);
/* Answers one that no program takes, and whose target could be had. */
COLD enum go	other_refuse(struct conn *);

#endif
