/*
 * fs_queues: tasks that wait for a helper, a queue for each file system, and
 * how many helpers each holds.
 *
 * A file system that does not answer keeps its share of the helpers, and the
 * tasks for it wait in its own queue.  Where a user's home is, and who knows
 * users, is unknown: all that begins with a user has one queue.  What is kept in
 * a directory may wait for that as well, so it has one too.
 */
#ifndef DISK_FS_QUEUES_H
#define DISK_FS_QUEUES_H

#include <stdbool.h>
#include <stddef.h>

#include "task.h"

struct mounts;
struct fs_queues;

/* share: helpers, most: waiting tasks, that each file system may have; and
 * as many at leisure. */
struct fs_queues *fs_queues_new(struct mounts *, size_t share, size_t most);
void		 fs_queues_free(struct fs_queues **);	/* no tasks left */

/* Last in the queue of its file system; false: that has no room, by the rules of
 * its backlog. */
bool		 fs_queues_add(struct fs_queues *, struct task *);
/* First in its queue again: whoever had it has died. */
void		 fs_queues_requeue(struct task *);
/* It has turned out to lead elsewhere: among those of which just that is
 * known. */
void		 fs_queues_reclassify(struct fs_queues *, struct task *);
void		 fs_queues_remove(struct task *);	/* nobody wants it */
/* Is waited for now: last of those, whether there is room or not. */
void		 fs_queues_promote(struct task *);
/* Where this answer has come from, for tasks that know no path. */
void		 fs_queues_add_alias(struct fs_queues *, const struct task *);

/* The next one that may have a helper, which its queue holds from now on; queues
 * take turns.  NULL: there is none. */
struct task	*fs_queues_pop(struct fs_queues *);
/* Whoever had it is free, or at its end.  A queue that nobody is in any more
 * may be gone after the next fs_queues_add. */
void		 fs_queues_release(struct fs_queue *);
/*
 * The queue's name, the same in every main, never 0; and the queue of that name,
 * of whose share somebody holds one more from now on.
 */
uint64_t	 fs_queues_id(const struct fs_queue *);
struct fs_queue	*fs_queues_reserve(struct fs_queues *, uint64_t name);
/* Any one that waits, taken out, or NULL. */
struct task	*fs_queues_pop_any(struct fs_queues *);

size_t		 fs_queues_waiting(const struct fs_queues *);
size_t		 fs_queues_ready(const struct fs_queues *);	/* for fs_queues_pop */
size_t		 fs_queues_count(const struct fs_queues *);
void		 fs_queues_measure(const struct fs_queues *);	/* stats_fs_queues */

#endif
