/*
 * sessions: the machine's sessions as tests of clients stand in for them; each
 * test adds what a session does when it runs.
 */
#ifndef T_UNIT_LOOP_SESSIONS_H
#define T_UNIT_LOOP_SESSIONS_H

#include <stdlib.h>
#include <unistd.h>

#include "lib/mem.h"
#include "loop/clients.h"

#define ROOM		16		/* bytes of one READ */
#define FAR		(1LL << 40)	/* ms */

struct session {
	enum stage	 stage;		/* of its next step */
	int		 asked;		/* requests not yet served */
	struct wait	 wait;
	char		 room[ROOM];
};

static struct task	 task;	/* of all waits for a disk */
static int		 come, gone;
static struct session	*newest;

struct workspace *
machine_new_workspaces(unsigned n)
{
	return mem_array(n, sizeof(struct workspace));
}

struct session *
machine_new(struct http_loop *http, const struct client_kind *kind,
    const struct sockaddr *from, size_t listener)
{
	struct session	*p = mem_zero(sizeof(*p));

	(void)http, (void)kind, (void)from, (void)listener;
	p->stage = STAGE_READ_REQUEST;
	come++;
	newest = p;
	return p;
}

static struct wait *
wait_for(struct session *p, enum wait_kind kind, enum timeout timeout,
    int64_t deadline, unsigned flags)
{
	p->wait = (struct wait){ .kind = (uint8_t)kind,
	    .timeout = (uint8_t)timeout, .flags = (uint8_t)flags,
	    .deadline = deadline, .task = &task, .room = p->room,
	    .size = ROOM, .outcome = OUTCOME_PENDING };
	return &p->wait;
}

/* How the last wait ended, once. */
static inline enum outcome
take_outcome(struct session *p)
{
	enum outcome	outcome = p->wait.outcome;

	if (outcome != OUTCOME_PENDING)
		p->wait.outcome = OUTCOME_NONE;
	return outcome;
}

void
machine_wake(struct session *p, enum outcome outcome, ssize_t n)
{
	(void)n;
	p->wait.outcome = (uint8_t)outcome;
}

void
machine_break_off(struct session *p)
{
	(void)p;
}

void
machine_free(struct session **pp)
{
	mem_drop(pp);
	gone++;
}

void
machine_move(struct session *p, struct http_loop *http)
{
	(void)p, (void)http;
}

void
http_resume(struct http_loop *http)
{
	(void)http;
}

#ifndef HAS_BATCHES		/* the test defines these itself */
bool
machine_is_idle(const struct session *p)
{
	return p->stage == STAGE_READ_REQUEST;
}

void
machine_prefetch(struct session *const *sessions, unsigned n)
{
	(void)sessions, (void)n;
}
#endif

static void
stop(void *context)
{
	evloop_stop(context);
}

#endif
