/*
 * passages: the driver of an event loop for answers that pass through filters
 * (src/filter.h).
 */
#ifndef LOOP_PASSAGES_H
#define LOOP_PASSAGES_H

#include "filter.h"
#include "loop/evloop.h"
#include "loop/held.h"
#include "loop/mailbox.h"

struct passages;

/* With a mailbox, threads beside the loop's own may call passages_leave(). */
struct passages	*passages_new(const struct backends *, struct evloop *,
		    struct mailbox *, struct held_total *);
/* To be called when no passage is left; NULL: nothing happens. */
void		 passages_free(struct passages **);

/* The functions of src/backend.h. */
struct passage	*passages_pass(struct passages *, struct passage_start *);
void		 passages_take(struct passage *, size_t);
void		 passages_give_up(struct passage *);
void		 passages_leave(struct passage **);

#endif
