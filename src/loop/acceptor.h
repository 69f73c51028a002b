/*
 * acceptor: the listening sockets of a loop: which connections are accepted,
 * and when.
 *
 * Accepting is paused while there is no room, and resumed when a connection
 * has ended or can be evicted.  Where others accept from the same queue, the
 * one with many connections leaves new ones to them.
 */
#ifndef LOOP_ACCEPTOR_H
#define LOOP_ACCEPTOR_H

#include "loop/clients.h"

struct accept_token;
struct listener;

/* Listens on sockets, and closes them in a drain. */
void		 acceptor_listen(struct clients *, const struct listener *,
		    size_t n);
/* The sockets are shared with other threads: their owner closes them. */
void		 acceptor_borrow(struct clients *);
/* Others accept from the same queue.  least() returns the smallest number of
 * connections that one of them has, SIZE_MAX if there is none; changed(), if
 * not NULL, is called when clients_staying() changes.  Both get the context of
 * clients_new(). */
void		 acceptor_share(struct clients *, size_t (*least)(void *),
		    void (*changed)(void *));
/* Sets what a drain calls, with the context of clients_new(), when the sockets
 * are closed: in clients_drain(), or a moment later. */
void		 acceptor_on_closed(struct clients *, void (*)(void *));
/* One-client mode (mp, mt): a client has a slice of time; afterwards it is
 * asked to close if others wait in the queue and no other worker has room.
 * The token, if not NULL, says which idle workers watch the queue.  To be
 * called before acceptor_listen(). */
void		 acceptor_one_client(struct clients *, struct accept_token *,
		    unsigned main);

/*
 * For clients.c and stages.c
 */

void		 acceptor_init(struct clients *);
void		 acceptor_free(struct clients *);
/* Watches the listening sockets, or pauses. */
void		 acceptor_set_open(struct clients *, bool);
/* The timer has fired: resumes accepting, or ends a client's slice. */
void		 acceptor_retry(struct clients *);
/* A connection has been added, and is not yet served; one has ended. */
void		 acceptor_conn_opened(struct clients *);
void		 acceptor_conn_closed(struct clients *);
/* A connection waits with this timeout, so it may be evictable. */
void		 acceptor_room_freed(struct clients *, enum timeout);
/* How many connections count against the limit.  In one-client mode one that
 * lingers does not. */
size_t		 acceptor_used(const struct clients *);
/* Accepts all that are queued, then closes the sockets, some after a moment. */
void		 acceptor_drain(struct clients *);
void		 acceptor_close(struct clients *);

#endif
