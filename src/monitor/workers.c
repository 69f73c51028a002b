/*
 * workers: starts mains and reads their messages.  A table (life.tbl) says what
 * each event means for their generation.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "conf/conf.h"
#include "conf/divide.h"
#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor/component.h"
#include "monitor/helper_rules.h"
#include "monitor/helpers.h"
#include "monitor/spawn.h"
#include "monitor/workers.h"
#include "shared/accept_token.h"
#include "shared/addresses_conf.h"
#include "shared/channel.h"
#include "shared/helper_slots.h"
#include "shared/main_env.h"
#include "shared/mounts.h"
#include "stats/scoreboard.h"
#include "stats/stats.h"

#define BACKOFF_MIN	50	/* ms until main is started again ... */
#define BACKOFF_MAX	5000	/* ... and if mains keep dying early */
#define MIN_LIFETIME	10000	/* ms; a shorter life is early */
#define START_TIMEOUT	30000	/* ms for the new mains to serve */
#define DRAINING_MAX	16	/* generations */

enum life_event {
	LIFE_READY,			/* all mains serve */
	LIFE_CLOSED,			/* all have stopped accepting */
	LIFE_FINISHED,			/* a main has closed its channel */
	LIFE_TIMEOUT,			/* the timer of a worker is due */
	LIFE_DIED,			/* a main has ended or is given up */
	LIFE_REPLACED,			/* another generation serves */
	LIFE_EMPTY,			/* no main is left */
	LIFE_END			/* the server ends */
};

/* The facts that an action is told. */
struct change {
	struct generation	*g;
	struct worker		*w;	/* of the main; NULL: all mains */
	const char		*how;	/* a main has died */
};

static const struct workers_calls	*calls;
static size_t				 descriptors;
static int				 end_signal;

static const struct child_kind	kind = {
	.name = "main", .generational = true
};

static void	happen(struct generation *, enum life_event, struct worker *,
		    const char *how);

void
workers_init(const struct workers_calls *c, size_t n)
{
	calls = c;
	descriptors = n;
}

/*
 * A main
 */

static _Noreturn void
main_entry(struct worker *w, int control, const struct orphans *orphans)
{
	struct generation	*g = w->generation;
	struct main_env		 env = {
		.conf = g->conf,
		.channel = control,
		.listeners = g->listeners,
		.nlisteners = g->nlisteners,
		.descriptors = descriptors,
		.rules = g->rules,
		.mounts = g->mounts,
		.helper_slots = w->helper_slots,
		.addresses = g->addresses,
		.accept_token = g->accept_token,
		.main = w->number,
		.mains = g->nworkers,
		.workers = arch_workers(g->conf),
		.orphans = orphans->at,
		.norphans = orphans->count,
		.alive_interval = watchdog_interval(g),
	};

	proc_title("amped: main");
	scoreboard_attach(w->stats_slot);
	conf_divide(g->conf, w->number, g->nworkers);
	log_init("main", (enum log_level)g->conf->log.error_level);
	/* Only processes that may wait for a file system have the logs. */
	io_close(&g->access_log);
	io_close(&g->error_log);
	calls->in_main();
	if (io_nonblock(control) == -1)
		fatal("cannot make the pipe to main non-blocking");
	exit(arch_of(g->conf)->run(&env));
}

static void
on_timer(void *worker)
{
	struct worker	*w = worker;

	happen(w->generation, LIFE_TIMEOUT, w, NULL);
}

static void
on_ready(struct worker *w)
{
	w->ready = true;
	if (generation_is_ready(w->generation))
		happen(w->generation, LIFE_READY, w, NULL);
}

/* The main accepts no more: new clients come to the mains after it. */
static void
on_closed(struct worker *w)
{
	const struct generation	*g = w->generation;

	w->closed = true;
	for (unsigned i = 0; i < g->nworkers; i++)
		if (!g->workers[i].closed)
			return;
	happen(w->generation, LIFE_CLOSED, w, NULL);
}

/* Main has closed its channel, having finished.  SIGCHLD follows, unless main
 * has files open on a dead file system: then the kernel does not end main. */
static void
on_channel_end(struct worker *w)
{
	events_close(&w->channel);
	happen(w->generation, LIFE_FINISHED, w, NULL);
}

static void
on_message(void *worker)
{
	struct worker		*w = worker;
	enum channel_message	 message;
	int			 fd = -1, n;

	n = channel_recv(w->channel.fd, &message, &fd);
	if (n == 1 && message == CHANNEL_READY)
		on_ready(w);
	else if (n == 1 && message == CHANNEL_DRAINING)
		on_closed(w);
	else if (n == 1 && message == CHANNEL_ALIVE)
		watchdog_on_alive(w);
	else if (n == 1 && message == CHANNEL_WANT_HELPER)
		helpers_start(w);
	else if (n == 1 && message == CHANNEL_WANT_ACCESS_LOGGER)
		helpers_start_logger(w);
	else if (n == 1 && message == CHANNEL_KILL_HELPER)
		helpers_kill(fd);
	else if (n == 0 || (n == -1 && errno != EINTR && errno != EAGAIN))
		on_channel_end(w);
	io_close(&fd);
}

/* A main has ended, or is left to itself as the kernel may hold it: clears all
 * that it shared. */
static void
lose_main(struct worker *w, const char *how)
{
	struct generation	*g = w->generation;

	children_disown(w->main_pid, true);
	w->main_pid = 0;
	w->ready = false;
	w->logger_due = false;
	events_unset(&w->timer);
	watchdog_stop(w);
	events_close(&w->channel);
	helpers_main_died(w);
	scoreboard_retire(w->stats_slot, arch_threads(g->conf));
	addresses_conf_main_died(g->addresses, w->number);
	accept_token_main_died(g->accept_token, w->number);
	happen(g, LIFE_DIED, w, how);
}

static void
main_died(void *worker, const struct child *c)
{
	struct worker	*w = worker;

	if (w->generation->replaced_by != 0 && c->status != 0)
		log_errorx("the old main %s: its responses under way are lost",
		    c->how);
	lose_main(w, c->how);
}

static void
start_main(struct worker *w)
{
	static unsigned	last_main_id;
	struct orphans	orphans;
	int		pipe = -1;
	pid_t		pid;

	w->main_id = ++last_main_id;
	w->closed = false;
	helpers_find_orphans(w, &orphans);
	pid = spawn(&kind, w->generation, &pipe, main_died, w);
	if (pid == 0)
		main_entry(w, pipe, &orphans);
	helpers_free_orphans(&orphans);
	if (pid == -1) {
		log_error("cannot start main; trying it again in %d s",
		    BACKOFF_MAX / 1000);
		events_set(&w->timer, BACKOFF_MAX, on_timer, w);
		return;
	}
	/* The monitor must not wait for main, even if main hangs. */
	if (io_nonblock(pipe) == -1)
		fatal("cannot make the pipe to main non-blocking");
	w->main_pid = pid;
	w->started_at = clock_ms();
	events_add(&w->channel, pipe, on_message, w);
}

static void
make_shared(struct generation *g)
{
	g->rules = helper_rules_open(g->conf);
	g->mounts = mounts_new(g->conf);
	g->addresses = addresses_conf_new(g->conf, g->nworkers, descriptors);
	if (arch_one_client(g->conf))
		g->accept_token = accept_token_new(g->nworkers);
	for (unsigned i = 0; i < g->nworkers; i++) {
		/* For its helpers and as many that it has given up. */
		g->workers[i].helper_slots =
		    helper_slots_new(2 * (size_t)g->conf->helpers_max);
		g->workers[i].stats_slot = scoreboard_alloc(g->number,
		    arch_threads(g->conf));
	}
}

/*
 * A generation
 */

/* Sets the timers of all workers; 0: unsets them. */
static void
set_timers(struct generation *g, int64_t ms)
{
	for (unsigned i = 0; i < g->nworkers; i++) {
		events_unset(&g->workers[i].timer);
		if (ms != 0)
			events_set(&g->workers[i].timer, ms, on_timer,
			    &g->workers[i]);
	}
}

static void
take_over(const struct change *c)
{
	set_timers(c->g, 0);
	calls->serves(c->g);
}

static void
tell_ready(const struct change *c)
{
	calls->serves(c->g);
}

static void
await_end(const struct change *c)
{
	events_set(&c->w->timer, CHILDREN_KILL_TIMEOUT, on_timer, c->w);
}

static void
give_up_main(const struct change *c)
{
	helpers_kill_all(c->w);
	children_give_up(c->w->main_pid);
}

static void
kill_main(const struct change *c)
{
	if (c->w->main_pid == 0)
		return;
	kill(c->w->main_pid, SIGKILL);
	children_give_up(c->w->main_pid);
	lose_main(c->w, c->g->state == GENERATION_STARTING ?
	    "did not answer" : "does not end");
}

static void
start_or_lose(const struct change *c)
{
	if (c->w->main_pid != 0)
		lose_main(c->w, "does not end");
	else
		start_main(c->w);
}

static void
free_generation(const struct change *c)
{
	struct generation	*g = c->g;

	TAILQ_REMOVE(&generations.list, g, link);
	generation_free(&g);
}

/* A main has ended before all served: ends the others.  The state is GONE, so
 * their ends mean nothing more. */
static void
abort_start(const struct change *c)
{
	struct worker	*w;

	for (unsigned i = 0; i < c->g->nworkers; i++) {
		w = &c->g->workers[i];
		if (w->main_pid == 0)
			continue;
		children_give_up(w->main_pid);
		kill(w->main_pid, SIGKILL);
		lose_main(w, c->how);
	}
	free_generation(c);
	calls->failed(c->how);
}

/* The first restart is at once. */
static void
set_restart(const struct change *c)
{
	struct worker	*w = c->w;

	if (calls->ends_server(c->how))
		return;
	stats_count(STATS_MAIN_DEATHS);
	w->backoff = clock_ms() - w->started_at >= MIN_LIFETIME ||
	    w->backoff == 0 ? BACKOFF_MIN : w->backoff * 2;
	if (w->backoff > BACKOFF_MAX)
		w->backoff = BACKOFF_MAX;
	events_set(&w->timer, w->backoff == BACKOFF_MIN ? 0 : w->backoff,
	    on_timer, w);
	log_errorx("main %s; starting another", c->how);
}

/* A generation ends with its last main. */
static void
check_if_empty(struct generation *g)
{
	if (generation_count_mains(g) == 0)
		happen(g, LIFE_EMPTY, NULL, NULL);
}

static void
drain_mains(const struct change *c)
{
	struct generation	*g = c->g;
	struct worker		*w;

	generation_close_listeners(g);
	set_timers(g, g->conf->limits.drain + WORKERS_END_TIMEOUT);
	for (unsigned i = 0; i < g->nworkers; i++) {
		w = &g->workers[i];
		watchdog_stop(w);
		if (w->main_pid != 0)
			kill(w->main_pid, SIGQUIT);
		else
			on_closed(w);
	}
	check_if_empty(g);
}

static void
tell_closed(const struct change *c)
{
	if (c->g->closed)
		return;
	c->g->closed = true;
	log_notice("the conf has been read again, and is in force");
	calls->in_force(c->g->replaced_by);
}

static void
note_death(const struct change *c)
{
	on_closed(c->w);
	log_info("the old main %s", c->how);
	check_if_empty(c->g);
}

static void
end_mains(const struct change *c)
{
	struct generation	*g = c->g;

	set_timers(g, 0);
	generation_close_listeners(g);
	for (unsigned i = 0; i < g->nworkers; i++) {
		watchdog_stop(&g->workers[i]);
		g->workers[i].logger_due = false;
		if (g->workers[i].main_pid != 0)
			kill(g->workers[i].main_pid, end_signal);
	}
}

static const struct {
	enum generation_state	 state;
	enum life_event	 event;
	enum generation_state	 next;
	void			(*act)(const struct change *);
} table[] = {
#define X(state, event, next, action) {					\
	GENERATION_##state, LIFE_##event, GENERATION_##next, action },
#include "monitor/life.tbl"
#undef X
};

static void
happen(struct generation *g, enum life_event event, struct worker *w,
    const char *how)
{
	const struct change	c = { g, w, how };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].state != g->state || table[i].event != event)
			continue;
		g->state = table[i].next;
		table[i].act(&c);
		return;
	}
}

void
workers_start(struct generation *g)
{
	make_shared(g);
	for (unsigned i = 0; i < g->nworkers; i++) {
		start_main(&g->workers[i]);
		if (g->workers[i].main_pid != 0 ||
		    g->state != GENERATION_STARTING)
			continue;
		lose_main(&g->workers[i], "could not be started");
		return;
	}
	if (g->state == GENERATION_STARTING)
		set_timers(g, START_TIMEOUT);
}

void
workers_replace(struct generation *g)
{
	happen(g, LIFE_REPLACED, NULL, NULL);
}

void
workers_end(int signo)
{
	struct generation	*g;

	end_signal = signo;
	TAILQ_FOREACH(g, &generations.list, link)
		happen(g, LIFE_END, NULL, NULL);
}

void
workers_replace_loggers(struct generation *g)
{
	for (unsigned i = 0; i < g->nworkers; i++)
		helpers_replace_logger(&g->workers[i]);
}

static unsigned
count_state(enum generation_state state)
{
	const struct generation	*g;
	unsigned		 n = 0;

	TAILQ_FOREACH(g, &generations.list, link)
		n += g->state == state;
	return n;
}

bool
workers_are_starting(void)
{
	return count_state(GENERATION_STARTING) > 0;
}

bool
workers_are_busy(void)
{
	return workers_are_starting() ||
	    count_state(GENERATION_DRAINING) >= DRAINING_MAX;
}

static void
free_generations(void)
{
	struct change	c = { 0 };

	while ((c.g = TAILQ_FIRST(&generations.list)) != NULL)
		free_generation(&c);
}

const struct component	workers_component = { .end = free_generations };
