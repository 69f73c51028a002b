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

/* Makes these clients those of a stage.  by_stage: the clients of all stages,
 * all made by now.  mailbox: of that stage's thread.  No loop may run yet. */
void		 stages_join(struct clients *, enum stage,
		    struct clients *const *by_stage, struct mailbox *);
/* Closes all connections of a stage, and those in its mailbox when that is
 * delivered.  No loop may run any more.  STAGE_ACCEPT is the first to be ended
 * and the last to be freed. */
void		 stages_end(struct clients *);

/* Frees the clients of a stage, after stages_end(). */
void		 stages_free(struct clients **);

#endif
