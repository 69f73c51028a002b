/*
 * fs_queues: tasks that wait for a helper, in a queue for each file system,
 * and how many helpers each queue holds.
 *
 * A file system that does not answer holds at most its limit of helpers, and
 * the tasks for it wait in its queue.  The file system of a user's home is
 * unknown before the user database has been asked: all homes have one queue.
 * Results in a cache directory may wait for two file systems: they have one
 * queue as well.
 */
#ifndef DISK_FS_QUEUES_H
#define DISK_FS_QUEUES_H

#include <stdbool.h>
#include <stddef.h>

#include "disk/task_queue.h"

struct mounts;
struct fs_queues;

/* Each queue may hold `limit` helpers and `tasks_max` tasks of each class. */
struct fs_queues *fs_queues_new(struct mounts *, size_t limit,
		    size_t tasks_max);
void		 fs_queues_free(struct fs_queues **);	/* must be empty */
/* Sets other limits; helpers and tasks beyond them stay. */
void		 fs_queues_set_limits(struct fs_queues *, size_t limit,
		    size_t tasks_max);

/* Makes a record of a task, in the queue of its file system.  NULL: no room,
 * and the job's error is set (see task_queue_add()). */
struct disk_task *fs_queues_add(struct fs_queues *, struct task *);
/* Drops the record of a task that is in no queue; returns the task. */
struct task	*fs_queues_end(struct disk_task *);
/* Puts a task whose helper has died first in its queue again. */
void		 fs_queues_requeue(struct disk_task *);
/* Appends a task whose path has left its mount (EREMOTE) to the queue for such
 * tasks, with same_mount off. */
void		 fs_queues_reclassify(struct disk_task *);
void		 fs_queues_remove(struct disk_task *);
/* Makes a background task a foreground one, even if there is no room. */
void		 fs_queues_promote(struct disk_task *);
/* Remembers the device number in a task's result as an alias of its queue, for
 * tasks without a path. */
void		 fs_queues_add_alias(const struct disk_task *);

/* Takes the next task whose queue is below its limit, round robin over the
 * queues; the queue holds one helper more.  NULL: none. */
struct disk_task *fs_queues_pop(struct fs_queues *);
/* The queue holds one helper less.  An empty queue may be freed by the next
 * fs_queues_add(). */
void		 fs_queues_release(struct fs_queue *);
/* The queue's id, the same in every main, never 0. */
uint64_t	 fs_queues_id(const struct fs_queue *);
/* The queue with that id, made if need be; it holds one helper more. */
struct fs_queue	*fs_queues_reserve(struct fs_queues *, uint64_t id);
/* Takes any task, whatever the limits; NULL: none. */
struct disk_task *fs_queues_pop_any(struct fs_queues *);

/* Numbers of tasks that wait, of those whose queue is below its limit, and of
 * queues. */
size_t		 fs_queues_waiting(const struct fs_queues *);
size_t		 fs_queues_ready(const struct fs_queues *);
size_t		 fs_queues_count(const struct fs_queues *);
/* Fills in stats_fs_queues. */
void		 fs_queues_measure(const struct fs_queues *);

#endif
