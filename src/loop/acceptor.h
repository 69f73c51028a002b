/*
 * acceptor: the listening sockets of a loop.
 *
 * Which connections are accepted, and when, is a policy's matter.  Accepting is
 * paused while there is no room, and resumed when a connection has ended or can
 * be evicted.
 */
#ifndef LOOP_ACCEPTOR_H
#define LOOP_ACCEPTOR_H

#include "loop/clients.h"

struct accept_policy;
struct accept_token;
struct listener;

/* The queue is this loop's alone. */
extern const struct accept_policy	accept_plain;
/* Others accept from the same queue: a loop with many connections leaves new
 * ones to the others. */
extern const struct accept_policy	accept_balanced;
/* One-client mode (mp, mt): a client has a slice of time; afterwards it is
 * asked to close if others wait in the queue and no other worker has room. */
extern const struct accept_policy	accept_one_client;

/* The functions get the context of clients_new(); each may be NULL. */
struct acceptor_setup {
	const struct accept_policy	*policy;
	const struct listener		*listeners;
	size_t				 n;
	/* Shared with other threads: their owner closes the sockets. */
	bool				 borrowed;
	/* In one-client mode, if another thread accepts.  Returns whether this
	 * loop, and no other one, is to make room for the next connection. */
	bool				(*claim)(void *);
	/* In a drain the sockets are closed: at once, or a moment later. */
	void				(*on_closed)(void *);
	/* The smallest number of connections of any other loop that accepts
	 * from the same queue, SIZE_MAX if there is none. */
	size_t				(*least)(void *);
	/* So many connections count for the others now. */
	void				(*on_changed)(void *, size_t);
	/* Says which idle workers watch the queue in one-client mode; main: the
	 * number of this one. */
	struct accept_token		*token;
	unsigned			 main;
};

/* Listens on sockets, and closes them in a drain. */
void		 acceptor_listen(struct clients *,
		    const struct acceptor_setup *);
/* Sets another limit of connections; those beyond it stay. */
void		 acceptor_set_limit(struct clients *, size_t);
/* Accepts the connections that are queued, then no more, and drains the
 * clients, which need not listen. */
void		 acceptor_drain(struct clients *);
/* Closes all connections and listening sockets, if there are any.  To be called
 * before clients_free(). */
void		 acceptor_free(struct clients *);

#endif
