/*
 * clients_private: what clients.c shares with the rest that has connections.
 */
#ifndef LOOP_CLIENTS_PRIVATE_H
#define LOOP_CLIENTS_PRIVATE_H

#include <stdatomic.h>

#include "loop/client.h"

struct clients {
	struct evloop		*loop;
	struct clock		*clock;
	struct http_loop	*http;
	struct watch		*timer;		/* for the first deadline */
	int64_t			 timer_at;	/* NEVER: not armed */
	/* Of each enum timeout, then of each term; nlists are in use. */
	struct client_list	 lists[TIMEOUT_COUNT + WAIT_TERMS_MAX];
	int			 nlists;
	/* The numbers that other threads read are counters (lib/counter.h). */
	size_t			 list_len[TIMEOUT_COUNT];
	size_t			 count, limit;	/* of connections */
	size_t			 peak;		/* of count, since mem_trim() */
	bool			 trimmed_some;	/* some were left then */
	enum evloop_event	 read_event;	/* EDGE if it is reliable */
	void			(*on_ready)(void *);	/* a client's watch */
	void			(*on_empty)(void *);	/* or NULL */
	void			*context;	/* of this and the next ones */
	int			 accept_flags;	/* of accept4(2) */
	atomic_bool		 draining;
	bool			 listening;	/* more may be accepted */
	bool			 frees_lingering; /* none of them counts */
	struct clients		*home;		/* STAGE_ACCEPT's, or itself */
	struct acceptor		*acceptor;	/* NULL: none */
	unsigned		 runs;		/* stages: all, or one */
	struct workspace	*workspace;	/* of who runs alone */
	char			*room;		/* for input */
	/* Hooks of other files; each may be NULL, unless it says so.  wait(),
	 * never NULL, parks a connection and lets it wait, or closes it. */
	void			(*wait)(struct client *, const struct wait *,
				    enum net_state);
	/* Runs a connection that has just been added.  Never NULL. */
	void			(*begin)(struct client *);
	void			(*run_batch)(struct clients *);
	/* A connection begins to wait, and may be evictable. */
	void			(*on_wait)(struct clients *, enum timeout);
	void			(*on_pause)(const struct clients *);
	/* As clients_evict(), but perhaps later.  Never NULL. */
	bool			(*evict)(struct clients *);
	bool			(*can_evict)(const struct clients *);
	struct stages		*stages;	/* for stages.c */
	struct spawned		*spawned;	/* for spawner.c */
	struct client		*blocked;	/* or NULL; for blocking.c */
	struct workspace	*workspaces;	/* NULL: none yet */
	struct client		*batch[MACHINE_BATCH_MAX];
	unsigned		 nbatch;	/* these three for batch.c */
};

/* Runs the connections of the batch, if there is any. */
static inline void
clients_run_batch(struct clients *all)
{
	if (all->run_batch != NULL)
		all->run_batch(all);
}

/* Parks a connection and lets it wait, or closes it. */
void	clients_wait(struct client *, const struct wait *, enum net_state);
/* Files a connection under all that it waits for, except its descriptor. */
void	clients_file(struct client *, const struct wait *);
void	clients_run(struct client *);
/* Notes that a connection's descriptor is ready. */
void	clients_note_ready(struct client *);
/* The event for a connection's input: EDGE or READ. */
enum evloop_event clients_read_event(const struct client *);
/* Ends a connection's wait with an outcome, then runs the connection.  NONE:
 * its descriptor is ready, which may end a wait for a program, or not. */
void	clients_wake(struct client *, enum outcome);
/* Takes a connection out of the list of its timeout. */
void	clients_unlist(struct client *);
/* Close a connection: with a CLOSE's flags; as main ends, with a log line. */
void	clients_close(struct client *, unsigned flags);
void	clients_break_off(struct client *);
/* Closes the connection whose loss costs least; false: there is none. */
bool	clients_evict(struct clients *);
/* A lingering connection whose client has taken all output, or NULL. */
struct client	*clients_find_lingering(const struct clients *);
/* The connection that has been idle for longest, or NULL. */
struct client	*clients_find_idle(const struct clients *);
/* Adds an accepted connection and runs it. */
void	clients_add(struct clients *, int fd, struct net *,
	    const struct client_kind *, const struct sockaddr *from,
	    size_t listener);
/* In a drain: calls on_empty if there is no connection and no socket. */
void	clients_check_empty(struct clients *);

#endif
