/*
 * passages: the driver of answers that pass through filters, in a scenario: the
 * scenario says what the filters take and write.
 */
#ifndef T_SCRIPT_PASSAGES_H
#define T_SCRIPT_PASSAGES_H

#include "filter.h"

struct passage	*passages_pass(void *context, struct passage_start *);
void		 passages_take(struct passage *, size_t);
void		 passages_give_up(struct passage *);
void		 passages_leave(struct passage **);
/* A line of the scenario about the passage: its words behind "passage". */
void		 passages_run_line(char **words, size_t n);
/* Returns whether there is one; frees it. */
bool		 passages_free(void);

#endif
