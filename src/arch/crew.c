/*
 * crew: helpers at the other ends of stream pipes.
 *
 * A helper that dies over a job costs a retry by another; the second death is
 * put down to the job.  First come, first served.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/clients.h"
#include "arch/crew.h"
#include "control.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "stats.h"

#define TRIES	2		/* helpers a job may cost */
#define YOUNG	1000		/* ms: who dies before that never worked */

struct helper {
	struct crew		*crew;
	int			 fd;
	struct watch		*watch;
	struct errand		*errand;	/* NULL: idle */
	int64_t			 born;		/* clock ms */
	int64_t			 since;		/* idle or busy, clock ms */
	TAILQ_ENTRY(helper)	 link;
};

TAILQ_HEAD(helper_list, helper);
TAILQ_HEAD(errand_list, errand);

struct crew {
	struct evloop		*loop;
	const struct clock	*clock;
	const struct conf	*conf;
	int			 control;
	struct helper_list	 idle;		/* the last used first */
	struct helper_list	 busy;
	struct errand_list	 queue;		/* waiting for a helper */
	size_t			 queued;
	size_t			 nidle, helpers, asked;
	struct watch		*timer;		/* to let idle ones go */
	bool			 ending;
};

static void	ask(struct crew *);
static void	dispatch(struct crew *);

static void
set_idle(struct helper *h)
{
	struct crew	*crew = h->crew;

	h->since = crew->clock->ms;
	TAILQ_INSERT_HEAD(&crew->idle, h, link);
	if (++crew->nidle > (size_t)crew->conf->helpers)
		evloop_at(crew->timer, TAILQ_LAST(&crew->idle, helper_list)->
		    since + crew->conf->helpers_idle);
}

static void
dismiss(struct helper *h)
{
	struct crew	*crew = h->crew;

	if (h->errand == NULL) {
		TAILQ_REMOVE(&crew->idle, h, link);
		crew->nidle--;
	} else
		TAILQ_REMOVE(&crew->busy, h, link);
	crew->helpers--;
	evloop_unwatch(&h->watch);
	close(h->fd);		/* which ends the helper */
	free(h);
}

static void
enqueue(struct crew *crew, struct errand *e, bool first)
{
	if (first)
		TAILQ_INSERT_HEAD(&crew->queue, e, link);
	else
		TAILQ_INSERT_TAIL(&crew->queue, e, link);
	crew->queued++;
}

static void
fail(struct errand *e, int error)
{
	e->job.error = error;
	clients_errand_done(e);
}

/* It died, or talks nonsense, which is the same. */
static void
lost(struct helper *h)
{
	struct crew	*crew = h->crew;
	struct errand	*e = h->errand;

	bool		 young = crew->clock->ms - h->born < YOUNG;

	dismiss(h);
	if (e == NULL) {
		/* The reserve is to be there when it is needed; but one that
		 * cannot live at all is not started over and over. */
		if (!young && !crew->ending &&
		    crew->helpers + crew->asked < (size_t)crew->conf->helpers)
			ask(crew);
		return;
	}
	if (!crew->ending) {
		stats[STATS_HELPER_DEATHS]++;
		log_warnx("a helper died over a job (%s)",
		    job_kind_name(e->job.kind));
	}
	if (++e->tries < TRIES && !crew->ending)
		enqueue(crew, e, true);
	else
		fail(e, ECONNABORTED);
}

static void
answered(void *context)
{
	struct helper	*h = context;
	struct crew	*crew = h->crew;
	struct errand	*e = h->errand;
	struct job	 nothing;
	int		 n;

	job_init(&nothing, JOB_READ);
	n = job_recv_answer(h->fd, e != NULL ? &e->job : &nothing);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1 || e == NULL) {	/* unasked only the end can come */
		lost(h);
	} else {
		TAILQ_REMOVE(&crew->busy, h, link);
		h->errand = NULL;
		set_idle(h);
		clients_errand_done(e);
	}
	dispatch(crew);
}

/* Hands a job to an idle helper; one that has died meanwhile costs no try. */
static void
give(struct helper *h, struct errand *e)
{
	struct crew	*crew = h->crew;

	if (job_send_order(h->fd, &e->job) == -1) {
		dismiss(h);
		enqueue(crew, e, true);
		return;
	}
	TAILQ_REMOVE(&crew->idle, h, link);
	crew->nidle--;
	TAILQ_INSERT_HEAD(&crew->busy, h, link);
	h->errand = e;
	h->since = crew->clock->ms;
}

static void
ask(struct crew *crew)
{
	if (control_send(crew->control, CONTROL_WANT_HELPER, -1) == 0)
		crew->asked++;
}

/* Jobs to idle helpers; for the rest more helpers, within the limit. */
static void
dispatch(struct crew *crew)
{
	struct errand	*e;

	while ((e = TAILQ_FIRST(&crew->queue)) != NULL && crew->nidle > 0) {
		TAILQ_REMOVE(&crew->queue, e, link);
		crew->queued--;
		give(TAILQ_FIRST(&crew->idle), e);
	}
	while (crew->asked < crew->queued && !crew->ending &&
	    crew->helpers + crew->asked < (size_t)crew->conf->helpers_max) {
		size_t	before = crew->asked;

		ask(crew);
		if (crew->asked == before)
			break;		/* the pipe is full: they will come */
	}
}

void
crew_start(void *context, struct errand *e)
{
	struct crew	*crew = context;

	TAILQ_INIT(&e->waiters);
	/* So many that this one would be late anyway. */
	if (crew->queued >= (size_t)crew->conf->helpers_queue) {
		fail(e, EAGAIN);
		return;
	}
	enqueue(crew, e, false);
	dispatch(crew);
}

/* Without any helper, and without hope for one, jobs fail. */
static void
no_help(struct crew *crew)
{
	struct errand	*e;

	if (crew->helpers > 0 || crew->asked > 0)
		return;
	while ((e = TAILQ_FIRST(&crew->queue)) != NULL) {
		TAILQ_REMOVE(&crew->queue, e, link);
		crew->queued--;
		fail(e, EAGAIN);
	}
}

void
crew_join(struct crew *crew, int fd)
{
	struct helper	*h;

	if (crew->asked > 0)
		crew->asked--;
	if (fd == -1 || io_nonblock(fd) == -1) {
		io_close(&fd);
		no_help(crew);
		return;
	}
	h = mem_zero(sizeof(*h));
	h->crew = crew;
	h->fd = fd;
	h->born = crew->clock->ms;
	h->watch = evloop_watch(crew->loop, fd, answered, h);
	evloop_want(h->watch, EVLOOP_READ);
	crew->helpers++;
	stats[STATS_HELPERS]++;
	set_idle(h);
	dispatch(crew);
}

/* Those beyond the reserve that have been idle for long enough. */
static void
retire(void *context)
{
	struct crew	*crew = context;
	struct helper	*h;

	while (crew->nidle > (size_t)crew->conf->helpers) {
		h = TAILQ_LAST(&crew->idle, helper_list);
		if (h->since + crew->conf->helpers_idle > crew->clock->ms) {
			evloop_at(crew->timer,
			    h->since + crew->conf->helpers_idle);
			return;
		}
		dismiss(h);
	}
}

struct crew *
crew_new(struct evloop *loop, const struct clock *clock,
    const struct conf *conf, int control)
{
	struct crew	*crew = mem_zero(sizeof(*crew));

	crew->loop = loop;
	crew->clock = clock;
	crew->conf = conf;
	crew->control = control;
	TAILQ_INIT(&crew->idle);
	TAILQ_INIT(&crew->busy);
	TAILQ_INIT(&crew->queue);
	crew->timer = evloop_timer(loop, retire, crew);
	for (int64_t i = 0; i < conf->helpers; i++)
		ask(crew);
	return crew;
}

void
crew_free(struct crew **cp)
{
	struct crew	*crew = *cp;
	struct helper	*h;
	struct errand	*e;

	crew->ending = true;
	while ((h = TAILQ_FIRST(&crew->busy)) != NULL)
		lost(h);
	while ((h = TAILQ_FIRST(&crew->idle)) != NULL)
		dismiss(h);
	while ((e = TAILQ_FIRST(&crew->queue)) != NULL) {
		TAILQ_REMOVE(&crew->queue, e, link);
		crew->queued--;
		fail(e, ECONNABORTED);
	}
	evloop_unwatch(&crew->timer);
	mem_drop(cp);
}
