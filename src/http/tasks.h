/*
 * tasks: makes and submits the machine's tasks.
 */
#ifndef HTTP_TASKS_H
#define HTTP_TASKS_H

#include "http/http.h"

/* Prepares a task of zeros, and its job. */
void		 tasks_init(struct http_loop *, struct task *, enum job_kind,
		    void (*complete)(struct task *),
		    void (*free)(struct task *));
/* Submits a task.  Meanwhile no queued verification starts, since the caller
 * may run inside of a connection's step, where no other may be woken. */
enum submitted	 tasks_submit(struct http_loop *, struct task *);

#endif
