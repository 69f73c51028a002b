/*
 * stages: connections that move from thread to thread, one thread for each
 * stage of the machine.
 *
 * Each thread has the connections that wait in its stage.  A connection whose
 * next step belongs to another stage is posted to that stage's mailbox.  The
 * stage STAGE_ACCEPT accepts, counts and closes all connections; when it needs
 * room it asks the other stages by mail.
 *
 * The stage STAGE_READ_REQUEST watches its connections by edge, and goes on
 * watching them while they are in other stages.  So to pass one on takes no
 * system call, and one that comes back with no input waits in the mailbox
 * until that thread wakes for another reason.  A connection that is to be
 * watched elsewhere, or closed, goes through this stage, which ends its watch.
 */
#ifndef LOOP_STAGES_H
#define LOOP_STAGES_H

#include "loop/clients.h"
#include "loop/mailbox.h"

struct client;

/* Makes these clients those of a stage.  by_stage: the clients of all stages,
 * all made by now.  mailbox: of that stage's thread.  No loop may run yet. */
void		 stages_join(struct clients *, enum stage,
		    struct clients *const *by_stage, struct mailbox *);
/* Undoes stages_join(), after stages_end(). */
void		 stages_leave(struct clients *);
/* Closes all connections of a stage, and those in its mailbox when that is
 * delivered.  No loop may run any more.  STAGE_ACCEPT is the first to be ended
 * and the last to be freed. */
void		 stages_end(struct clients *);

/*
 * For clients.c and acceptor.c
 */

/* The clients that count these connections: those of STAGE_ACCEPT, or the same
 * ones without stages. */
struct clients	*stages_acceptor(struct clients *);
/* Runs a connection in its stage, then passes it on or lets it wait. */
void		 stages_run(struct client *);
/* Tells STAGE_ACCEPT that a connection here could make room. */
void		 stages_room_freed(struct clients *);
/* Whether a stage can be asked to make room; the second function asks one. */
bool		 stages_can_make_room(const struct clients *);
bool		 stages_make_room(const struct clients *);
/* After accepting was paused: asks the stages to report any connection that
 * can make room. */
void		 stages_poke(const struct clients *);

#endif
