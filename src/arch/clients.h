/*
 * clients: accepts connections and drives the request machine from an event
 * loop: what the architectures with a loop share.
 */
#ifndef ARCH_CLIENTS_H
#define ARCH_CLIENTS_H

#include <stddef.h>

#include "arch/arch.h"
#include "arch/evloop.h"
#include "http/machine.h"
#include "wait.h"

struct clients;

/* At most limit connections at once.  gone, if any, is called when the last
 * connection of a drain has ended. */
struct clients	*clients_new(struct evloop *, struct clock *, struct http *,
		    size_t limit, void (*gone)(void *), void *context);
void		 clients_end(struct clients *);		/* all of them */
void		 clients_free(struct clients **);	/* the same */
/* Others take from the same queue; least says how many connections the one of
 * them has that has fewest; changed is called when ours are more or fewer, if
 * not NULL.  Both with the context that gone has. */
void		 clients_share(struct clients *, size_t (*least)(void *),
		    void (*changed)(void *));
/* There is room for one, and nobody else in sight as a rule: it has its turn,
 * and then makes room if somebody waits whom no other main has room for; who of
 * them is free may be told (else NULL).  Before clients_listen(). */
void		 clients_take_turns(struct clients *, struct turns *,
		    unsigned main);
/* How many will stay for a while: without one that makes room. */
size_t		 clients_staying(const struct clients *);
/* How many there are; any thread. */
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
