/*
 * clients_private: what clients.c, acceptor.c and stages.c share, and nobody
 * else may know.
 */
#ifndef LOOP_CLIENTS_PRIVATE_H
#define LOOP_CLIENTS_PRIVATE_H

#include <stdatomic.h>

#include "loop/clients.h"
#include "loop/mailbox.h"
#include "shared/listener.h"

TAILQ_HEAD(client_list, client);

/* There may be very many, of which most are idle: it is a guest of its
 * watch, to be one piece of memory with it. */
struct client {
	struct clients		*all;
	struct session		*session;
	struct task		*task;	/* waited for, or NULL */
	int64_t			 deadline;	/* clock ms */
	uint8_t			 timeout;	/* the list that it is in */
	bool			 listed;
	bool			 saw_eof;		/* behind what is to be read */
	bool			 internal;	/* others have its descriptor */
	/* In stages, see there. */
	bool			 watched;	/* by who reads requests, ... */
	bool			 elsewhere;		/* ... but not there */
	bool			 has_input;	/* there may be more to read */
	TAILQ_ENTRY(client)	 link;		/* in that list */
	union {
		TAILQ_ENTRY(client)	 waiting;	/* for the task */
		struct mail		 mail;		/* on its way */
	};
};

struct listen_sock {				/* a listening socket */
	struct clients	*all;
	struct watch	*watch;
	struct listener	 listener;
};

struct clients {
	struct evloop		*loop;
	struct clock		*clock;
	struct http_loop		*http;
	struct listen_sock		*socks;
	size_t			 nsocks;
	struct watch		*timer;
	int64_t			 timer_at;	/* NEVER: not set */
	struct client_list	 lists[TIMEOUT_COUNT];
	/* Counters, as are all the numbers that others may look at. */
	size_t			 list_len[TIMEOUT_COUNT];	/* in them */
	size_t			 count;
	size_t			 peak;		/* of count, since memory was
						 * last returned */
	bool			 trimmed_some;		/* then, some had stayed */
	size_t			 limit;
	enum evloop_event	 read_event;		/* EDGE, where it can be had */
	void			(*on_ready)(void *);	/* to be called back */
	atomic_bool		 paused;	/* doors, until there is room */
	int64_t			 warned_at;		/* that they are: clock ms */
	atomic_bool		 draining;
	bool			 fds_borrowed;		/* the doors */
	bool			 draining_queue;		/* come in, whoever waits */
	struct accept_token		*token;		/* NULL: with nobody */
	unsigned		 main;		/* ... in it */
	struct watch		*token_watch;		/* the door is handed on */
	bool			 one_client;		/* there is room for one, who */
	int			 idle_ticks;		/* ... did not move in these, */
	bool			 closing;	/* or ends with its response, */
	bool			 closing_shared;		/* soon, as others believe */
	void			(*on_empty)(void *);
	void			*context;
	size_t			(*least_elsewhere)(void *);	/* of others, or NULL */
	void			(*on_changed)(void *);
	struct watch		*drain_timer;	/* that a drain leaves doors */
	void			(*on_closed)(void *);	/* they are, or NULL */
	struct watch		*yield_timer;		/* the time until ... */
	int			 forced_accepts;	/* ... so many are taken that
						 * others have left */
	struct stages		*stages;	/* NULL: there are none */
	bool			 batching;	/* batch.h */
	struct client		*batch[MACHINE_BATCH_MAX];
	unsigned		 nbatch;
};

/* It waits for that, or is over if for nothing. */
void	clients_wait(struct client *, const struct wait *);
/* It waits for that, which nobody is to watch. */
void	clients_file(struct client *, const struct wait *);
void	clients_run(struct client *);
/* How it is told of input: EDGE or READ. */
enum evloop_event clients_read_event(const struct client *);
/* It has got what it waited for, or not: runs it. */
void	clients_wake(struct client *, enum outcome);
void	clients_unlist(struct client *);
/* Ends it; whoever counts it has one less. */
void	clients_close(struct client *);
/* One that costs it least goes; false: there is none. */
bool	clients_evict(struct clients *);
bool	clients_can_evict(const struct clients *);
/* One that lingers and has taken all of its response, or NULL. */
struct client	*clients_find_lingering(const struct clients *);
/* The one that has been between two requests for longest, or NULL. */
struct client	*clients_find_idle(const struct clients *);
/* One that has come in. */
void	clients_add(struct clients *, int fd, const struct transport *,
	    void *context, const struct sockaddr *from, size_t listener);
/* In a drain, if nobody is left, nor can come. */
void	clients_check_empty(struct clients *);
/* The timer, at this clock ms at the latest. */
void	clients_set_timer(struct clients *, int64_t when);

#endif
