/*
 * task_queue: tasks in the order in which they are to be done, in two classes.
 *
 * A foreground task has a connection that waits for it, a background task has
 * none.  While both wait, every fourth task is a background one: background
 * tasks neither delay the others much nor wait for ever.
 */
#ifndef DISK_TASK_QUEUE_H
#define DISK_TASK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "task.h"

TAILQ_HEAD(task_list, task);

struct task_queue {
	struct task_list	 foreground, background;
	size_t			 n;		/* tasks of both classes */
	size_t			 nbackground;	/* background tasks */
	size_t			 max;		/* tasks of each class */
	unsigned		 npopped;	/* while both classes waited */
};

void		 task_queue_init(struct task_queue *, size_t max);
/* Appends a task to its class.  False: the class is full, and job.error is set;
 * reads of a file that is being sent have no limit. */
bool		 task_queue_add(struct task_queue *, struct task *);
/* Append a task to its class, or put it first, whether there is room or not. */
void		 task_queue_push(struct task_queue *, struct task *);
void		 task_queue_push_front(struct task_queue *, struct task *);
void		 task_queue_remove(struct task_queue *, struct task *);
/* Takes the next task; NULL: none. */
struct task	*task_queue_pop(struct task_queue *);

#endif
