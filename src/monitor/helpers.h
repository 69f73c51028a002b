/*
 * helpers: the helpers and access loggers of the mains.
 *
 * A helper can outlive its main: the kernel does not end a process that waits
 * for a dead file system.  Such a helper is an orphan.
 */
#ifndef MONITOR_HELPERS_H
#define MONITOR_HELPERS_H

#include <stddef.h>

struct orphan;
struct worker;

/* Helpers that still run although their main has died. */
struct orphans {
	struct orphan	*at;		/* owned, with their descriptors */
	size_t		 count;
};

/* Starts a helper or an access logger for main, and sends main the other end of
 * its pipe.  notify: the helper's copy of main's descriptor for watches
 * (helpers/notify.h), which the caller closes; -1: none. */
void	helpers_start(struct worker *, int notify);
void	helpers_start_logger(struct worker *);
/* Gives main another access logger, which main changes over to.  If too many
 * earlier ones still run, does that as soon as one has ended. */
void	helpers_replace_logger(struct worker *);
/* Kills the helper at that pipe and gives it up. */
void	helpers_kill(int pipe);
/* Kills all helpers of a main and gives them up. */
void	helpers_kill_all(const struct worker *);
/* A main has died: its helpers become orphans, with the queues that they work
 * for, and its slots are cleared. */
void	helpers_main_died(const struct worker *);
/* Finds the orphans of a worker, for its next main.  Where a generation has
 * fewer workers than an earlier one, they share the orphans of the missing
 * ones.  The caller frees the result. */
void	helpers_find_orphans(const struct worker *, struct orphans *);
/* Closes the descriptors; the orphans run on. */
void	helpers_free_orphans(struct orphans *);

#endif
