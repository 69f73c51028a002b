/*
 * net: performs operations of the machine (src/wait.h) on sockets.
 *
 * A layer between machine and socket is a struct net.  It sees the operations
 * of its session, and performs operations of its own on the socket.  A
 * connection that main makes to itself is a layer without a socket.
 */
#ifndef LOOP_NET_H
#define LOOP_NET_H

#include <stdbool.h>
#include <stddef.h>

#include "wait.h"

struct net;

#define NET_WAIT_MS	100	/* ms that an operation may wait at a time */

/* A part of each connection's record: an idle one costs 16 bytes more if this
 * struct has more than 16. */
struct net_sock {
	struct net *net;	/* the layer, or NULL */
	int	fd;
	bool	corked : 1;	/* the system sends full packets only */
	bool	ended : 1;	/* its output is shut down */
	bool	large : 1;	/* others go before it */
	bool	bounded : 1;	/* once was large: holds few unsent bytes */
	bool	late : 1;	/* reports room late: see report_late() */
	bool	can_block : 1;	/* its descriptor is no O_NONBLOCK */
	bool	drained;	/* the last READ brought less than its room */
	bool	full;		/* the last WRITE offered more than it took */
	bool	saw_eof;	/* the end of the input has arrived, behind
				 * what is unread */
};

enum net_state {
	NET_DONE,		/* the wait has ended: see its outcome */
	NET_READ,		/* would block until there is input */
	NET_WRITE,		/* would block until output is taken */
	NET_NONE		/* the wait is not for the net */
};

struct net {
	/* As net_perform_sock().  The state may name another event than that of
	 * the operation: input that was read ahead makes no socket ready, so a
	 * READ with WAIT_LATER waits for output. */
	enum net_state	(*perform)(struct net *, struct net_sock *,
			    struct wait *);
	/* Ends the layer, and closes the socket; as net_close_sock(). */
	void		(*close)(struct net *, struct net_sock *,
			    unsigned flags);
};

/* Closes the connection, with the flags of a CLOSE. */
void		 net_close(struct net_sock *, unsigned flags);
/* Performs an operation on the socket, below any layer, if it does not block.
 * Before any wait without WAIT_CORK the socket is uncorked.  Its priority is
 * that of the last WRITE or SEND: low with WAIT_LARGE. */
enum net_state	 net_perform_sock(struct net_sock *, struct wait *);
/* The same of a socket that can block and has no layer, but the operation waits
 * for NET_WAIT_MS at most.  NET_READ and NET_WRITE: that time is over. */
enum net_state	 net_perform_waiting(struct net_sock *, struct wait *);
/* Does only what the flags of a wait ask for before its operation: corks,
 * uncorks, sets the priority, ends the output. */
void		 net_shape(struct net_sock *, const struct wait *);
/* Limits operations of a socket that can block to NET_WAIT_MS each.  Sockets
 * accepted from this one inherit the limit, except for those of AF_UNIX. */
void		 net_limit(int fd);
/* No operation of the socket will wait. */
void		 net_unblock(struct net_sock *);
void		 net_close_sock(struct net_sock *, unsigned flags);
enum net_state	 net_perform_layer(struct net_sock *, struct wait *);
/* Whether the connection is over in both directions, or was reset: nobody can
 * receive a response.  A client that has ended only its output has not gone. */
bool		 net_is_gone(const struct net_sock *);
/* Whether a READ may bring something: bytes, the end, an error. */
bool		 net_has_input(const struct net_sock *);
/* Whether a socket that reports its room late has some. */
bool		 net_has_room(struct net_sock *);
/* Bytes of output that the client has not acknowledged. */
size_t		 net_unacked(const struct net_sock *);

/* Performs an operation if it does not block. */
static inline enum net_state
net_perform(struct net_sock *s, struct wait *w)
{
	if (s->net != NULL)
		return net_perform_layer(s, w);
	/* After its response a connection nearly always waits for input. */
	if (s->drained && w->kind == WAIT_READ && w->flags == 0 && !s->corked)
		return NET_READ;
	return net_perform_sock(s, w);
}

#endif
