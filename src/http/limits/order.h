/*
 * order: which response goes first, if small ones do (order by-size).
 *
 * Large responses go when no others have anything to send.  So that these do
 * not keep large ones waiting for ever, small ones go like large ones for a
 * while, when many of their bytes went ahead of large ones that waited.
 */
#ifndef HTTP_LIMITS_ORDER_H
#define HTTP_LIMITS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes left of a response; with more, it is large. */
#define ORDER_SMALL_MAX	(128 * 1024)

/* Bytes of small responses that may go ahead of large ones; at most, when to
 * suspend the order has not helped, because clients are slow. */
#define ORDER_AHEAD	(1 << 20)
#define ORDER_AHEAD_MAX	(256 << 20)
/* Bytes of small responses that one byte of a large response makes up for. */
#define ORDER_SHARE	2

struct conn;

/* Of one loop. */
struct order_state {
	bool		by_size, suspended;
	unsigned	nwaiting;	/* large ones whose sockets are full */
	int64_t		ahead;		/* bytes; while suspended, to go */
	int64_t		limit;		/* of ahead */
};

void	order_init(struct order_state *, bool by_size);
/* Counts bytes that were sent of a large response, or of a small one. */
void	order_count(struct order_state *, bool large, int64_t bytes);

/* WAIT_LARGE, if others go before the output of a connection; else 0. */
unsigned order_flag(struct conn *);
/* Counts bytes of it that were sent. */
void	order_take(struct conn *, int64_t bytes);
/* The response begins to wait for its client, and ends to. */
void	order_park(struct conn *);
void	order_unpark(struct conn *);

#endif
