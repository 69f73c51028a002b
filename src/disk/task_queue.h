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

struct backlog {
	struct task_list	 urgent, leisure;
	size_t			 n, nleisure;	/* all; of these, those */
	size_t			 most;		/* of each */
	unsigned		 turn;
};

void		 backlog_init(struct backlog *, size_t most);
/* Last in its order; false: there is no room, and the task is not a piece of
 * a file that is being sent; its job.error says how it ends. */
bool		 backlog_add(struct backlog *, struct task *);
/* Where there is to be room: last, or first again. */
void		 backlog_put(struct backlog *, struct task *);
void		 backlog_put_first(struct backlog *, struct task *);
void		 backlog_remove(struct backlog *, struct task *);
/* The next one, taken out, or NULL. */
struct task	*backlog_next(struct backlog *);

#endif
