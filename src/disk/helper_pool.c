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
#define ATTEMPTS_MAX	100
#define MIN_LIFETIME	1000		/* ms: who dies before that never worked */
#define ABANDON_RETRY	1000		/* ms until there may be room to give up more */
#define REFILL_DELAY	5000		/* ms: one that cannot live at all is not
				 * started over and over */

TAILQ_HEAD(helper_list, helper);

struct helper {
	struct helper_pool		*pool;
	struct helper_list	*list;		/* the one that it is in */
	int			 fd;
	struct watch		*watch;
	struct task		*task;	/* only while busy */
	struct fs_queue		*fs_queue;		/* that holds it, or NULL */
	int64_t			 started_at;		/* clock ms */
	int64_t			 state_since;		/* idle or busy, clock ms */
	int64_t			 sent_at;		/* the job, us */
	bool			 kill_requested;	/* the monitor knows */
	int			 slot;		/* in the helper slots, or -1 */
	TAILQ_ENTRY(helper)	 link;
};

struct helper_pool {
	struct evloop		*loop;
	const struct clock	*clock;
	const struct conf	*conf;
	int			 channel;
	struct helper_slots		*slots;
	struct helper_list	 idle;		/* the last used first */
	struct helper_list	 busy;		/* for longest first */
	struct helper_list	 stuck;		/* given up, not dead yet */
	struct fs_queues		*queues;
	size_t			 nidle, nstuck;
	size_t			 helpers;	/* idle and busy */
	size_t			 requested;		/* of the monitor ... */
	int64_t			 contact_at;		/* ... or it answered, ms */
	size_t			 queued_max;	/* that the queue has been */
	struct watch		*idle_timer;	/* to let idle ones go */
	struct watch		*stuck_timer;	/* of the first busy one */
	struct watch		*check_timer;		/* for what it has not heard
						 * or answered */
	int64_t			 check_at;		/* ... when, clock ms; 0: not */
	int64_t			 refill_at;	/* the reserve; the same */
	bool			 closing;
};

static void	dispatch_tasks(struct helper_pool *);

/* Of jobs of a kind. */
static struct histogram *
service_times(int kind)
{
	return &stats_histograms[STATS_HISTOGRAM_JOB_DURATION_RESOLVE + kind];
}

static void
insert_helper(struct helper *h, struct helper_list *list)
{
	if (list == &h->pool->idle)
		TAILQ_INSERT_HEAD(list, h, link);
	else
		TAILQ_INSERT_TAIL(list, h, link);
	h->list = list;
	h->state_since = h->pool->clock->ms;
	h->pool->nidle += list == &h->pool->idle;
	h->pool->nstuck += list == &h->pool->stuck;
	h->pool->helpers += list != &h->pool->stuck;
}

static void
remove_helper(struct helper *h)
{
	TAILQ_REMOVE(h->list, h, link);
	h->pool->nidle -= h->list == &h->pool->idle;
	h->pool->nstuck -= h->list == &h->pool->stuck;
	h->pool->helpers -= h->list != &h->pool->stuck;
}

/* From here on the file system may have another. */
static void
release_queue(struct helper *h)
{
	if (h->fs_queue != NULL)
		fs_queues_release(h->fs_queue);
	h->fs_queue = NULL;
	helper_slots_set(h->pool->slots, h->slot, 0);
}

static void
set_idle(struct helper *h)
{
	struct helper_pool	*pool = h->pool;

	insert_helper(h, &pool->idle);
	if (pool->nidle > (size_t)pool->conf->helpers)
		evloop_arm(pool->idle_timer, TAILQ_LAST(&pool->idle,
		    helper_list)->state_since + pool->conf->helpers_idle);
}

static void
close_helper(struct helper *h)
{
	remove_helper(h);
	release_queue(h);
	helper_slots_release(h->pool->slots, h->slot);
	evloop_unwatch(&h->watch);
	close(h->fd);		/* which ends the helper */
	free(h);
}

static void
fail_task(struct task *e, int error)
{
	e->job.error = error;
	clients_finish_task(e);
}

static void
cancel_task(struct task *e)
{
	stats_count(STATS_JOBS_DROPPED);
	fail_task(e, ECANCELED);
}

/* One that somebody is over stays: its answer will serve the next. */
static void
abandon_task(struct task *e)
{
	e->abandoned = true;
	if (!e->queued)
		return;
	fs_queues_remove(e);
	cancel_task(e);
}

static void
promote_task(struct task *e)
{
	if (e->queued)
		fs_queues_promote(e);
	e->background = false;
}

static void
schedule_check(struct helper_pool *pool, int64_t ms)
{
	int64_t	at = pool->clock->ms + ms;

	if (pool->check_at != 0 && pool->check_at <= at)
		return;
	pool->check_at = at;
	evloop_arm(pool->check_timer, at);
}

/* False: its pipe is full. */
static bool
request_helper(struct helper_pool *pool)
{
	if (channel_send(pool->channel, CHANNEL_WANT_HELPER, -1) == -1) {
		schedule_check(pool, CHANNEL_RETRY);
		return false;
	}
	pool->requested++;
	pool->contact_at = pool->clock->ms;
	schedule_check(pool, CHANNEL_TIMEOUT);
	return true;
}

static bool
reserve_is_short(const struct helper_pool *pool)
{
	return pool->helpers + pool->requested < (size_t)pool->conf->helpers &&
	    !pool->closing;
}

/* It is to be there when it is needed, but there is no hurry. */
static void
refill_later(struct helper_pool *pool, int64_t ms)
{
	if (!reserve_is_short(pool) || pool->refill_at != 0)
		return;
	pool->refill_at = pool->clock->ms + ms;
	schedule_check(pool, ms);
}

/* Whoever has the last descriptor of a file closes it even by dying. */
static bool
has_closed_file(const struct job *job)
{
	return job->kind == JOB_CLOSE && job->fd == -1;
}

static bool
is_hopeless(struct helper_pool *pool, struct task *e)
{
	return ++e->attempts >= ATTEMPTS_MAX &&
	    pool->clock->ms - e->submitted_at >= pool->conf->limits.disk;
}

/* Its helper has died. */
static void
retry_task(struct helper_pool *pool, struct task *e)
{
	if (!pool->closing) {
		stats_count(STATS_HELPER_DEATHS);
		log_warnx("a helper died over a job (%s): another one is to "
		    "do it", job_kind_name(e->job.kind));
	}
	if (pool->closing || has_closed_file(&e->job) || is_hopeless(pool, e))
		fail_task(e, ECONNABORTED);
	else if (e->abandoned && TAILQ_EMPTY(&e->waiters))
		cancel_task(e);
	else
		fs_queues_requeue(e);
}

/* It died, or talks nonsense, which is the same. */
static void
bury_helper(struct helper *h)
{
	struct helper_pool	*pool = h->pool;
	struct task	*e = h->task;
	bool		 young = pool->clock->ms - h->started_at < MIN_LIFETIME;
	bool		 was_idle = h->list == &pool->idle;

	close_helper(h);
	if (e != NULL)
		retry_task(pool, e);
	else if (was_idle && !young && reserve_is_short(pool))
		request_helper(pool);
	refill_later(pool, REFILL_DELAY);
}

static void
finish_job(struct helper *h)
{
	struct helper_pool	*pool = h->pool;
	struct task	*e = h->task;

	histogram_add(service_times(e->job.kind), clock_us() - h->sent_at);
	remove_helper(h);
	h->task = NULL;
	release_queue(h);
	set_idle(h);
	if (e->job.same_mount && e->job.error == EREMOTE) {
		if (e->abandoned && TAILQ_EMPTY(&e->waiters))
			cancel_task(e);
		else
			fs_queues_reclassify(pool->queues, e);
		return;
	}
	fs_queues_add_alias(pool->queues, e);
	clients_finish_task(e);
}

static void
on_reply(void *context)
{
	struct helper	*h = context;
	struct helper_pool	*pool = h->pool;
	struct job	 nothing;
	int		 n;

	job_init(&nothing, JOB_READ);
	n = wire_recv_reply(h->fd, h->task != NULL ? &h->task->job :
	    &nothing);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1 || h->task == NULL)	/* unasked only the end comes */
		bury_helper(h);
	else
		finish_job(h);
	dispatch_tasks(pool);
}

static void
log_stuck(const struct job *job)
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
request_kill(struct helper *h)
{
	h->kill_requested = channel_send(h->pool->channel, CHANNEL_KILL_HELPER,
	    h->fd) == 0;
	if (!h->kill_requested)
		schedule_check(h->pool, CHANNEL_RETRY);
}

static void
abandon_helper(struct helper *h)
{
	struct task	*e = h->task;

	log_stuck(&e->job);
	stats_count(STATS_HELPERS_ABANDONED);
	remove_helper(h);
	h->task = NULL;
	insert_helper(h, &h->pool->stuck);
	request_kill(h);
	refill_later(h->pool, REFILL_DELAY);
	fail_task(e, ETIMEDOUT);
}

static void
check_stuck(void *context)
{
	struct helper_pool	*pool = context;
	struct helper	*h;
	int64_t		 now = pool->clock->ms;
	int64_t		 within = pool->conf->helpers_within;

	while ((h = TAILQ_FIRST(&pool->busy)) != NULL &&
	    h->state_since + within <= now &&
	    pool->nstuck < (size_t)pool->conf->helpers_max)
		abandon_helper(h);
	if (h != NULL)
		evloop_arm(pool->stuck_timer, h->state_since + within <= now ?
		    now + ABANDON_RETRY : h->state_since + within);
	dispatch_tasks(pool);
}

/* Hands a job to an idle helper; one that has died meanwhile costs no try. */
static void
send_job(struct helper *h, struct task *e)
{
	struct helper_pool	*pool = h->pool;
	bool		 first = TAILQ_EMPTY(&pool->busy);

	h->fs_queue = e->fs_queue;
	helper_slots_set(pool->slots, h->slot, fs_queues_id(h->fs_queue));
	h->sent_at = clock_us();		/* it may be done before we go on */
	if (wire_send_request(h->fd, &e->job) == -1) {
		close_helper(h);
		if (has_closed_file(&e->job))
			fail_task(e, ECONNABORTED);
		else
			fs_queues_requeue(e);
		return;
	}
	remove_helper(h);
	h->task = e;
	insert_helper(h, &pool->busy);
	if (first)
		evloop_arm(pool->stuck_timer, h->state_since +
		    pool->conf->helpers_within);
}

/* Jobs to idle helpers; for the rest more helpers, within the limit. */
static void
dispatch_tasks(struct helper_pool *pool)
{
	struct task	*e;

	while (pool->nidle > 0 && (e = fs_queues_pop(pool->queues)) != NULL)
		send_job(TAILQ_FIRST(&pool->idle), e);
	if (fs_queues_waiting(pool->queues) > pool->queued_max)
		pool->queued_max = fs_queues_waiting(pool->queues);
	while (
	    pool->requested < fs_queues_ready(pool->queues) && !pool->closing &&
	    pool->helpers + pool->requested < (size_t)pool->conf->helpers_max &&
	    request_helper(pool))
		continue;
}

static void
fill_reserve(struct helper_pool *pool)
{
	pool->refill_at = 0;
	while (reserve_is_short(pool) && request_helper(pool))
		continue;
	refill_later(pool, REFILL_DELAY);
}

/* How many we have asked for is only what we remember of it: an answer may get
 * lost, and then it must not count for ever. */
static void
check_requests(void *context)
{
	struct helper_pool	*pool = context;
	struct helper	*h;
	int64_t		 now = pool->clock->ms;
	int64_t		 left = pool->contact_at + CHANNEL_TIMEOUT - now;

	pool->check_at = 0;
	TAILQ_FOREACH(h, &pool->stuck, link)
		if (!h->kill_requested)
			request_kill(h);
	if (pool->requested > 0 && left > 0)
		schedule_check(pool, left);
	else if (pool->requested > 0) {
		pool->requested = 0;
		fill_reserve(pool);
	}
	if (pool->refill_at != 0 && pool->refill_at <= now)
		fill_reserve(pool);
	else if (pool->refill_at != 0)
		schedule_check(pool, pool->refill_at - now);
	dispatch_tasks(pool);
}

void
helper_pool_submit(void *context, struct task *e)
{
	struct helper_pool	*pool = context;

	if (!e->deferred)
		TAILQ_INIT(&e->waiters);
	e->submitted_at = pool->clock->ms;
	/* So many that this one would be late anyway. */
	if (!fs_queues_add(pool->queues, e)) {
		fail_task(e, e->job.error);
		return;
	}
	e->abandon = abandon_task;
	e->promote = promote_task;
	dispatch_tasks(pool);
}

static void
fail_all_tasks(struct helper_pool *pool, int error)
{
	struct task	*e;

	while ((e = fs_queues_pop_any(pool->queues)) != NULL)
		fail_task(e, error);
}

/* Its pipe is how the monitor knows it, too. */
static int
open_slot(struct helper_pool *pool, int fd)
{
	uint64_t	pipe = io_inode(fd);

	return pipe == 0 ? -1 : helper_slots_take(pool->slots, pipe);
}

void
helper_pool_add(struct helper_pool *pool, int fd)
{
	struct helper	*h;

	if (pool->requested > 0)
		pool->requested--;
	pool->contact_at = pool->clock->ms;
	/* Asked for twice, since the first answer came so late. */
	if (pool->helpers >= (size_t)pool->conf->helpers_max) {
		io_close(&fd);
		return;
	}
	if (fd == -1 || io_nonblock(fd) == -1) {
		io_close(&fd);
		schedule_check(pool, CHANNEL_RETRY);
		refill_later(pool, REFILL_DELAY);
		/* Without any, and without hope for one, jobs fail. */
		if (pool->helpers == 0 && pool->requested == 0)
			fail_all_tasks(pool, EAGAIN);
		return;
	}
	h = mem_zero(sizeof(*h));
	h->pool = pool;
	h->fd = fd;
	h->started_at = pool->clock->ms;
	h->slot = open_slot(pool, fd);
	h->watch = evloop_watch(pool->loop, fd, on_reply, h);
	evloop_set(h->watch, EVLOOP_READ);
	stats_count(STATS_HELPERS_STARTED);
	set_idle(h);
	dispatch_tasks(pool);
}

/* Those beyond the reserve that have been idle for long enough. */
static void
shrink_pool(void *context)
{
	struct helper_pool	*pool = context;
	struct helper	*h;

	while (pool->nidle > (size_t)pool->conf->helpers) {
		h = TAILQ_LAST(&pool->idle, helper_list);
		if (h->state_since + pool->conf->helpers_idle >
		    pool->clock->ms) {
			evloop_arm(pool->idle_timer,
			    h->state_since + pool->conf->helpers_idle);
			return;
		}
		close_helper(h);
	}
}

static void
on_orphan_death(void *context)
{
	struct helper	*h = context;
	struct helper_pool	*pool = h->pool;

	close_helper(h);
	dispatch_tasks(pool);
}

/* Given up by whoever was main before, and not dead yet: to the queue they are
 * as those that we give up ourselves. */
static void
adopt_orphan(struct helper_pool *pool, const struct orphan *left)
{
	struct helper	*h = mem_zero(sizeof(*h));

	h->pool = pool;
	h->fd = left->fd;
	h->kill_requested = true;
	h->slot = -1;
	h->fs_queue = left->fs_queue != 0
			  ? fs_queues_reserve(pool->queues, left->fs_queue)
			  : NULL;
	h->watch = evloop_watch(pool->loop, h->fd, on_orphan_death, h);
	evloop_set(h->watch, EVLOOP_READ);
	insert_helper(h, &pool->stuck);
}

struct helper_pool *
helper_pool_new(struct evloop *loop, const struct clock *clock,
    const struct main_env *env)
{
	struct helper_pool		*pool = mem_zero(sizeof(*pool));
	const struct conf	*conf = env->conf;

	pool->loop = loop;
	pool->clock = clock;
	pool->conf = conf;
	pool->channel = env->channel;
	pool->slots = env->helper_slots;
	TAILQ_INIT(&pool->idle);
	TAILQ_INIT(&pool->busy);
	TAILQ_INIT(&pool->stuck);
	pool->queues = fs_queues_new(env->mounts,
	    (size_t)conf_helpers_share(conf), (size_t)conf->helpers_queue);
	pool->idle_timer = evloop_timer(loop, shrink_pool, pool);
	pool->stuck_timer = evloop_timer(loop, check_stuck, pool);
	pool->check_timer = evloop_timer(loop, check_requests, pool);
	for (size_t i = 0; i < env->norphans; i++)
		adopt_orphan(pool, &env->orphans[i]);
	if (reserve_is_short(pool))
		request_helper(pool);
	refill_later(pool, CHANNEL_START_DELAY);
	return pool;
}

void
helper_pool_free(struct helper_pool **cp)
{
	struct helper_pool	*pool = *cp;
	struct helper	*h;

	pool->closing = true;
	while ((h = TAILQ_FIRST(&pool->busy)) != NULL)
		bury_helper(h);
	while ((h = TAILQ_FIRST(&pool->idle)) != NULL)
		close_helper(h);
	while ((h = TAILQ_FIRST(&pool->stuck)) != NULL)
		close_helper(h);
	fail_all_tasks(pool, ECONNABORTED);
	fs_queues_free(&pool->queues);
	evloop_unwatch(&pool->idle_timer);
	evloop_unwatch(&pool->stuck_timer);
	evloop_unwatch(&pool->check_timer);
	mem_drop(cp);
}

void
helper_pool_report(void *context, void (*line)(const char *))
{
	const struct helper_pool	*pool = context;
	char			 text[HISTOGRAM_TEXT_SIZE + 64];
	size_t			 n;

	snprintf(text, sizeof(text), "helpers: %zu idle, %zu over jobs, %zu "
	    "given up but not dead", pool->nidle, pool->helpers - pool->nidle,
	    pool->nstuck);
	line(text);
	snprintf(text, sizeof(text), "helper queue: %zu jobs, %zu at most",
	    fs_queues_waiting(pool->queues), pool->queued_max);
	line(text);
	snprintf(text, sizeof(text), "helper lanes: %zu",
	    fs_queues_count(pool->queues));
	line(text);
	for (int i = 0; i < JOB_KIND_COUNT; i++) {
		if (service_times(i)->n == 0)
			continue;
		n = (size_t)snprintf(text, sizeof(text), "service time of %s: ",
		    job_kind_name(i));
		histogram_text(service_times(i), text + n, sizeof(text) - n);
		line(text);
	}
}

void
helper_pool_measure(const void *context)
{
	const struct helper_pool	*pool = context;
	int64_t			*g = stats_gauges;

	g[STATS_GAUGE_IDLE_HELPERS] = (int64_t)pool->nidle;
	g[STATS_GAUGE_BUSY_HELPERS] = (int64_t)(pool->helpers - pool->nidle);
	g[STATS_GAUGE_STUCK_HELPERS] = (int64_t)pool->nstuck;
	g[STATS_GAUGE_HELPERS_LIMIT] = pool->conf->helpers_max;
	g[STATS_GAUGE_QUEUED] = (int64_t)fs_queues_waiting(pool->queues);
	g[STATS_GAUGE_QUEUED_MAX] = (int64_t)pool->queued_max;
	g[STATS_GAUGE_FS_QUEUES] = (int64_t)fs_queues_count(pool->queues);
	fs_queues_measure(pool->queues);
}
