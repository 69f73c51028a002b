/*
 * pool: a request has the connection of a process, until main has read the
 * answer.
 *
 * Main keeps the connection for its next request, for as many as the report
 * says, until the manager recalls it: because requests wait that get no other
 * process, the process is outdated or too old, or the manager is to end.  The
 * first connection of a process has one request, so that its early end is
 * noticed, and so has one that others wait for already.
 *
 * A connection of which less is known cannot be used again, so its process is
 * ended.  Where main does not want the connection again, the process gets
 * another one with its next request.
 *
 * After a restart the processes from before it are outdated.  As many new ones
 * are started, within `most`; for each of them that runs, an idle outdated one
 * is ended, and the others are ended behind their requests.  Where `most` has
 * no room, idle ones are ended first, one at a time.  Where no new one can be
 * started, outdated ones go on.
 */
#include <sys/param.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "programs/pool.h"
#include "programs/private_socket.h"
#include "programs/process.h"
#include "programs/wear.h"
#include "stats/program_stats.h"

#define EARLY		1000	/* ms; an end without an answer is early */
#define BACKOFF_MIN	1000	/* ms without a new process behind that ... */
#define BACKOFF_MAX	60000	/* ... and if they keep ending early */

enum state {
	STARTS,
	IDLE,
	WORKS,		/* has an invocation; main may keep its connection */
	ENDS
};

/* Has its place among `most` until all that it has started has ended. */
struct pool_process {
	struct process		 process;	/* first: casts rely on it */
	struct process_pool	*pool;
	enum state		 state;
	struct source		 connection;	/* watched while IDLE; -1: the
						 * next request makes one */
	int			 file;		/* to connect; -1: no way */
	struct invocation	*invocation;
	int64_t			 started_at, idle_since;	/* ms */
	struct watch		*age;		/* timer: life of the program */
	int64_t			 nanswered;	/* requests */
	uint64_t		 version;	/* of its files; 0: unknown */
	bool			 is_lent, was_asked;	/* has had a request */
	uint32_t		 slot;		/* while it is there */
	bool			 is_unwanted;	/* the manager ends it */
	bool			 is_old;	/* its timer has said so */
	unsigned		 restart;	/* the last before its start */
	TAILQ_ENTRY(pool_process) link;		/* while IDLE, or is_lent */
};

TAILQ_HEAD(pool_processes, pool_process);

struct process_pool {
	struct admission	*admission;
	struct pool_processes	 idle;		/* the last used first */
	struct pool_processes	 lent;		/* their mains may keep them;
						 * not recalled */
	size_t			 nprocesses, nstarting;
	size_t			 nidle, nlent, nending;
	bool			 slots[PROGRAM_STATS_SLOTS];	/* in use */
	size_t			 noutdated;	/* without those that end */
	unsigned		 nrestarts;
	size_t			 wanted;	/* not outdated ones, while a
						 * restart goes on; else 0 */
	struct watch		*expiry;	/* timer: of the idle */
	struct watch		*retry;		/* timer: while it backs off */
	int64_t			 backoff;	/* ms; 0: none yet */
	bool			 backs_off;
};

static int64_t
get_time(const struct process_pool *pool)
{
	return pool->admission->manager->clock.ms;
}

/*
 * Idle processes
 */

static void
set_expiry(struct process_pool *pool)
{
	const struct pool_process	*last = TAILQ_LAST(&pool->idle,
					    pool_processes);

	if (last == NULL)
		evloop_cancel(pool->expiry);
	else
		evloop_arm(pool->expiry,
		    last->idle_since + pool->admission->program->idle);
}

static void
publish_pool(const struct process_pool *pool)
{
	size_t	program = pool->admission->program->number;

	program_stats_set(program, PROGRAM_STATS_GAUGE_IDLE, pool->nidle);
	program_stats_set(program, PROGRAM_STATS_GAUGE_OUTDATED,
	    pool->noutdated);
}

static bool
is_outdated(const struct pool_process *p)
{
	return p->restart != p->pool->nrestarts;
}

static void
watch_connection(const struct pool_process *p, enum evloop_event event)
{
	if (p->connection.watch != NULL)
		evloop_set(p->connection.watch, event);
}

static void
add_idle(struct pool_process *p)
{
	p->state = IDLE;
	p->idle_since = get_time(p->pool);
	TAILQ_INSERT_HEAD(&p->pool->idle, p, link);
	p->pool->nidle++;
	publish_pool(p->pool);
	watch_connection(p, EVLOOP_READ);
	set_expiry(p->pool);
}

static void
remove_idle(struct pool_process *p, enum state state)
{
	p->state = state;
	TAILQ_REMOVE(&p->pool->idle, p, link);
	p->pool->nidle--;
	publish_pool(p->pool);
	watch_connection(p, EVLOOP_NONE);
	set_expiry(p->pool);
}

/* A process that has waited too long for its first request closes, and accepts
 * the next connection.  One that closes behind an answer is about to end.
 * Returns false if the process is of no use. */
static bool
forget_connection(struct pool_process *p)
{
	if (p->was_asked || p->file == -1 ||
	    !private_socket_has_ended(p->connection.fd))
		return false;
	source_close(&p->connection);
	return true;
}

/*
 * The end of processes
 */

static void
end_process(struct pool_process *p)
{
	if (p->state == ENDS)
		return;
	if (p->state == IDLE)
		remove_idle(p, ENDS);
	else if (p->state == STARTS)
		p->pool->nstarting--;
	p->state = ENDS;
	p->pool->nending++;
	if (is_outdated(p))
		p->pool->noutdated--;
	publish_pool(p->pool);
	source_close(&p->connection);
	io_close(&p->file);
	process_end(&p->process);
}

static void
dismiss_process(struct pool_process *p)
{
	p->is_unwanted = true;
	end_process(p);
}

/* Ends the outdated process that was used least lately; false: none is idle. */
static bool
dismiss_outdated(struct process_pool *pool)
{
	struct pool_process	*p = NULL;

	if (pool->noutdated > 0)
		TAILQ_FOREACH_REVERSE(p, &pool->idle, pool_processes, link)
			if (is_outdated(p))
				break;
	if (p != NULL)
		dismiss_process(p);
	return p != NULL;
}

/* No process is started for some time. */
static void
back_off(struct process_pool *pool, int error)
{
	struct admission	*a = pool->admission;

	if (pool->backs_off)
		return;
	pool->backs_off = true;
	pool->backoff = pool->backoff == 0 ? BACKOFF_MIN :
	    MIN(2 * pool->backoff, BACKOFF_MAX);
	a->error = error;
	evloop_arm(pool->retry, get_time(pool) + pool->backoff);
	log_warnx("%s: its processes cannot be started or end at once; the "
	    "next one is started in %d s", a->program->name,
	    (int)(pool->backoff / 1000));
}

/* A process has ended by itself, or will: it has closed its connection. */
static void
lose_process(struct pool_process *p)
{
	if (p->nanswered == 0 && p->started_at + EARLY >
	    get_time(p->pool))
		back_off(p->pool, ECHILD);
	end_process(p);
}

static void
on_connection(void *process)
{
	struct pool_process	*p = process;

	if (!forget_connection(p))
		lose_process(p);
}

static void
on_expiry(void *process_pool)
{
	struct process_pool	*pool = process_pool;
	struct pool_process	*p, *next;
	int64_t			 until = get_time(pool) -
				    pool->admission->program->idle;

	for (p = TAILQ_FIRST(&pool->idle); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (p->idle_since <= until)
			dismiss_process(p);
	}
	/* The timer may be early by less than its clock counts. */
	set_expiry(pool);
}

/*
 * Requests
 */

/* Whether a process has a connection, now, that a request may be given. */
static bool
find_connection(struct pool_process *p)
{
	int	fd;

	if (p->connection.fd != -1 &&
	    private_socket_is_quiet(p->connection.fd))
		return true;
	if (p->connection.fd != -1 && !forget_connection(p))
		return false;
	fd = private_socket_connect(p->file);
	if (fd == -1)
		return false;
	source_add(&p->connection, p->pool->admission->manager->loop, fd,
	    on_connection, p);
	return true;
}

/* How many requests main may send over the connection, if it gets it for the
 * invocation that has waited longest. */
static uint32_t
count_requests(const struct pool_process *p, const struct invocation *i)
{
	const struct admission	*a = p->pool->admission;
	int64_t			 most = wear_requests(a->program,
				    p->process.pid);

	if (p->nanswered == 0 || is_outdated(p) || a->nwaiting > 1 ||
	    a->manager->is_ending || i->for_filter)
		return 1;
	return most == 0 ? UINT32_MAX :
	    (uint32_t)MIN(most - p->nanswered, UINT32_MAX);
}

static void
lend_process(struct pool_process *p)
{
	p->is_lent = true;
	p->pool->nlent++;
	TAILQ_INSERT_HEAD(&p->pool->lent, p, link);
	admission_set_kept(p->invocation, true);
}

static void
forget_loan(struct pool_process *p)
{
	if (!p->is_lent)
		return;
	p->is_lent = false;
	p->pool->nlent--;
	TAILQ_REMOVE(&p->pool->lent, p, link);
}

/* Main gives the connection back, or says that a request goes on. */
static void
recall_process(struct pool_process *p)
{
	forget_loan(p);
	(void)admission_report(p->invocation, &(struct program_report){
	    .kind = PROGRAM_RECALL }, -1);
}

static void
recall_all(struct process_pool *pool)
{
	while (!TAILQ_EMPTY(&pool->lent))
		recall_process(TAILQ_FIRST(&pool->lent));
}

/* Recalls one for each request that waits and gets no new process. */
static void
recall_some(struct process_pool *pool)
{
	const struct admission	*a = pool->admission;

	while (pool->nlent > 0 &&
	    pool->nstarting + (a->nkept - pool->nlent) < a->nwaiting)
		recall_process(TAILQ_LAST(&pool->lent, pool_processes));
}

static void
end_invocation(struct pool_process *p)
{
	struct invocation	*i = p->invocation;

	forget_loan(p);
	program_stats_keep(i->admission->program->number, p->slot, false);
	p->invocation = NULL;
	admission_end(i);
}

/* Returns false if main has gone, or takes nothing. */
static bool
give_connection(struct pool_process *p, struct invocation *i)
{
	const struct program_report	report = { .kind = PROGRAM_STARTED,
					    .requests = count_requests(p, i),
					    .slot = p->slot,
					    .version = p->version };

	remove_idle(p, WORKS);
	p->invocation = i;
	i->run = p;
	admission_run(i);
	if (admission_report(i, &report, p->connection.fd)) {
		p->was_asked = true;
		if (report.requests > 1)
			lend_process(p);
		return true;
	}
	end_invocation(p);
	return false;
}

/* Whether outdated processes go on for now: a restart goes on, none of the
 * processes that replace them runs yet, and one may be started. */
static bool
needs_outdated(const struct process_pool *pool)
{
	size_t	n = pool->nprocesses - pool->nending;

	return pool->wanted > 0 && n - pool->noutdated <= pool->nstarting &&
	    n < pool->admission->most;
}

static bool
is_worn(const struct pool_process *p)
{
	return p->is_old || wear_is_over(p->pool->admission->program,
	    p->process.pid, p->nanswered,
	    get_time(p->pool) - p->started_at);
}

/* A process is too old for a next request. */
static void
on_age(void *process)
{
	struct pool_process	*p = process;

	p->is_old = true;
	if (p->state == IDLE)
		dismiss_process(p);
	else if (p->is_lent)
		recall_process(p);
}

/* A process that is not needed is ended where the manager is to end. */
static void
make_idle(struct pool_process *p)
{
	struct admission	*a = p->pool->admission;

	add_idle(p);
	admission_start(a);
	if (a->manager->is_ending && p->state == IDLE)
		dismiss_process(p);
}

static void
finish_request(struct invocation *i, const struct program_done *done)
{
	struct pool_process	*p = i->run;
	struct admission	*a = i->admission;
	int			 fd = p->connection.fd;
	bool			 is_lost = done->again &&
				    !private_socket_is_quiet(fd);

	if (!done->again)
		source_close(&p->connection);
	p->nanswered += done->nanswered;
	end_invocation(p);
	p->pool->backoff = 0;
	a->error = 0;
	if (is_lost)
		lose_process(p);
	else if (is_worn(p) || (is_outdated(p) && !needs_outdated(p->pool)) ||
	    (!done->again && p->file == -1))
		dismiss_process(p);
	else
		make_idle(p);
	admission_start(a);
}

/* Main has closed in the middle of a request, or has died and kept this for a
 * next one. */
static void
leave_request(struct invocation *i)
{
	struct pool_process		*p = i->run;
	const struct program_done	 done = { .nanswered = 1,
					    .again = true };

	if (program_stats_is_kept(i->admission->program->number, p->slot)) {
		finish_request(i, &done);
		return;
	}
	end_invocation(p);
	dismiss_process(p);
}

/*
 * Restart
 */

/* How many processes are still to be started in the place of outdated ones. */
static size_t
count_due(const struct process_pool *pool)
{
	size_t	there = pool->nprocesses - pool->nending - pool->noutdated;

	return pool->wanted > there ? pool->wanted - there : 0;
}

static void	add_process(struct process_pool *);

/* Starts them as far as there is room, or makes room. */
static void
renew_pool(struct process_pool *pool)
{
	while (count_due(pool) > 0 && !pool->backs_off &&
	    pool->nprocesses < pool->admission->most)
		add_process(pool);
	if (count_due(pool) > 0 && !pool->backs_off && pool->nending == 0)
		dismiss_outdated(pool);
}

/* Ends a restart once all that it has started runs. */
static void
end_restart(struct process_pool *pool)
{
	if (pool->wanted == 0 || pool->nstarting > 0 || count_due(pool) > 0)
		return;
	while (dismiss_outdated(pool))
		continue;
	pool->wanted = 0;
}

/* A restart that goes on wants no more processes by another one.  The fault for
 * which the pool backs off may have been mended. */
static void
restart_pool(struct admission *a)
{
	struct process_pool	*pool = a->state;

	pool->nrestarts++;
	pool->noutdated = pool->nprocesses - pool->nending;
	if (pool->wanted == 0)
		pool->wanted = pool->noutdated;
	publish_pool(pool);
	recall_all(pool);
	pool->backs_off = false;
	pool->backoff = 0;
	evloop_cancel(pool->retry);
	log_notice("%s: restarts: %zu processes are to be replaced",
	    a->program->name, pool->noutdated);
	renew_pool(pool);
	admission_start(a);
}

/*
 * New processes
 */

/* A process that closes its connection may end by the signal that follows, and
 * has no other fault. */
static void
log_end(struct pool_process *p, int status)
{
	if (!p->is_unwanted && !(WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL)))
		process_log_status(&p->process, status);
}

static void
note_end(struct pool_process *p, int status)
{
	if (p->invocation != NULL) {
		(void)admission_report(p->invocation, &(struct program_report){
		    .kind = PROGRAM_ENDED, .status = status }, -1);
		end_invocation(p);
	}
	log_end(p, status);
	process_count_end(&p->process, status, p->state == ENDS);
	/* By a count of its own, perhaps before main has read the answer. */
	if (status == 0 && p->was_asked)
		end_process(p);
	else if (p->state != ENDS)
		lose_process(p);
}

static void
note_start(struct pool_process *p, uint64_t version)
{
	struct process_pool	*pool = p->pool;

	p->version = version;
	if (is_outdated(p)) {
		dismiss_process(p);
		admission_start(pool->admission);
	} else {
		pool->nstarting--;
		if (!pool->backs_off)
			pool->admission->error = 0;
		make_idle(p);
		if (pool->admission->program->life > 0)
			evloop_arm(p->age, p->started_at + wear_life(
			    pool->admission->program, p->process.pid));
		dismiss_outdated(pool);
	}
	end_restart(pool);
}

static void
note_failure(struct pool_process *p, int error)
{
	process_log_failure(&p->process, error);
	back_off(p->pool, error);
	end_process(p);
}

static void
free_process(struct pool_process *p)
{
	struct process_pool	*pool = p->pool;
	struct admission	*a = pool->admission;

	/* Its reaper may have been killed. */
	if (p->invocation != NULL)
		end_invocation(p);
	if (p->state == STARTS)
		back_off(pool, EAGAIN);
	end_process(p);
	pool->nprocesses--;
	pool->nending--;
	if (p->slot < PROGRAM_STATS_SLOTS)
		pool->slots[p->slot] = false;
	evloop_unwatch(&p->age);
	process_free(&p->process);
	free(p);
	renew_pool(pool);
	admission_start(a);
	admission_release(a->manager);
}

static void
take_report(struct process *process, const struct reaper_report *report,
    int output)
{
	struct pool_process	*p = (struct pool_process *)process;

	io_close(&output);
	if (report == NULL)
		free_process(p);
	else if (report->kind == REAPER_FAILED)
		note_failure(p, report->value);
	else if (report->kind == REAPER_ENDED)
		note_end(p, report->value);
	else if (p->state == STARTS)
		note_start(p, report->version);
}

/* 0, or -1 with errno. */
static int
start_process(struct pool_process *p)
{
	struct execute		e = { .input_type = S_IFSOCK,
				    .connection = -1 };
	struct private_socket	s;
	int			done;

	if (private_socket_open(&s) == -1)
		return -1;
	e.input = s.listener;
	done = process_start(&p->process, &e);
	io_close(&s.listener);
	if (done == -1) {
		io_close(&s.connection);
		io_close(&s.file);
		return -1;
	}
	source_add(&p->connection, p->pool->admission->manager->loop,
	    s.connection, on_connection, p);
	p->file = s.file;
	return 0;
}

/* The lowest that is free; if there is none, one that has no use. */
static uint32_t
take_slot(struct process_pool *pool)
{
	uint32_t	slot = 0;

	while (slot < PROGRAM_STATS_SLOTS && pool->slots[slot])
		slot++;
	if (slot < PROGRAM_STATS_SLOTS)
		pool->slots[slot] = true;
	return slot;
}

static void
add_process(struct process_pool *pool)
{
	struct pool_process	*p = mem_zero(sizeof(*p));
	int			 error;

	p->pool = pool;
	p->restart = pool->nrestarts;
	p->connection.fd = p->file = -1;
	p->started_at = get_time(pool);
	p->age = evloop_timer(pool->admission->manager->loop, on_age, p);
	process_init(&p->process, pool->admission, STR(""), take_report);
	if (start_process(p) == 0) {
		pool->nprocesses++;
		pool->nstarting++;
		p->slot = take_slot(pool);
		pool->admission->manager->nheld++;
		return;
	}
	error = errno;
	process_log_failure(&p->process, error);
	evloop_unwatch(&p->age);
	process_free(&p->process);
	free(p);
	back_off(pool, error);
}

/* One for each request that waits, at once. */
static void
grow_pool(struct process_pool *pool)
{
	const struct admission	*a = pool->admission;

	while (!pool->backs_off && pool->nprocesses < a->most &&
	    pool->nstarting < a->nwaiting)
		add_process(pool);
}

/*
 * The kind
 */

/* A filter's result, which is kept, must not come from an outdated process. */
static struct pool_process *
find_idle(const struct process_pool *pool, const struct invocation *i)
{
	struct pool_process	*p;

	TAILQ_FOREACH(p, &pool->idle, link)
		if (!i->for_filter || !is_outdated(p))
			break;
	return p;
}

static bool
start_request(struct invocation *i)
{
	struct process_pool	*pool = i->admission->state;
	struct pool_process	*p;

	while ((p = find_idle(pool, i)) != NULL && !find_connection(p))
		lose_process(p);
	if (p == NULL) {
		grow_pool(pool);
		recall_some(pool);
		return !TAILQ_EMPTY(&pool->idle);
	}
	if (!give_connection(p, i))
		add_idle(p);
	return true;
}

static void
on_retry(void *process_pool)
{
	struct process_pool	*pool = process_pool;

	pool->backs_off = false;
	if (pool->noutdated == 0)
		pool->wanted = 0;
	renew_pool(pool);
	admission_start(pool->admission);
}

static void
open_pool(struct admission *a)
{
	struct process_pool	*pool = mem_zero(sizeof(*pool));

	pool->admission = a;
	TAILQ_INIT(&pool->idle);
	TAILQ_INIT(&pool->lent);
	pool->expiry = evloop_timer(a->manager->loop, on_expiry, pool);
	pool->retry = evloop_timer(a->manager->loop, on_retry, pool);
	a->state = pool;
}

/* The others end behind their requests. */
static void
drain_pool(struct admission *a)
{
	struct process_pool	*pool = a->state;

	pool->wanted = 0;
	recall_all(pool);
	while (!TAILQ_EMPTY(&pool->idle))
		dismiss_process(TAILQ_FIRST(&pool->idle));
}

static void
close_pool(struct admission *a)
{
	struct process_pool	*pool = a->state;

	evloop_unwatch(&pool->expiry);
	evloop_unwatch(&pool->retry);
	mem_drop(&a->state);
}

const struct admission_kind	pool_kind = {
	.open = open_pool, .start = start_request, .leave = leave_request,
	.finish = finish_request, .restart = restart_pool,
	.drain = drain_pool, .close = close_pool
};
