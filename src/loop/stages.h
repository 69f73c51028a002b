/*
 * stages: connections that go from thread to thread, one for each stage of the
 * machine.
 *
 * Each of these threads has the clients that wait in it; who is another stage's
 * business is handed on.  STAGE_ACCEPT has the doors, counts, and lets go; the
 * others make room where it asks them to.  What they have to say to each other
 * goes through their queues.
 *
 * STAGE_READ_REQUEST watches its clients by edge, also while they are in other
 * stages: so to hand one on takes no system call, and one that comes back with
 * nothing to do lies there until the next one wakes that thread.  Whoever is to
 * wait for its descriptor elsewhere, or is over, goes there by way of it.
 */
#ifndef LOOP_STAGES_H
#define LOOP_STAGES_H

#include "loop/clients.h"
#include "loop/mailbox.h"

struct client;

/* They are those of that stage; all of them, by stage, are known by now, and
 * none of their loops turns yet.  The queue is that of their thread. */
void		 stages_join(struct clients *, enum stage,
		    struct clients *const *, struct mailbox *);
/* When they have ended. */
void		 stages_leave(struct clients *);
/* No loop turns any more: lets go of all, and of who is on the way when the
 * queues are emptied.  STAGE_ACCEPT first, and freed last. */
void		 stages_end(struct clients *);

/*
 * For clients.c and acceptor.c
 */

/* Whose count it is in; themselves, where there are no stages. */
struct clients	*stages_acceptor(struct clients *);
/* Runs it as this stage, and hands it on or settles it. */
void		 stages_run(struct client *);
/* There is one here that could make room. */
void		 stages_room_freed(struct clients *);
/* Whether one can be asked to, and asks one. */
bool		 stages_can_make_room(const struct clients *);
bool		 stages_make_room(const struct clients *);
/* The doors are closed by now: who finds one after all, is to say so. */
void		 stages_poke(const struct clients *);

#endif
