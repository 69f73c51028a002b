/*
 * filter: CONTRACT between the request machine and the drivers of filters: a
 * file, or the answer of a program, on its way through the programs of a chain.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "lib/buf.h"
#include "lib/str.h"
#include "task.h"

struct conf_program;

#define FILTER_NOTES_MAX	(64 * 1024)	/* bytes of all notes */

/*
 * The machine makes a run and hands it to the driver's filter()
 * (src/backend.h), which owns the run until it calls complete() of the task;
 * connections wait for the task as for one of the disk.  The job is not used.
 * The standard output of a filter is the standard input of the next.
 */
struct filter_run {
	struct task	 task;		/* first: casts rely on it */
	const struct conf_program *const *programs;	/* in order */
	size_t		 n;
	struct str	 name;		/* for logs; the machine's */
	/* Texts NAME=VALUE, each terminated; the machine's. */
	struct str	 environment;
	int		 source;	/* the file, its offset at the first
					 * byte; the driver's */
	/* Whether another thread has made the result; the driver then ends the
	 * run with ECANCELED if a filter still waits for its place.  NULL: no
	 * other thread can. */
	bool		(*is_made)(const struct filter_run *);
	/* Members from here on are set by the driver. */
	int		 result;	/* a file in memory that no process can
					 * change, the machine's; or -1 */
	/*
	 * 0 or an errno: EAGAIN (too many runs of a filter wait), ETIMEDOUT,
	 * EFBIG (the result is too large), EPROTO (a filter has failed),
	 * ECANCELED (the loop ends, or is_made()), others of a filter that was
	 * not started.  ENODATA: all filters were left out.
	 */
	int		 error;
	bool		 has_left_out;	/* an optional filter was left out, as
					 * too many of its runs wait */
	uint32_t	 retry_after;	/* EAGAIN: seconds */
	struct buf	 notes;		/* of all filters; the machine's */
};

/*
 * An answer that is to pass through filters, for pass() (src/backend.h).  All
 * members but source are borrowed until pass() returns.  The output of source,
 * the program that answers, is the driver's until the passage has ended; source
 * itself remains the machine's.
 */
struct passage_start {
	const struct conf_program *const *programs;	/* in order */
	size_t		 n;
	struct str	 name;		/* for logs */
	/* Texts NAME=VALUE, each terminated. */
	struct str	 environment;
	struct backend	*source;
	struct str	 first;		/* the part of the answer's body that
					 * has come along with the head */
	int64_t		 length;	/* of that body; -1: unknown */
	size_t		 keep;		/* most bytes of struct passage.kept */
	size_t		 hold;		/* most bytes of output that wait */
};

/*
 * A passage, the driver's; the machine reads all members.  The filters run side
 * by side, each with the output of the one before as its input.
 */
struct passage {
	/*
	 * The output of the last filter, dropped by take().  started says that
	 * all filters run.  The waiter is told of the source's room, too.  Ends
	 * are COMPLETE; BROKEN, if the answer of the source is not whole; and
	 * FAILED, with the errors of a struct filter_run (ENODATA: nothing was
	 * passed on).  After the end no filter runs, and the source's output is
	 * the machine's again.
	 */
	struct backend	 output;	/* first: casts rely on it */
	/* The part of the answer's body that filters have taken, while there is
	 * no output. */
	struct buf	 kept;
	bool		 is_lost;	/* a piece of that is not in kept */
	uint32_t	 left_out;	/* filters that were left out: a bit for
					 * each of the first ones */
	bool		 awaits_source;	/* filters have all that the source has
					 * written */
	/* Otherwise: the first filter that has not ended. */
	const struct conf_program *slowest;
	unsigned	 moved;		/* changes as something goes on */
};

#endif
