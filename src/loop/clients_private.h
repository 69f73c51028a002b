/*
 * clients_private: what clients.c, acceptor.c, batch.c and stages.c share.
 */
#ifndef LOOP_CLIENTS_PRIVATE_H
#define LOOP_CLIENTS_PRIVATE_H

#include <stdatomic.h>

#include "loop/clients.h"
#include "loop/mailbox.h"
#include "shared/listener.h"

TAILQ_HEAD(client_list, client);

/* The loop's record of a connection.  There may be very many, most of them
 * idle, so each is embedded in its watch: one piece of memory for both. */
struct client {
	struct clients		*all;
	struct session		*session;
	struct task		*task;		/* waited for, or NULL */
	int64_t			 deadline;	/* clock ms */
	uint8_t			 timeout;	/* index of its list */
	bool			 listed;	/* in that list */
	bool			 saw_eof;	/* behind the unread input */
	bool			 internal;	/* by clients_add_internal() */
	/* The next three are for stages.c. */
	bool			 watched;	/* by the read stage's loop */
	bool			 elsewhere;	/* watched, in another stage */
	bool			 has_input;	/* arrived while elsewhere */
	TAILQ_ENTRY(client)	 link;		/* in the list of a timeout */
	union {
		TAILQ_ENTRY(client)	 waiting;	/* among a task's */
		struct mail		 mail;	/* to another stage */
	};
};

struct listen_sock {
	struct clients	*all;
	struct watch	*watch;		/* NULL: closed */
	struct listener	 listener;
};

struct clients {
	struct evloop		*loop;
	struct clock		*clock;
	struct http_loop	*http;
	struct watch		*timer;		/* for the first deadline */
	int64_t			 timer_at;	/* NEVER: not armed */
	struct client_list	 lists[TIMEOUT_COUNT];
	/* The numbers that other threads read are counters (lib/counter.h). */
	size_t			 list_len[TIMEOUT_COUNT];
	size_t			 count;		/* of connections */
	size_t			 limit;		/* of count */
	size_t			 peak;		/* of count, since memory was
						 * last returned */
	bool			 trimmed_some;	/* connections were left when
						 * memory was returned */
	enum evloop_event	 read_event;	/* EDGE if it is reliable */
	void			(*on_ready)(void *);	/* a client's watch */
	void			(*on_empty)(void *);	/* or NULL */
	void			*context;	/* of this and the next ones */
	atomic_bool		 draining;
	struct stages		*stages;	/* NULL: no stages */
	bool			 batching;	/* batch_enable() was called */
	struct client		*batch[MACHINE_BATCH_MAX];
	unsigned		 nbatch;
	/* The rest is for acceptor.c. */
	struct listen_sock	*socks;
	size_t			 nsocks;
	bool			 fds_borrowed;	/* others close the sockets */
	atomic_bool		 paused;	/* accepts nothing: no room */
	int64_t			 warned_at;	/* of no room, clock ms */
	size_t			(*least_elsewhere)(void *);	/* or NULL */
	void			(*on_changed)(void *);	/* count; or NULL */
	struct watch		*yield_timer;	/* ends a yield to others */
	int			 forced_accepts;	/* left without yield */
	bool			 draining_queue;	/* limit is lifted */
	struct watch		*drain_timer;	/* for blocked sockets */
	void			(*on_closed)(void *);	/* sockets; or NULL */
	bool			 one_client;	/* acceptor_one_client() */
	int			 idle_ticks;	/* slices without activity */
	bool			 closing;	/* the one client was asked to
						 * close */
	bool			 closing_shared;	/* others count on it */
	struct accept_token	*token;		/* NULL: none */
	unsigned		 main;		/* index in the token */
	struct watch		*token_watch;
};

/* Lets a connection wait, or closes it (NULL). */
void	clients_wait(struct client *, const struct wait *);
/* Files a connection under its deadline and its task; watches no descriptor. */
void	clients_file(struct client *, const struct wait *);
void	clients_run(struct client *);
/* The event for a connection's input: EDGE or READ. */
enum evloop_event clients_read_event(const struct client *);
/* Ends a connection's wait with an outcome, then runs the connection. */
void	clients_wake(struct client *, enum outcome);
/* Takes a connection out of the list of its timeout. */
void	clients_unlist(struct client *);
void	clients_close(struct client *);
/* Closes the connection whose loss costs least; false: there is none. */
bool	clients_evict(struct clients *);
bool	clients_can_evict(const struct clients *);
/* A lingering connection whose client has taken all output, or NULL. */
struct client	*clients_find_lingering(const struct clients *);
/* The connection that has been idle for longest, or NULL. */
struct client	*clients_find_idle(const struct clients *);
/* Adds an accepted connection and runs it. */
void	clients_add(struct clients *, int fd, const struct transport *,
	    void *context, const struct sockaddr *from, size_t listener);
/* In a drain: calls on_empty if there is no connection and no socket. */
void	clients_check_empty(struct clients *);
/* Arms the timer for this clock ms, unless it fires earlier. */
void	clients_set_timer(struct clients *, int64_t when);

#endif
