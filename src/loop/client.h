/*
 * client: the record that a loop has of a connection.
 */
#ifndef LOOP_CLIENT_H
#define LOOP_CLIENT_H

#include "loop/clients.h"
#include "loop/mailbox.h"

TAILQ_HEAD(client_list, client);

/* The loop's record of a connection.  There may be very many, most of them
 * idle, so each is embedded in its watch: one piece of memory for both. */
struct client {
	struct clients		*all;
	struct session		*session;
	union {				/* waited for; NULL: none */
		struct task	*task;
		struct backend	*backend;
	};
	int64_t			 deadline;	/* clock ms */
	struct net_sock		 sock;
	uint8_t			 timeout, list;	/* enum, index of its list */
	bool			 listed;	/* in it */
	bool			 for_backend : 1, for_input : 1, for_end : 1;
	bool			 saw_eof;	/* of stages.c, as the next: */
	bool			 watched;	/* by the read stage's loop */
	bool			 elsewhere;	/* watched, in another stage */
	bool			 has_input;	/* arrived while elsewhere */
	TAILQ_ENTRY(client)	 link;		/* in the list of a timeout */
	union {
		TAILQ_ENTRY(client)	 waiting;	/* among a task's */
		struct mail		 mail;	/* to another stage */
	};
};

#endif
