/*
 * clients: the connections of one event loop, and the request machine driven
 * by that loop.  All architectures use it.
 */
#ifndef LOOP_CLIENTS_H
#define LOOP_CLIENTS_H

#include <stddef.h>

#include "http/machine.h"
#include "loop/evloop.h"
#include "loop/net.h"
#include "wait.h"

struct clients;

/* At most limit connections at once.  on_empty, if not NULL, is called when the
 * last connection of a drain has ended. */
struct clients	*clients_new(struct evloop *, struct clock *,
		    struct http_loop *, size_t limit,
		    void (*on_empty)(void *), void *context);
/* Closes all connections; responses that are under way are logged as aborted,
 * and counted (http_count_broken_off()). */
void		 clients_end(struct clients *);
/* Calls clients_end(), then frees. */
void		 clients_free(struct clients **);
/* How many connections are open; any thread may ask. */
size_t		 clients_count(const struct clients *);
/* Adds a connection that main makes to itself.  The net performs all of its
 * operations, and none on the descriptor, which must always be ready. */
void		 clients_add_internal(struct clients *, int fd, struct net *,
		    const struct client_kind *, size_t listener);
/* Each connection ends with its next response, or after a moment without a
 * request.  To be called by acceptor_drain(). */
void		 clients_drain(struct clients *);
/* Adds the connections, by what they do now, to stats_gauges; any thread. */
void		 clients_measure(const struct clients *);
/* Completes a task whose result is in its job, wakes its waiters, and frees
 * the task. */
void		 clients_finish_task(struct task *);

#endif
