/*
 * task_queue: tasks in the order in which they are to be done, in two classes.
 *
 * A foreground task has a connection that needs its result, a background task
 * has none.  While both wait, every fourth task is a background one: background
 * tasks neither delay the others much nor wait for ever.  In the same way,
 * every fourth foreground task is a large one, while others wait.
 */
#ifndef DISK_TASK_QUEUE_H
#define DISK_TASK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "task.h"

struct fs_queue;		/* fs_queues.c */

/* A driver's record of a task: the task's member record points to it. */
struct disk_task {
	struct task		*task;
	TAILQ_ENTRY(disk_task)	 link;		/* in a task queue */
	bool			 queued;	/* in a task queue */
	/* The rest is for tasks of helpers. */
	struct fs_queue		*fs_queue;	/* of the job's file system */
	bool			 abandoned;	/* the last waiter has left */
	int			 attempts;	/* helpers that have died doing
						 * it */
	int64_t			 submitted_at;	/* clock ms */
};
TAILQ_HEAD(disk_task_list, disk_task);

struct task_queue {
	struct disk_task_list	 foreground, large, background;
	size_t			 n;		/* tasks of both classes */
	size_t			 nbackground;	/* background tasks */
	size_t			 max;		/* tasks of each class */
	unsigned		 npopped;	/* while both classes waited */
	unsigned		 nforeground;	/* popped, while large and
						 * other ones waited */
};

void		 task_queue_init(struct task_queue *, size_t max);
/* Appends a task to its class.  False: the class is full, and job.error is set;
 * reads of a file that is being sent have no limit. */
bool		 task_queue_add(struct task_queue *, struct disk_task *);
/* Append a task to its class, or put it first, whether there is room or not. */
void		 task_queue_push(struct task_queue *, struct disk_task *);
void		 task_queue_push_front(struct task_queue *, struct disk_task *);
void		 task_queue_remove(struct task_queue *, struct disk_task *);
/* Makes a background task a foreground one. */
void		 task_queue_promote(struct task_queue *, struct disk_task *);
/* Takes the next task; NULL: none. */
struct disk_task *task_queue_pop(struct task_queue *);

#endif
