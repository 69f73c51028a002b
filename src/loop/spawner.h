/*
 * spawner: threads that start for one connection or one request each, and end
 * with it (JAWS: thread per session, thread per request).
 *
 * One thread accepts.  Its loop, home, has the connections that have no thread:
 * those that linger, those that wait until there may be another thread, and, if
 * each request has one, those that wait for their next request.  What a thread
 * needs is made before main is confined; only the thread itself comes and goes.
 */
#ifndef LOOP_SPAWNER_H
#define LOOP_SPAWNER_H

#include <stdbool.h>

#include "backend.h"
#include "loop/clients.h"
#include "loop/mailbox.h"
#include "loop/threads.h"

struct accept_policy;
struct spawned;				/* the needs of a thread */
struct spawner;

struct spawner_setup {
	struct clients	*home;
	struct mailbox	*mailbox;	/* of home's thread */
	bool		 by_request;
	bool		 blocks;	/* threads wait by blocking.h */
};

/* For spawn session: accepts as accept_plain does, but logs nothing when there
 * is no room. */
extern const struct accept_policy	spawner_accept;

struct spawner	*spawner_new(const struct spawner_setup *);
/* After spawner_end(), and when the records of all threads are gone. */
void		 spawner_free(struct spawner **);
/* Adds a thread that threads_spawn() may start, with its clients and programs;
 * to be called before home's loop runs. */
struct spawned	*spawner_add(struct spawner *, struct loop_thread *,
		    struct clients *, struct backends *);
/* In the thread: serves the connection that it was started for; its loop ends
 * with that connection, or when that goes back to home. */
void		 spawner_begin(struct spawned *);
/* In the thread, when its loop has ended. */
void		 spawner_ended(struct spawned *);
/* In any thread: whether this one is to end its idle connection, so that
 * another has room; then no other thread does, until a connection has come. */
bool		 spawner_claim(struct spawner *);
/* In home's thread, before acceptor_drain(): home serves the connections that
 * have no thread, and starts no thread for them. */
void		 spawner_drain(struct spawner *);
/* All threads have ended, home's too: closes the connections that have none and
 * are not waiting in home.  To be called before home's clients are freed. */
void		 spawner_end(struct spawner *);

#endif
