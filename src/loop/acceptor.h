/*
 * acceptor: the sockets that clients come in by: who is let in, and when.
 *
 * They are closed while there is no room, and opened when somebody has gone or
 * can make room; where others take from the same queue, who has most leaves it
 * to them.
 */
#ifndef LOOP_ACCEPTOR_H
#define LOOP_ACCEPTOR_H

#include "loop/clients.h"

struct listener;
struct accept_token;

void		 acceptor_listen(struct clients *, const struct listener *,
		    size_t n);
/* The sockets that it listens on are lent: others have them, too, and whoever
 * lends them closes them. */
void		 acceptor_borrow(struct clients *);
/* Others take from the same queue; least says how many connections the one of
 * them has that has fewest; changed is called when ours are more or fewer, if
 * not NULL.  Both with the context that gone has. */
void		 acceptor_share(struct clients *, size_t (*least)(void *),
		    void (*changed)(void *));
/* In a drain: tells when they have been shut, with the context that gone has.
 * That may be before clients_drain() returns, or a moment later. */
void		 acceptor_on_closed(struct clients *, void (*shut)(void *));
/* There is room for one, and nobody else in sight as a rule: it has its turn,
 * and then makes room if somebody waits whom no other main has room for; who of
 * them is free may be told (else NULL).  Before acceptor_listen(). */
void		 acceptor_one_client(struct clients *, struct accept_token *,
		    unsigned main);

/*
 * For clients.c and stages.c
 */

void		 acceptor_init(struct clients *);
void		 acceptor_free(struct clients *);
void		 acceptor_set_open(struct clients *, bool);	/* or closed */
/* It is time to see whether closed ones can be opened. */
void		 acceptor_retry(struct clients *);
/* One has come in, before it is served; one has gone. */
void		 acceptor_conn_opened(struct clients *);
void		 acceptor_conn_closed(struct clients *);
/* One waits with that timeout: it may make room, or has gone for who lets in
 * one at a time. */
void		 acceptor_room_freed(struct clients *, enum timeout);
/* How many there are that count.  Where there is room for one, it has gone when
 * it has had its last response. */
size_t		 acceptor_used(const struct clients *);
/* Who has come already, and then no more. */
void		 acceptor_drain(struct clients *);
void		 acceptor_close(struct clients *);

#endif
