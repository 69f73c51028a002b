/*
 * accept: the policy by which a loop accepts, and what policies share: room
 * and pauses.
 */
#ifndef LOOP_ACCEPT_H
#define LOOP_ACCEPT_H

#include "loop/acceptor.h"
#include "loop/clients_private.h"
#include "shared/listener.h"

#define ACCEPTS_MAX		32	/* in one iteration, for fairness */
#define DRAIN_ACCEPTS_MAX	4096	/* in a drain, from each socket */

struct acceptor;

struct accept_policy {
	/* The sockets are there: watches them, or waits until it may. */
	void	(*start)(struct acceptor *);
	/* A drain begins, which accepts by accept_plain; or NULL. */
	void	(*leave)(struct acceptor *);
	/* Leaves the next connection to others for now; or NULL. */
	bool	(*yield)(struct acceptor *);
	/* No connection is queued any more; or NULL. */
	void	(*emptied)(struct acceptor *);
	/* There is no room, and nothing to evict: to pause avoids a busy
	 * loop. */
	void	(*pause)(struct acceptor *);
	/* A connection has been added, and is not yet served; one has ended. */
	void	(*opened)(struct acceptor *);
	void	(*closed)(struct acceptor *);
	/* The timer has fired. */
	void	(*tick)(struct acceptor *);
};

struct listen_sock {
	struct acceptor	*acceptor;
	struct watch	*watch;		/* NULL: closed */
	struct listener	 listener;
};

struct acceptor {
	const struct accept_policy	*policy;
	struct clients			*clients;
	struct acceptor_setup		 setup;
	struct listen_sock		*socks;
	size_t				 nsocks;
	size_t				 limit;	/* of connections; 0: a drain
						 * ends the queue */
	atomic_bool			 paused;	/* there is no room */
	struct watch			*timer;	/* the policy's */
	struct watch			*drain_timer; /* of blocked sockets */
	int64_t				 warned_at;	/* of no room */
	int				 forced_accepts; /* without yield */
	struct {
		struct watch	*token_watch;
		int		 idle_ticks;	/* slices without activity */
		bool		 closing;	/* asked to close */
		bool		 closing_shared; /* others count on it */
	} one_client;
};

/* How many connections count against the limit. */
size_t	accept_used(const struct acceptor *);
bool	accept_has_room(const struct acceptor *);
/* A connection waits in the queue of this socket. */
bool	accept_has_pending(const struct listen_sock *);
/* Watches the listening sockets, or pauses. */
void	accept_set_open(struct acceptor *, bool);
void	accept_start(struct acceptor *);
/* Pauses until a connection can be evicted or has ended, or a moment is over;
 * accept_pause() logs that. */
void	accept_await_room(struct acceptor *);
void	accept_pause(struct acceptor *);
void	accept_opened(struct acceptor *);
void	accept_closed(struct acceptor *);
/* Ends a connection that lingers, if more than so many do. */
void	accept_limit_lingering(struct clients *, size_t);
/* Tells others how many connections count. */
void	accept_tell(const struct acceptor *, size_t);

#endif
