/*
 * clients: accepts connections and drives the request machine from an event
 * loop: what the architectures with a loop share.
 */
#ifndef ARCH_CLIENTS_H
#define ARCH_CLIENTS_H

#include <stddef.h>

#include "arch/arch.h"
#include "arch/evloop.h"
#include "arch/queue.h"
#include "http/machine.h"
#include "wait.h"

struct clients;

/* At most limit connections at once.  gone is called when the last connection
 * of a drain has ended. */
struct clients	*clients_new(struct evloop *, struct clock *, struct http *,
		    size_t limit, void (*gone)(void *), void *context);
void		 clients_free(struct clients **);	/* ends them all */
/* The same, of those here and of whoever comes from another stage from now on;
 * none of the threads runs any more.  STAGE_ACCEPT first, and freed last. */
void		 clients_end(struct clients *);
/* Others take from the same queue; least is how many connections the one of
 * them has that has fewest.  changed is called when ours are more or fewer. */
void		 clients_share(struct clients *, size_t (*least)(void),
		    void (*changed)(void *));
/*
 * They are those of one stage of the machine, in a thread of its own: who is
 * another stage's business goes there.  All of them, by stage, are known before
 * any of their loops turns; STAGE_ACCEPT has the doors, counts and lets go.
 * What they have to say to each other goes through the queue of each.
 */
void		 clients_stage(struct clients *, enum stage,
		    struct clients *const *, struct queue *);
/* How many there are. */
size_t		 clients_count(const struct clients *);
void		 clients_listen(struct clients *, const struct listener *,
		    size_t n);
/* The sockets that it listens on are lent: others have them, too, and whoever
 * lends them closes them. */
void		 clients_lent(struct clients *);
/* One that nobody has made: its bytes are the transport's; its descriptor must
 * take output and have input at any time. */
void		 clients_invite(struct clients *, int fd,
		    const struct transport *, void *context, size_t listener);
/* No new connections but those that have come in already; all end with their
 * next response, or after a moment without a request. */
void		 clients_drain(struct clients *);
/* What they are doing now, in addition to what their gauges say already.  From
 * any thread. */
void		 clients_measure(const struct clients *);
/* The answer is in its job: tells it, wakes who waits, frees it. */
void		 clients_errand_done(struct errand *);

#endif
