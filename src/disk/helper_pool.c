/*
 * helper_pool: helpers at the other ends of stream pipes.
 *
 * A helper that dies over a job costs a retry by another.  One that does not
 * come back is given up: its job fails, the monitor kills it, and its file
 * system holds it until it is dead, which may be never; beside those there may
 * be as many as ever.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/conf.h"
#include "disk/fs_queues.h"
#include "disk/helper_pool.h"
#include "helpers/wire.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "loop/clients.h"
#include "shared/channel.h"
#include "shared/helper_slots.h"
#include "shared/main_env.h"
#include "stats/stats.h"

/*
 * Helpers a job may cost, and more as long as a request waits for the disk.
 * Somebody may kill them as fast as they come, on a machine so busy that most
 * die before they have begun, and no client is to notice; but a job that kills
 * them itself has an end.
 */
#define TRIES	100
#define YOUNG	1000		/* ms: who dies before that never worked */
#define ROOM	1000		/* ms until there may be room to give up more */
#define REFILL	5000		/* ms: one that cannot live at all is not
				 * started over and over */

TAILQ_HEAD(helper_list, helper);

struct helper {
	struct crew		*crew;
	struct helper_list	*list;		/* the one that it is in */
	int			 fd;
	struct watch		*watch;
	struct task		*task;	/* only while busy */
	struct lane		*lane;		/* that holds it, or NULL */
	int64_t			 born;		/* clock ms */
	int64_t			 since;		/* idle or busy, clock ms */
	int64_t			 given;		/* the job, us */
	bool			 killed;	/* the monitor knows */
	int			 line;		/* in the ledger, or -1 */
	TAILQ_ENTRY(helper)	 link;
};

struct crew {
	struct evloop		*loop;
	const struct clock	*clock;
	const struct conf	*conf;
	int			 control;
	struct ledger		*ledger;
	struct helper_list	 idle;		/* the last used first */
	struct helper_list	 busy;		/* for longest first */
	struct helper_list	 stuck;		/* given up, not dead yet */
	struct lanes		*lanes;
	size_t			 nidle, nstuck;
	size_t			 helpers;	/* idle and busy */
	size_t			 asked;		/* of the monitor ... */
	int64_t			 heard;		/* ... or it answered, ms */
	size_t			 longest;	/* that the queue has been */
	struct watch		*retirement;	/* to let idle ones go */
	struct watch		*deadline;	/* of the first busy one */
	struct watch		*anew;		/* for what it has not heard
						 * or answered */
	int64_t			 due;		/* ... when, clock ms; 0: not */
	int64_t			 refill;	/* the reserve; the same */
	bool			 ending;
};

static void	dispatch(struct crew *);

/* Of jobs of a kind. */
static struct histogram *
service(int kind)
{
	return &stats_histograms[STATS_HISTOGRAM_SERVICE_RESOLVE + kind];
}

static void
put(struct helper *h, struct helper_list *list)
{
	if (list == &h->crew->idle)
		TAILQ_INSERT_HEAD(list, h, link);
	else
		TAILQ_INSERT_TAIL(list, h, link);
	h->list = list;
	h->since = h->crew->clock->ms;
	h->crew->nidle += list == &h->crew->idle;
	h->crew->nstuck += list == &h->crew->stuck;
	h->crew->helpers += list != &h->crew->stuck;
}

static void
take(struct helper *h)
{
	TAILQ_REMOVE(h->list, h, link);
	h->crew->nidle -= h->list == &h->crew->idle;
	h->crew->nstuck -= h->list == &h->crew->stuck;
	h->crew->helpers -= h->list != &h->crew->stuck;
}

/* From here on the file system may have another. */
static void
let_go(struct helper *h)
{
	if (h->lane != NULL)
		lanes_release(h->lane);
	h->lane = NULL;
	ledger_write(h->crew->ledger, h->line, 0);
}

static void
set_idle(struct helper *h)
{
	struct crew	*crew = h->crew;

	put(h, &crew->idle);
	if (crew->nidle > (size_t)crew->conf->helpers)
		evloop_at(crew->retirement, TAILQ_LAST(&crew->idle,
		    helper_list)->since + crew->conf->helpers_idle);
}

static void
dismiss(struct helper *h)
{
	take(h);
	let_go(h);
	ledger_close(h->crew->ledger, h->line);
	evloop_unwatch(&h->watch);
	close(h->fd);		/* which ends the helper */
	free(h);
}

static void
fail(struct task *e, int error)
{
	e->job.error = error;
	clients_finish_task(e);
}

static void
drop(struct task *e)
{
	stats_count(STATS_JOBS_DROPPED);
	fail(e, ECANCELED);
}

/* One that somebody is over stays: its answer will serve the next. */
static void
deserted(struct task *e)
{
	e->abandoned = true;
	if (!e->queued)
		return;
	lanes_remove(e);
	drop(e);
}

static void
hurry(struct task *e)
{
	if (e->queued)
		lanes_hurry(e);
	e->background = false;
}

static void
look_later(struct crew *crew, int64_t ms)
{
	int64_t	at = crew->clock->ms + ms;

	if (crew->due != 0 && crew->due <= at)
		return;
	crew->due = at;
	evloop_at(crew->anew, at);
}

/* False: its pipe is full. */
static bool
ask(struct crew *crew)
{
	if (control_send(crew->control, CONTROL_WANT_HELPER, -1) == -1) {
		look_later(crew, CONTROL_RETRY);
		return false;
	}
	crew->asked++;
	crew->heard = crew->clock->ms;
	look_later(crew, CONTROL_ANSWER);
	return true;
}

static bool
reserve_is_short(const struct crew *crew)
{
	return crew->helpers + crew->asked < (size_t)crew->conf->helpers &&
	    !crew->ending;
}

/* It is to be there when it is needed, but there is no hurry. */
static void
refill_later(struct crew *crew, int64_t ms)
{
	if (!reserve_is_short(crew) || crew->refill != 0)
		return;
	crew->refill = crew->clock->ms + ms;
	look_later(crew, ms);
}

/* Whoever has the last descriptor of a file closes it even by dying. */
static bool
is_closed(const struct job *job)
{
	return job->kind == JOB_CLOSE && job->fd == -1;
}

static bool
is_hopeless(struct crew *crew, struct task *e)
{
	return ++e->attempts >= TRIES &&
	    crew->clock->ms - e->submitted_at >= crew->conf->limits.disk;
}

/* Its helper has died. */
static void
again(struct crew *crew, struct task *e)
{
	if (!crew->ending) {
		stats_count(STATS_HELPER_DEATHS);
		log_warnx("a helper died over a job (%s): another one is to "
		    "do it", job_kind_name(e->job.kind));
	}
	if (crew->ending || is_closed(&e->job) || is_hopeless(crew, e))
		fail(e, ECONNABORTED);
	else if (e->abandoned && TAILQ_EMPTY(&e->waiters))
		drop(e);
	else
		lanes_again(e);
}

/* It died, or talks nonsense, which is the same. */
static void
lost(struct helper *h)
{
	struct crew	*crew = h->crew;
	struct task	*e = h->task;
	bool		 young = crew->clock->ms - h->born < YOUNG;
	bool		 was_idle = h->list == &crew->idle;

	dismiss(h);
	if (e != NULL)
		again(crew, e);
	else if (was_idle && !young && reserve_is_short(crew))
		ask(crew);
	refill_later(crew, REFILL);
}

static void
done(struct helper *h)
{
	struct crew	*crew = h->crew;
	struct task	*e = h->task;

	histogram_add(service(e->job.kind), clock_us() - h->given);
	take(h);
	h->task = NULL;
	let_go(h);
	set_idle(h);
	if (e->job.stay && e->job.error == EREMOTE) {
		if (e->abandoned && TAILQ_EMPTY(&e->waiters))
			drop(e);
		else
			lanes_stray(crew->lanes, e);
		return;
	}
	lanes_learn(crew->lanes, e);
	clients_finish_task(e);
}

static void
answered(void *context)
{
	struct helper	*h = context;
	struct crew	*crew = h->crew;
	struct job	 nothing;
	int		 n;

	job_init(&nothing, JOB_READ);
	n = record_recv_answer(h->fd, h->task != NULL ? &h->task->job :
	    &nothing);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1 || h->task == NULL)	/* unasked only the end comes */
		lost(h);
	else
		done(h);
	dispatch(crew);
}

static void
tell_stuck(const struct job *job)
{
	const char	*root = job->root, *path = job->path;

	log_warnx("a helper does not come back from a job (%s%s%s%s%s%s%s): "
	    "giving it up; see whether that file system answers",
	    job_kind_name(job->kind),
	    job->user != NULL ? " " : "", job->user != NULL ? job->user : "",
	    root != NULL ? " " : "", root != NULL ? root : "",
	    path != NULL ? "/" : "", path != NULL ? path : "");
}

/* Its end of the pipe stays open: that it closes says that it has died. */
static void
have_killed(struct helper *h)
{
	h->killed = control_send(h->crew->control, CONTROL_END_HELPER,
	    h->fd) == 0;
	if (!h->killed)
		look_later(h->crew, CONTROL_RETRY);
}

static void
give_up(struct helper *h)
{
	struct task	*e = h->task;

	tell_stuck(&e->job);
	stats_count(STATS_HELPERS_STUCK);
	take(h);
	h->task = NULL;
	put(h, &h->crew->stuck);
	have_killed(h);
	refill_later(h->crew, REFILL);
	fail(e, ETIMEDOUT);
}

static void
look_for_stuck(void *context)
{
	struct crew	*crew = context;
	struct helper	*h;
	int64_t		 now = crew->clock->ms;
	int64_t		 within = crew->conf->helpers_within;

	while ((h = TAILQ_FIRST(&crew->busy)) != NULL &&
	    h->since + within <= now &&
	    crew->nstuck < (size_t)crew->conf->helpers_max)
		give_up(h);
	if (h != NULL)
		evloop_at(crew->deadline, h->since + within <= now ?
		    now + ROOM : h->since + within);
	dispatch(crew);
}

/* Hands a job to an idle helper; one that has died meanwhile costs no try. */
static void
give(struct helper *h, struct task *e)
{
	struct crew	*crew = h->crew;
	bool		 first = TAILQ_EMPTY(&crew->busy);

	h->lane = e->lane;
	ledger_write(crew->ledger, h->line, lanes_name(h->lane));
	h->given = clock_us();		/* it may be done before we go on */
	if (record_send_order(h->fd, &e->job) == -1) {
		dismiss(h);
		if (is_closed(&e->job))
			fail(e, ECONNABORTED);
		else
			lanes_again(e);
		return;
	}
	take(h);
	h->task = e;
	put(h, &crew->busy);
	if (first)
		evloop_at(crew->deadline, h->since +
		    crew->conf->helpers_within);
}

/* Jobs to idle helpers; for the rest more helpers, within the limit. */
static void
dispatch(struct crew *crew)
{
	struct task	*e;

	while (crew->nidle > 0 && (e = lanes_next(crew->lanes)) != NULL)
		give(TAILQ_FIRST(&crew->idle), e);
	if (lanes_waiting(crew->lanes) > crew->longest)
		crew->longest = lanes_waiting(crew->lanes);
	while (crew->asked < lanes_ready(crew->lanes) && !crew->ending &&
	    crew->helpers + crew->asked < (size_t)crew->conf->helpers_max &&
	    ask(crew))
		continue;
}

static void
fill_reserve(struct crew *crew)
{
	crew->refill = 0;
	while (reserve_is_short(crew) && ask(crew))
		continue;
	refill_later(crew, REFILL);
}

/* How many we have asked for is only what we remember of it: an answer may get
 * lost, and then it must not count for ever. */
static void
ask_anew(void *context)
{
	struct crew	*crew = context;
	struct helper	*h;
	int64_t		 now = crew->clock->ms;
	int64_t		 left = crew->heard + CONTROL_ANSWER - now;

	crew->due = 0;
	TAILQ_FOREACH(h, &crew->stuck, link)
		if (!h->killed)
			have_killed(h);
	if (crew->asked > 0 && left > 0)
		look_later(crew, left);
	else if (crew->asked > 0) {
		crew->asked = 0;
		fill_reserve(crew);
	}
	if (crew->refill != 0 && crew->refill <= now)
		fill_reserve(crew);
	else if (crew->refill != 0)
		look_later(crew, crew->refill - now);
	dispatch(crew);
}

void
crew_start(void *context, struct task *e)
{
	struct crew	*crew = context;

	if (!e->deferred)
		TAILQ_INIT(&e->waiters);
	e->submitted_at = crew->clock->ms;
	/* So many that this one would be late anyway. */
	if (!lanes_add(crew->lanes, e)) {
		fail(e, e->job.error);
		return;
	}
	e->abandon = deserted;
	e->promote = hurry;
	dispatch(crew);
}

static void
fail_all(struct crew *crew, int error)
{
	struct task	*e;

	while ((e = lanes_any(crew->lanes)) != NULL)
		fail(e, error);
}

/* Its pipe is how the monitor knows it, too. */
static int
line_of(struct crew *crew, int fd)
{
	uint64_t	pipe = io_inode(fd);

	return pipe == 0 ? -1 : ledger_open(crew->ledger, pipe);
}

void
crew_join(struct crew *crew, int fd)
{
	struct helper	*h;

	if (crew->asked > 0)
		crew->asked--;
	crew->heard = crew->clock->ms;
	/* Asked for twice, since the first answer came so late. */
	if (crew->helpers >= (size_t)crew->conf->helpers_max) {
		io_close(&fd);
		return;
	}
	if (fd == -1 || io_nonblock(fd) == -1) {
		io_close(&fd);
		look_later(crew, CONTROL_RETRY);
		refill_later(crew, REFILL);
		/* Without any, and without hope for one, jobs fail. */
		if (crew->helpers == 0 && crew->asked == 0)
			fail_all(crew, EAGAIN);
		return;
	}
	h = mem_zero(sizeof(*h));
	h->crew = crew;
	h->fd = fd;
	h->born = crew->clock->ms;
	h->line = line_of(crew, fd);
	h->watch = evloop_watch(crew->loop, fd, answered, h);
	evloop_want(h->watch, EVLOOP_READ);
	stats_count(STATS_HELPERS);
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
			evloop_at(crew->retirement,
			    h->since + crew->conf->helpers_idle);
			return;
		}
		dismiss(h);
	}
}

static void
leftover_died(void *context)
{
	struct helper	*h = context;
	struct crew	*crew = h->crew;

	dismiss(h);
	dispatch(crew);
}

/* Given up by whoever was main before, and not dead yet: to the lane they are
 * as those that we give up ourselves. */
static void
adopt(struct crew *crew, const struct leftover *left)
{
	struct helper	*h = mem_zero(sizeof(*h));

	h->crew = crew;
	h->fd = left->fd;
	h->killed = true;
	h->line = -1;
	h->lane = left->lane != 0 ? lanes_hold(crew->lanes, left->lane) : NULL;
	h->watch = evloop_watch(crew->loop, h->fd, leftover_died, h);
	evloop_want(h->watch, EVLOOP_READ);
	put(h, &crew->stuck);
}

struct crew *
crew_new(struct evloop *loop, const struct clock *clock,
    const struct world *world)
{
	struct crew		*crew = mem_zero(sizeof(*crew));
	const struct conf	*conf = world->conf;

	crew->loop = loop;
	crew->clock = clock;
	crew->conf = conf;
	crew->control = world->control;
	crew->ledger = world->ledger;
	TAILQ_INIT(&crew->idle);
	TAILQ_INIT(&crew->busy);
	TAILQ_INIT(&crew->stuck);
	crew->lanes = lanes_new(world->mounts, (size_t)conf_share(conf),
	    (size_t)conf->helpers_queue);
	crew->retirement = evloop_timer(loop, retire, crew);
	crew->deadline = evloop_timer(loop, look_for_stuck, crew);
	crew->anew = evloop_timer(loop, ask_anew, crew);
	for (size_t i = 0; i < world->nleftovers; i++)
		adopt(crew, &world->leftovers[i]);
	if (reserve_is_short(crew))
		ask(crew);
	refill_later(crew, CONTROL_SETTLE);
	return crew;
}

void
crew_free(struct crew **cp)
{
	struct crew	*crew = *cp;
	struct helper	*h;

	crew->ending = true;
	while ((h = TAILQ_FIRST(&crew->busy)) != NULL)
		lost(h);
	while ((h = TAILQ_FIRST(&crew->idle)) != NULL)
		dismiss(h);
	while ((h = TAILQ_FIRST(&crew->stuck)) != NULL)
		dismiss(h);
	fail_all(crew, ECONNABORTED);
	lanes_free(&crew->lanes);
	evloop_unwatch(&crew->retirement);
	evloop_unwatch(&crew->deadline);
	evloop_unwatch(&crew->anew);
	mem_drop(cp);
}

void
crew_report(void *context, void (*line)(const char *))
{
	const struct crew	*crew = context;
	char			 text[HISTOGRAM_TEXT + 64];
	size_t			 n;

	snprintf(text, sizeof(text), "helpers: %zu idle, %zu over jobs, %zu "
	    "given up but not dead", crew->nidle, crew->helpers - crew->nidle,
	    crew->nstuck);
	line(text);
	snprintf(text, sizeof(text), "helper queue: %zu jobs, %zu at most",
	    lanes_waiting(crew->lanes), crew->longest);
	line(text);
	snprintf(text, sizeof(text), "helper lanes: %zu",
	    lanes_count(crew->lanes));
	line(text);
	for (int i = 0; i < JOB_KIND_COUNT; i++) {
		if (service(i)->n == 0)
			continue;
		n = (size_t)snprintf(text, sizeof(text), "service time of %s: ",
		    job_kind_name(i));
		histogram_text(service(i), text + n, sizeof(text) - n);
		line(text);
	}
}

void
crew_measure(const void *context)
{
	const struct crew	*crew = context;
	int64_t			*g = stats_gauges;

	g[STATS_GAUGE_IDLE_HELPERS] = (int64_t)crew->nidle;
	g[STATS_GAUGE_BUSY_HELPERS] = (int64_t)(crew->helpers - crew->nidle);
	g[STATS_GAUGE_STUCK_HELPERS] = (int64_t)crew->nstuck;
	g[STATS_GAUGE_HELPERS_LIMIT] = crew->conf->helpers_max;
	g[STATS_GAUGE_QUEUED] = (int64_t)lanes_waiting(crew->lanes);
	g[STATS_GAUGE_QUEUED_MOST] = (int64_t)crew->longest;
	g[STATS_GAUGE_LANES] = (int64_t)lanes_count(crew->lanes);
	lanes_measure(crew->lanes);
}
