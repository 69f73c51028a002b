/*
 * clients: connections, and the request machine driven by an event loop: what
 * the architectures with a loop share.
 */
#ifndef LOOP_CLIENTS_H
#define LOOP_CLIENTS_H

#include <stddef.h>

#include "http/machine.h"
#include "loop/evloop.h"
#include "wait.h"

struct clients;

/* At most limit connections at once.  gone, if any, is called when the last
 * connection of a drain has ended. */
struct clients *clients_new(struct evloop *, struct clock *, struct http_loop *,
    size_t limit, void (*gone)(void *), void *context);
void		 clients_end(struct clients *);		/* all of them */
void		 clients_free(struct clients **);	/* the same */
/* How many will stay for a while: without one that makes room. */
size_t		 clients_staying(const struct clients *);
/* How many there are; any thread. */
size_t		 clients_count(const struct clients *);
/* One that nobody has made: its bytes are the transport's; its descriptor must
 * take output and have input at any time. */
void		 clients_add_internal(struct clients *, int fd,
		    const struct transport *, void *context, size_t listener);
/* No new connections but those that have come in already; all end with their
 * next response, or after a moment without a request. */
void		 clients_drain(struct clients *);
/* What they are doing now, in addition to what their gauges say already.  From
 * any thread. */
void		 clients_measure(const struct clients *);
/* The answer is in its job: tells it, wakes who waits, frees it. */
void		 clients_finish_task(struct task *);

#endif
