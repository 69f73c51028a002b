/*
 * fs_queues: tasks that wait for a helper, a queue for each file system, and
 * how many helpers each holds.
 *
 * A file system that does not answer keeps its share of the helpers, and the
 * tasks for it wait in its own lane.  Where a user's home is, and who knows
 * users, is unknown: all that begins with a user has one lane.  What is kept in
 * a directory may wait for that as well, so it has one too.
 */
#ifndef DISK_FS_QUEUES_H
#define DISK_FS_QUEUES_H

#include <stdbool.h>
#include <stddef.h>

#include "task.h"

struct mounts;
struct lanes;

/* share: helpers, most: waiting tasks, that each file system may have; and
 * as many at leisure. */
struct lanes	*lanes_new(struct mounts *, size_t share, size_t most);
void		 lanes_free(struct lanes **);	/* no tasks left */

/* Last in the lane of its file system; false: that has no room, by the rules of
 * its backlog. */
bool		 lanes_add(struct lanes *, struct task *);
/* First in its lane again: whoever had it has died. */
void		 lanes_again(struct task *);
/* It has turned out to lead elsewhere: among those of which just that is
 * known. */
void		 lanes_stray(struct lanes *, struct task *);
void		 lanes_remove(struct task *);	/* nobody wants it */
/* Is waited for now: last of those, whether there is room or not. */
void		 lanes_hurry(struct task *);
/* Where this answer has come from, for tasks that know no path. */
void		 lanes_learn(struct lanes *, const struct task *);

/* The next one that may have a helper, which its lane holds from now on; lanes
 * take turns.  NULL: there is none. */
struct task	*lanes_next(struct lanes *);
/* Whoever had it is free, or at its end.  A lane that nobody is in any more
 * may be gone after the next lanes_add. */
void		 lanes_release(struct lane *);
/*
 * The lane's name, the same in every main, never 0; and the lane of that name,
 * of whose share somebody holds one more from now on.
 */
uint64_t	 lanes_name(const struct lane *);
struct lane	*lanes_hold(struct lanes *, uint64_t name);
/* Any one that waits, taken out, or NULL. */
struct task	*lanes_any(struct lanes *);

size_t		 lanes_waiting(const struct lanes *);
size_t		 lanes_ready(const struct lanes *);	/* for lanes_next */
size_t		 lanes_count(const struct lanes *);
void		 lanes_measure(const struct lanes *);	/* stats_lanes */

#endif
