/*
 * helper_pool: helpers at the other ends of stream pipes.
 *
 * If a helper dies during a job, another helper does the job.  A helper that
 * exceeds the limit on a job's time is stuck, and abandoned: its job fails, the
 * monitor kills it, and it counts for its file-system queue until it is dead,
 * which may be never.  Abandoned helpers do not count for helpers_max.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/conf.h"
#include "disk/fs_queues.h"
#include "disk/helper_pool.h"
#include "disk/job_load.h"
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
 * Helpers that a job may cost; more within the disk timeout.  Helpers may be
 * killed from outside as fast as they come, without a client noticing, yet a
 * job that kills its helper must end.
 */
#define ATTEMPTS_MAX	100
#define MIN_LIFETIME	1000		/* ms: a younger one has never worked */
#define ABANDON_RETRY	1000		/* ms, if too many are stuck */
#define REFILL_DELAY	5000		/* ms between attempts at the reserve */

TAILQ_HEAD(helper_list, helper);

struct helper {
	struct helper_pool	*pool;
	struct helper_list	*list;		/* idle, busy or stuck */
	int			 fd;
	struct watch		*watch;
	struct disk_task	*task;		/* if busy */
	struct fs_queue		*fs_queue;	/* holds this helper; or NULL */
	int64_t			 started_at;	/* clock ms */
	int64_t			 state_since;	/* in that list, clock ms */
	int64_t			 sent_at;	/* when its job was sent, us */
	bool			 kill_requested; /* of the monitor */
	int			 slot;		/* of helper_slots, or -1 */
	TAILQ_ENTRY(helper)	 link;
};

struct helper_pool {
	struct evloop		*loop;
	const struct clock	*clock;
	const struct conf	*conf;
	int			 channel;	/* to the monitor */
	int			 notify;	/* for the helpers; -1: none */
	struct helper_slots	*slots;
	struct helper_list	 idle;		/* the last used first */
	struct helper_list	 busy;		/* the longest busy first */
	struct helper_list	 stuck;		/* abandoned, not yet dead */
	struct fs_queues	*queues;
	size_t			 nidle, nstuck;
	size_t			 helpers;	/* idle and busy */
	size_t			 requested;	/* of the monitor */
	int64_t			 contact_at;	/* last request, or answer of
						 * the monitor, clock ms */
	size_t			 queued_max;	/* tasks that waited at once */
	struct job_load		 load;
	struct watch		*idle_timer;	/* shrink_pool() */
	struct watch		*stuck_timer;	/* check_stuck() */
	struct watch		*check_timer;	/* check_requests() */
	int64_t			 check_at;	/* clock ms; 0: not set */
	int64_t			 refill_at;	/* clock ms; 0: not set */
	bool			 closing;
};

static void	dispatch_tasks(struct helper_pool *);

/* Service times of a kind of job. */
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

/* The queue may give another task to a helper from here on. */
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
	close(h->fd);		/* the helper exits */
	free(h);
}

static void
fail_task(struct disk_task *t, int error)
{
	t->task->job.error = error;
	clients_finish_task(fs_queues_end(t));
}

static void
cancel_task(struct disk_task *t)
{
	stats_count(STATS_JOBS_DROPPED);
	fail_task(t, ECANCELED);
}

/* A job that has begun goes on: its result serves later requests. */
static void
abandon_task(struct task *task)
{
	struct disk_task	*t = task->record;

	t->abandoned = true;
	if (!t->queued)
		return;
	fs_queues_remove(t);
	cancel_task(t);
}

void
helper_pool_promote(struct task *task)
{
	struct disk_task	*t = task->record;

	if (t->queued)
		fs_queues_promote(t);
	task->background = false;
}

bool
helper_pool_is_busy(void *context)
{
	return fs_queues_waiting(((struct helper_pool *)context)->queues) > 0;
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

/* False: the channel to the monitor is full. */
static bool
request_helper(struct helper_pool *pool)
{
	if (channel_send(pool->channel, CHANNEL_WANT_HELPER,
	    pool->notify) == -1) {
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

/* Delayed, since no task needs the reserve now. */
static void
refill_later(struct helper_pool *pool, int64_t ms)
{
	if (!reserve_is_short(pool) || pool->refill_at != 0)
		return;
	pool->refill_at = pool->clock->ms + ms;
	schedule_check(pool, ms);
}

/* A helper that dies over a CLOSE closes the file as well. */
static bool
has_closed_file(const struct job *job)
{
	return job->kind == JOB_CLOSE && job->fd == -1;
}

static bool
is_hopeless(struct helper_pool *pool, struct disk_task *t)
{
	return ++t->attempts >= ATTEMPTS_MAX &&
	    pool->clock->ms - t->submitted_at >= pool->conf->limits.disk;
}

static bool
has_been_left(const struct disk_task *t)
{
	return t->abandoned && TAILQ_EMPTY(&t->task->waiters);
}

/* Another helper is to do the task, as its helper has died. */
static void
retry_task(struct helper_pool *pool, struct disk_task *t)
{
	const struct job	*job = &t->task->job;

	if (!pool->closing) {
		stats_count(STATS_HELPER_DEATHS);
		log_warnx("a helper died during a job (%s); another helper "
		    "does the job", job_kind_name(job->kind));
	}
	if (pool->closing || has_closed_file(job) || is_hopeless(pool, t))
		fail_task(t, ECONNABORTED);
	else if (has_been_left(t))
		cancel_task(t);
	else
		fs_queues_requeue(t);
}

/* Removes a helper that has died, or has sent anything but a reply. */
static void
discard_helper(struct helper *h)
{
	struct helper_pool	*pool = h->pool;
	struct disk_task	*t = h->task;
	int64_t			 age = pool->clock->ms - h->started_at;
	bool			 was_idle = h->list == &pool->idle;

	close_helper(h);
	if (t != NULL)
		retry_task(pool, t);
	else if (was_idle && age >= MIN_LIFETIME && reserve_is_short(pool))
		request_helper(pool);
	refill_later(pool, REFILL_DELAY);
}

static void
finish_job(struct helper *h)
{
	struct disk_task	*t = h->task;
	const struct job	*job = &t->task->job;

	histogram_add(service_times(job->kind), clock_us() - h->sent_at);
	remove_helper(h);
	h->task = NULL;
	release_queue(h);
	set_idle(h);
	if (job_finds(job->kind) && job->find.same_mount &&
	    job->error == EREMOTE) {
		if (has_been_left(t))
			cancel_task(t);
		else
			fs_queues_reclassify(t);
		return;
	}
	fs_queues_add_alias(t);
	clients_finish_task(fs_queues_end(t));
}

static void
on_reply(void *context)
{
	struct helper		*h = context;
	struct helper_pool	*pool = h->pool;
	struct job		 nothing;
	int			 n;

	job_init(&nothing, JOB_READ);
	n = wire_recv_reply(h->fd,
	    h->task != NULL ? &h->task->task->job : &nothing);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1 || h->task == NULL)	/* idle: only EOF can come */
		discard_helper(h);
	else
		finish_job(h);
	dispatch_tasks(pool);
}

static void
log_stuck(const struct job *job)
{
	const char	*root = NULL, *path = NULL, *user = NULL;

	if (job_finds(job->kind)) {
		root = job->find.root;
		path = job->find.path;
		user = job->find.user;
	} else if (job->kind == JOB_VERIFY)
		root = job->verify.file;
	log_warnx("a helper is stuck in a job (%s%s%s%s%s%s%s): the job fails, "
	    "and the helper is killed; see whether that file system answers",
	    job_kind_name(job->kind),
	    user != NULL ? " " : "", user != NULL ? user : "",
	    root != NULL ? " " : "", root != NULL ? root : "",
	    path != NULL ? "/" : "", path != NULL ? path : "");
}

/* The pipe stays open: EOF tells when the helper is dead. */
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
	struct disk_task	*t = h->task;

	log_stuck(&t->task->job);
	stats_count(STATS_HELPERS_ABANDONED);
	remove_helper(h);
	h->task = NULL;
	insert_helper(h, &h->pool->stuck);
	request_kill(h);
	refill_later(h->pool, REFILL_DELAY);
	fail_task(t, ETIMEDOUT);
}

static void
check_stuck(void *context)
{
	struct helper_pool	*pool = context;
	struct helper		*h;
	int64_t			 now = pool->clock->ms;
	int64_t			 within = pool->conf->helpers_within;

	while ((h = TAILQ_FIRST(&pool->busy)) != NULL &&
	    h->state_since + within <= now &&
	    pool->nstuck < (size_t)pool->conf->helpers_max)
		abandon_helper(h);
	if (h != NULL)
		evloop_arm(pool->stuck_timer, h->state_since + within <= now ?
		    now + ABANDON_RETRY : h->state_since + within);
	dispatch_tasks(pool);
}

/* Sends a job to an idle helper.  If the helper has died meanwhile, the task is
 * queued again, and the attempt does not count. */
static void
send_job(struct helper *h, struct disk_task *t)
{
	struct helper_pool	*pool = h->pool;
	bool			 first = TAILQ_EMPTY(&pool->busy);

	h->fs_queue = t->fs_queue;
	helper_slots_set(pool->slots, h->slot, fs_queues_id(h->fs_queue));
	h->sent_at = clock_us();		/* before the reply can come */
	if (wire_send_request(h->fd, &t->task->job) == -1) {
		close_helper(h);
		if (has_closed_file(&t->task->job))
			fail_task(t, ECONNABORTED);
		else
			fs_queues_requeue(t);
		return;
	}
	remove_helper(h);
	h->task = t;
	insert_helper(h, &pool->busy);
	if (first)
		evloop_arm(pool->stuck_timer, h->state_since +
		    pool->conf->helpers_within);
}

/* Sends tasks to idle helpers, and requests helpers for the rest. */
static void
dispatch_tasks(struct helper_pool *pool)
{
	struct disk_task	*t;

	while (pool->nidle > 0 && (t = fs_queues_pop(pool->queues)) != NULL)
		send_job(TAILQ_FIRST(&pool->idle), t);
	if (fs_queues_waiting(pool->queues) > pool->queued_max)
		pool->queued_max = fs_queues_waiting(pool->queues);
	while (!pool->closing &&
	    pool->requested < fs_queues_ready(pool->queues) &&
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

/* Requests that the monitor has not answered within CHANNEL_TIMEOUT are taken
 * for lost, and sent again. */
static void
check_requests(void *context)
{
	struct helper_pool	*pool = context;
	struct helper		*h;
	int64_t			 now = pool->clock->ms;
	int64_t			 left = pool->contact_at + CHANNEL_TIMEOUT -
				    now;

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

enum submitted
helper_pool_submit(void *context, struct task *task)
{
	struct helper_pool	*pool = context;
	struct disk_task	*t = fs_queues_add(pool->queues, task);

	if (t == NULL) {
		clients_finish_task(task);
		return SUBMITTED_COMPLETED;
	}
	t->submitted_at = pool->clock->ms;
	task->abandon = abandon_task;
	dispatch_tasks(pool);
	return SUBMITTED_PENDING;
}

static void
fail_all_tasks(struct helper_pool *pool, int error)
{
	struct disk_task	*t;

	while ((t = fs_queues_pop_any(pool->queues)) != NULL)
		fail_task(t, error);
}

/* The monitor identifies a helper by the inode of its pipe, too. */
static int
open_slot(struct helper_pool *pool, int fd)
{
	uint64_t	pipe = io_inode(fd);

	return pipe == 0 ? -1 : helper_slots_take(pool->slots, pipe);
}

void
helper_pool_add(void *context, int fd)
{
	struct helper_pool	*pool = context;
	struct helper		*h;

	if (pool->requested > 0)
		pool->requested--;
	pool->contact_at = pool->clock->ms;
	/* Late answers: the request was taken for lost and sent again. */
	if (pool->helpers >= (size_t)pool->conf->helpers_max) {
		io_close(&fd);
		return;
	}
	if (fd == -1 || io_nonblock(fd) == -1) {
		io_close(&fd);
		schedule_check(pool, CHANNEL_RETRY);
		refill_later(pool, REFILL_DELAY);
		/* No helper is there or requested: do not wait for ever. */
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

/* Closes helpers beyond the reserve that have been idle for helpers_idle. */
static void
shrink_pool(void *context)
{
	struct helper_pool	*pool = context;
	struct helper		*h;

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
	struct helper		*h = context;
	struct helper_pool	*pool = h->pool;

	close_helper(h);
	dispatch_tasks(pool);
}

/* Takes over a helper that an earlier main has abandoned and that is not dead
 * yet; it counts for its queue as one that this main abandons. */
static void
adopt_orphan(struct helper_pool *pool, const struct orphan *orphan)
{
	struct helper	*h = mem_zero(sizeof(*h));

	h->pool = pool;
	h->fd = orphan->fd;
	h->kill_requested = true;
	h->slot = -1;
	if (orphan->fs_queue != 0)
		h->fs_queue = fs_queues_reserve(pool->queues, orphan->fs_queue);
	h->watch = evloop_watch(pool->loop, h->fd, on_orphan_death, h);
	evloop_set(h->watch, EVLOOP_READ);
	insert_helper(h, &pool->stuck);
}

/* Idle helpers beyond the limit end with their time, busy ones with their
 * job. */
void
helper_pool_set_limits(void *context)
{
	struct helper_pool	*pool = context;
	const struct conf	*conf = pool->conf;

	fs_queues_set_limits(pool->queues, (size_t)conf_helpers_share(conf),
	    (size_t)conf->helpers_queue);
	dispatch_tasks(pool);
}

struct helper_pool *
helper_pool_new(struct evloop *loop, const struct clock *clock,
    const struct main_env *env, int notify)
{
	struct helper_pool	*pool = mem_zero(sizeof(*pool));
	const struct conf	*conf = env->conf;

	pool->loop = loop;
	pool->clock = clock;
	pool->conf = conf;
	pool->channel = env->channel;
	pool->notify = notify;
	pool->slots = env->helper_slots;
	pool->load.since = clock_us();
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
helper_pool_free(struct helper_pool **pp)
{
	struct helper_pool	*pool = *pp;
	struct helper		*h;

	pool->closing = true;
	while ((h = TAILQ_FIRST(&pool->busy)) != NULL)
		discard_helper(h);
	while ((h = TAILQ_FIRST(&pool->idle)) != NULL)
		close_helper(h);
	while ((h = TAILQ_FIRST(&pool->stuck)) != NULL)
		close_helper(h);
	fail_all_tasks(pool, ECONNABORTED);
	fs_queues_free(&pool->queues);
	evloop_unwatch(&pool->idle_timer);
	evloop_unwatch(&pool->stuck_timer);
	evloop_unwatch(&pool->check_timer);
	mem_drop(pp);
}

void
helper_pool_report(void *context, void (*line)(const char *))
{
	const struct helper_pool	*pool = context;
	char				 text[HISTOGRAM_TEXT_SIZE + 64];
	size_t				 n;

	snprintf(text, sizeof(text), "helpers: %zu idle, %zu busy, %zu "
	    "abandoned but not dead", pool->nidle,
	    pool->helpers - pool->nidle, pool->nstuck);
	line(text);
	snprintf(text, sizeof(text), "helper queue: %zu tasks, %zu at most",
	    fs_queues_waiting(pool->queues), pool->queued_max);
	line(text);
	snprintf(text, sizeof(text), "file-system queues: %zu",
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

static int64_t
measure_load(struct helper_pool *pool)
{
	uint64_t	jobs = 0, us = 0;

	for (int i = 0; i < JOB_KIND_COUNT; i++) {
		jobs += service_times(i)->n;
		us += service_times(i)->sum;
	}
	return job_load_measure(&pool->load, clock_us(), jobs, us,
	    fs_queues_waiting(pool->queues));
}

void
helper_pool_measure(void *context)
{
	struct helper_pool	*pool = context;
	int64_t			*g = stats_gauges;

	g[STATS_GAUGE_IDLE_HELPERS] = (int64_t)pool->nidle;
	g[STATS_GAUGE_BUSY_HELPERS] = (int64_t)(pool->helpers - pool->nidle);
	g[STATS_GAUGE_STUCK_HELPERS] = (int64_t)pool->nstuck;
	g[STATS_GAUGE_HELPERS_LOAD] = measure_load(pool);
	g[STATS_GAUGE_HELPERS_LIMIT] = pool->conf->helpers_max;
	g[STATS_GAUGE_QUEUED] = (int64_t)fs_queues_waiting(pool->queues);
	g[STATS_GAUGE_QUEUED_MAX] = (int64_t)pool->queued_max;
	g[STATS_GAUGE_FS_QUEUES] = (int64_t)fs_queues_count(pool->queues);
	fs_queues_measure(pool->queues);
}
