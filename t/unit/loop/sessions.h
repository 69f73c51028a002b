/*
 * sessions: the machine's sessions as tests of clients stand in for them; each
 * test adds what a session does when it runs.
 */
#ifndef T_UNIT_LOOP_SESSIONS_H
#define T_UNIT_LOOP_SESSIONS_H

#include <unistd.h>

#include "lib/mem.h"
#include "loop/clients.h"

#define ROOM		16		/* bytes of one recv */
#define FAR		(1LL << 40)	/* ms */

struct session {
	int		 fd;
	enum stage	 stage;		/* of its next step */
	bool		 readable;
	bool		 holds;		/* output is not all sent */
	int		 asked;		/* requests not yet served */
	struct wait	 wait;
};

static struct task	 task;	/* of all waits for a disk */
static int		 come, gone;
static struct session	*newest;

struct session *
machine_new(struct http_loop *http, int fd, const struct transport *transport,
    void *context, const struct sockaddr *from, size_t listener)
{
	struct session	*p = mem_zero(sizeof(*p));

	(void)http, (void)transport, (void)context, (void)from, (void)listener;
	p->fd = fd;
	p->stage = STAGE_READ_REQUEST;
	p->readable = true;
	come++;
	newest = p;
	return p;
}

static const struct wait *
wait_for(struct session *p, enum wait_kind kind, enum timeout timeout,
    int64_t deadline)
{
	p->wait = (struct wait){ .kind = kind, .timeout = timeout,
	    .fd = p->fd, .deadline = deadline, .task = &task };
	return &p->wait;
}

void
machine_free(struct session **pp)
{
	close((*pp)->fd);
	mem_drop(pp);
	gone++;
}

void
machine_move(struct session *p, struct http_loop *http)
{
	(void)p, (void)http;
}

bool
machine_is_idle(const struct session *p)
{
	return p->stage == STAGE_READ_REQUEST;
}

bool
machine_is_parked(const struct session *p)
{
	return p->stage == STAGE_READ_REQUEST && !p->readable;
}

bool
machine_is_flushed(const struct session *p)
{
	return !p->holds;
}

bool
machine_has_input(const struct session *p)
{
	return p->readable;
}

void
http_resume(struct http_loop *http)
{
	(void)http;
}

#ifndef RUNS_TOGETHER		/* the test defines these itself */
bool
machine_can_batch(const struct session *p)
{
	(void)p;
	return false;
}

void
machine_run_batch(struct session *const *sessions, unsigned n)
{
	(void)sessions;
	(void)n;
}

void
machine_end_batch(struct http_loop *http)
{
	(void)http;
}
#endif

static void
stop(void *context)
{
	evloop_stop(context);
}

#endif
