/*
 * pipeline: a thread for each stage of a request, and two disk threads: one for
 * names, one for reading (Choi, Kim, Ersoz and Das, WWW 2005).
 *
 * A stage's thread has an event loop with the connections that wait in that
 * stage, and passes a connection on when its next step is another stage's.  A
 * task goes to a disk thread, and returns to the stage that waits for it.
 */
#ifndef ARCH_PIPELINED_PIPELINE_H
#define ARCH_PIPELINED_PIPELINE_H

#include "arch/arch.h"
#include "http/machine.h"
#include "loop/mailbox.h"
#include "loop/threads.h"

enum {
	PIPELINE_NAMES = STAGE_COUNT,	/* the stages come first */
	PIPELINE_READS,
	PIPELINE_THREADS
};

struct pipeline;

struct stage_thread {		/* one thread of a pipeline */
	struct loop_thread	 thread;	/* first: casts rely on it */
	struct pipeline		*pipeline;
	unsigned		 role;		/* a stage, NAMES or READS */
	struct mailbox		*mailbox;
	struct http_loop	*http;		/* NULL: a disk thread */
	struct clients		*clients;	/* NULL: a disk thread */
	struct disk_thread	*disk_thread;	/* NULL: a stage */
};

/* Makes a pipeline of the threads from `first` on, with at most limit
 * connections.  The setup is that of each stage's struct http_loop; each stage
 * has its own clock and disk, and the pipeline its own backends. */
struct pipeline	*pipeline_new(const struct threads *, unsigned first,
		    const struct main_env *, const struct http_setup *,
		    size_t limit);
/* The on_command of these threads. */
void		 pipeline_run_command(struct loop_thread *,
		    enum threads_command);
/* Closes all connections and fails all tasks; no thread may run any more. */
void		 pipeline_end(struct pipeline *);
/* After pipeline_end(). */
void		 pipeline_free(struct pipeline **);

/* Submits a task of any thread, which gets it back by its mailbox. */
enum submitted	 pipeline_submit(struct pipeline *, struct task *,
		    struct mailbox *);
/* Shares new connections among n pipelines, this one of them.  The array is not
 * copied. */
void		 pipeline_share(struct pipeline *, struct pipeline *const *,
		    unsigned n);
/* Adds the pipeline's connections and tasks to stats_gauges. */
void		 pipeline_measure(const struct pipeline *);

#endif
