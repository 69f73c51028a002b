/*
 * peers: what tests of clients have for a machine: its clients, but for what
 * they do when they run.
 */
#ifndef T_UNIT_LOOP_PEERS_H
#define T_UNIT_LOOP_PEERS_H

#include <unistd.h>

#include "lib/mem.h"
#include "loop/clients.h"

#define ROOM		16		/* bytes a recv */
#define FAR		(1LL << 40)	/* ms */

struct session {
	int		 fd;
	enum stage	 stage;		/* of its next step, if there are any */
	bool		 readable;
	bool		 holds;		/* its client has not taken all */
	int		 asked;		/* not yet served */
	struct wait	 wait;
};

static struct task	 task;	/* that whoever waits for one waits for */
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

#ifndef RUNS_TOGETHER		/* it has these itself */
bool
machine_can_batch(const struct session *p)
{
	(void)p;
	return false;
}

void
machine_run_batch(struct session *const *peers, unsigned n)
{
	(void)peers;
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
