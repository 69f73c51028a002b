/*
 * task_queue: tasks that wait for whoever does them, in order.
 *
 * Those at leisure, for which nobody waits, have an order of their own, and of
 * those that are done while others wait every fourth is one of them: so they
 * neither hold up the others nor wait for ever.  There may be so many of each.
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
	size_t			 n, nbackground;	/* all; of these, those */
	size_t			 max;		/* of each */
	unsigned		 npopped;
};

void		 task_queue_init(struct task_queue *, size_t max);
/* Last in its order; false: there is no room, and the task is not a piece of
 * a file that is being sent; its job.error says how it ends. */
bool		 task_queue_add(struct task_queue *, struct task *);
/* Where there is to be room: last, or first again. */
void		 task_queue_push(struct task_queue *, struct task *);
void		 task_queue_push_front(struct task_queue *, struct task *);
void		 task_queue_remove(struct task_queue *, struct task *);
/* The next one, taken out, or NULL. */
struct task	*task_queue_pop(struct task_queue *);

#endif
