/*
 * filter: CONTRACT between the request machine and the driver of filters: a
 * file on its way through the programs of a chain.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	/* Set by the driver.  A result is memory that nobody can change. */
	int		 result;	/* the machine's, or -1 */
	/*
	 * 0 or an errno: EAGAIN (too many runs of a filter wait), ETIMEDOUT,
	 * EFBIG (the result is too large), EPROTO (a filter has failed),
	 * ECANCELED (the loop ends), others of a filter that was not started.
	 * ENODATA: all filters were left out.
	 */
	int		 error;
	bool		 has_left_out;	/* optional filters, as many runs of
					 * them wait */
	uint32_t	 retry_after;	/* EAGAIN: seconds */
	struct buf	 notes;		/* of all; the machine's */
};

#endif
