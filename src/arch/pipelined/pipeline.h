/*
 * pipeline: a thread for each stage of a request, and two for the disk: one for
 * names, one for reading (Choi, Kim and others).
 *
 * A stage's thread is an event loop with the connections that wait in it, and
 * hands on whose next step is another stage's; a job that may wait goes to the
 * thread for it, and comes back to the stage where it is waited for.
 */
#ifndef ARCH_PIPELINED_PIPELINE_H
#define ARCH_PIPELINED_PIPELINE_H

#include "arch/arch.h"
#include "http/machine.h"
#include "loop/mailbox.h"
#include "loop/threads.h"

enum {
	PIPELINE_NAMES = STAGE_COUNT,	/* behind the stages */
	PIPELINE_READS,
	PIPELINE_THREADS
};

struct pipeline;

struct stage_thread {		/* of one of its threads, a member */
	struct loop_thread	 thread;	/* first: casts rely on it */
	struct pipeline	*pipeline;
	unsigned	 role;		/* a stage, NAMES or READS */
	struct mailbox	*mailbox;
	struct http_loop	*http;		/* a stage's ... */
	struct clients	*clients;
	struct disk_thread	*disk_thread;	/* ... or of one for the disk */
};

/* Of the members from that one on, with room for so many connections; a stage's
 * http is as the one here, but for clock and disk. */
struct pipeline	*pipeline_new(const struct threads *, unsigned first,
		    const struct main_env *, const struct http_setup *,
		    size_t room);
/* What a member does when it is told to. */
void pipeline_run_command(struct loop_thread *, enum threads_command);
/* No member runs any more: connections end, tasks fail. */
void		 pipeline_end(struct pipeline *);
void		 pipeline_free(struct pipeline **);	/* after that */

/* A task of another thread, to come back by its queue. */
void		 pipeline_submit(struct pipeline *, struct task *,
		    struct mailbox *);
/* They are so many, this one of them, and share who comes.  Not copied. */
void		 pipeline_share(struct pipeline *, struct pipeline *const *,
		    unsigned n);
/* Adds what it is doing to the gauges. */
void		 pipeline_measure(const struct pipeline *);

#endif
