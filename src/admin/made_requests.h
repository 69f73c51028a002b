/*
 * made_requests: runs requests that an administrator's process makes itself,
 * one at a time, in a request machine of their own.
 *
 * The head of the response is kept; a body is not read to its end.
 */
#ifndef ADMIN_MADE_REQUESTS_H
#define ADMIN_MADE_REQUESTS_H

#include <sys/socket.h>

#include "conf/conf.h"
#include "http/explain.h"
#include "task.h"

struct made_requests;

/* submit does the disk work, in the call.  managers: sockets to the program
 * managers of the conf, -1 for one that is missing, owned from now on; filters
 * of files run then, in the call of made_requests_run().  NULL: no filter runs.
 * Other pointers stay the caller's. */
struct made_requests *made_requests_new(const struct conf *,
		    const int *managers,
		    enum submitted (*submit)(void *, struct task *), void *);
void		 made_requests_free(struct made_requests **);
/* Runs the request of an explanation, as from that address. */
void		 made_requests_run(struct made_requests *, struct explanation *,
		    const struct sockaddr *from, size_t listener);

#endif
