/*
 * porter: errands in a list, under a lock that is held for no longer than to
 * change that.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "arch/clients.h"
#include "arch/porter.h"
#include "lib/bell.h"
#include "lib/lock.h"
#include "lib/mem.h"
#include "lib/tally.h"
#include "stats.h"

/* An errand on its way. */
struct trip {
	struct queued		 place;		/* first: casts rely on it */
	struct errand		*errand;
	struct porter		*porter;
	struct queue		*home;
	bool			 waiting;	/* under the porter's lock */
	TAILQ_ENTRY(trip)	 link;		/* as long as it waits */
};

struct porter {
	struct bell		 bell;
	struct lock		*lock;		/* of these: */
	TAILQ_HEAD(, trip)	 trips;
	size_t			 n, most;
	bool			 busy, ending;
};

static void
finish(struct trip *t)
{
	struct errand	*e = t->errand;

	free(t);
	clients_errand_done(e);
}

static void
come_home(struct queued *place)
{
	finish((struct trip *)place);
}

/* A piece of a response that may have begun: it is not to be cut short, and
 * there are no more of them than connections. */
static bool
goes_on(const struct job *job)
{
	return job->kind == JOB_READ || job->kind == JOB_COPY;
}

/* False: too many wait. */
static bool
add(struct porter *p, struct trip *t)
{
	bool	room;

	lock_take(p->lock);
	room = !p->ending && (p->n < p->most || goes_on(&t->errand->job));
	if (room) {
		TAILQ_INSERT_TAIL(&p->trips, t, link);
		t->waiting = true;
		p->n++;
	}
	lock_release(p->lock);
	if (room)
		bell_ring(&p->bell);
	return room;
}

/* False: it was not among those that wait. */
static bool
withdraw(struct porter *p, struct trip *t)
{
	bool	waited;

	lock_take(p->lock);
	waited = t->waiting;
	if (waited) {
		TAILQ_REMOVE(&p->trips, t, link);
		t->waiting = false;
		p->n--;
	}
	lock_release(p->lock);
	return waited;
}

/* One that is under way stays: its answer will serve the next. */
static void
deserted(struct errand *e)
{
	struct trip	*t = e->way;

	if (!withdraw(t->porter, t))
		return;
	stats_count(STATS_JOBS_DROPPED);
	e->job.error = ECANCELED;
	finish(t);
}

void
porter_send(struct porter *p, struct errand *e, struct queue *home)
{
	struct trip	*t = mem_zero(sizeof(*t));

	TAILQ_INIT(&e->waiters);
	t->place.take = come_home;
	t->errand = e;
	t->porter = p;
	t->home = home;
	e->way = t;
	/* Nobody else looks at this, and it may be done when add returns. */
	e->deserted = home != NULL ? deserted : NULL;
	if (!add(p, t)) {
		e->job.error = EAGAIN;
		finish(t);
	}
}

/* The first, which it is over from now on; NULL: there is none. */
static struct trip *
next(struct porter *p, bool *ending)
{
	struct trip	*t;

	lock_take(p->lock);
	*ending = p->ending;
	t = *ending ? NULL : TAILQ_FIRST(&p->trips);
	if (t != NULL) {
		TAILQ_REMOVE(&p->trips, t, link);
		t->waiting = false;
		p->n--;
	}
	p->busy = t != NULL;
	lock_release(p->lock);
	return t;
}

static void
perform(struct trip *t)
{
	struct job	*job = &t->errand->job;
	int64_t		 begun = clock_us();

	job_perform(job);
	stats_time(STATS_HISTOGRAM_SERVICE_RESOLVE + (int)job->kind,
	    clock_us() - begun);
	if (t->home != NULL)
		queue_put(t->home, &t->place);
	else
		finish(t);
}

static void
sleep_until_rung(const struct bell *b)
{
	struct pollfd	p = { .fd = b->fd, .events = POLLIN };

	if (poll(&p, 1, -1) == 1)
		bell_hush(b);
}

void
porter_run(void *context)
{
	struct porter	*p = context;
	struct trip	*t;
	bool		 ending = false;

	while (!ending) {
		t = next(p, &ending);
		if (t != NULL)
			perform(t);
		else if (!ending)
			sleep_until_rung(&p->bell);
	}
}

void
porter_end(struct porter *p)
{
	lock_take(p->lock);
	p->ending = true;
	lock_release(p->lock);
	bell_ring(&p->bell);
}

size_t
porter_waiting(const struct porter *p)
{
	size_t	n;

	lock_take(p->lock);
	n = p->n;
	lock_release(p->lock);
	return n;
}

bool
porter_busy(const struct porter *p)
{
	bool	busy;

	lock_take(p->lock);
	busy = p->busy;
	lock_release(p->lock);
	return busy;
}

struct porter *
porter_new(size_t most)
{
	struct porter	*p = mem_zero(sizeof(*p));

	p->lock = lock_new();
	p->most = most;
	TAILQ_INIT(&p->trips);
	bell_open(&p->bell);
	return p;
}

void
porter_free(struct porter **pp)
{
	struct porter	*p = *pp;
	struct trip	*t;

	while ((t = TAILQ_FIRST(&p->trips)) != NULL) {
		withdraw(p, t);
		t->errand->job.error = ECONNABORTED;
		finish(t);
	}
	bell_close(&p->bell);
	lock_free(&p->lock);
	mem_drop(pp);
}
