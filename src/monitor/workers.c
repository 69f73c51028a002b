/*
 * workers: starts mains and reads their messages.  A table (life.tbl) says what
 * each event means for their generation.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sysexits.h>

#include "arch/arch.h"
#include "conf/conf.h"
#include "conf/divide.h"
#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/control_server.h"
#include "monitor/error_log.h"
#include "monitor/helpers.h"
#include "monitor/hot_lists.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/program_managers.h"
#include "monitor/roots.h"
#include "monitor/socket_files.h"
#include "monitor/workers.h"
#include "shared/accept_token.h"
#include "shared/addresses_conf.h"
#include "shared/channel.h"
#include "shared/helper_slots.h"
#include "shared/listener.h"
#include "shared/main_env.h"
#include "shared/mounts.h"
#include "stats/chain_stats.h"
#include "stats/program_stats.h"
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

static bool		is_announced;	/* the first URL */
static struct orphans	orphans;	/* for the main that is being started */

static void	happen(struct generation *, enum life_event, struct worker *,
		    const char *how);

/*
 * A main
 */

/* Among how many mains the limits are divided: those that drain keep their
 * part until they end. */
static unsigned
count_shares(const struct generation *g)
{
	unsigned	n = 0;

	for (unsigned i = 0; i < g->nworkers; i++)
		n += g->workers[i].wanted || g->workers[i].main != NULL;
	return n;
}

static void
run_main(struct generation *g, void *worker, int channel)
{
	const struct conf	 whole = *g->conf;
	struct worker		*w = worker;
	struct main_env		 env = {
		.conf = g->conf,
		.whole = &whole,
		.channel = channel,
		.listeners = g->listeners,
		.nlisteners = g->nlisteners,
		.descriptors = prepared.descriptors,
		.rules = g->rules,
		.mounts = g->mounts,
		.helper_slots = w->helper_slots,
		.managers = g->manager_sockets,
		.addresses = g->addresses,
		.limiters = g->limiters,
		.accept_token = g->accept_token,
		.main = w->number,
		.mains = arch_mains(g->conf),
		.shares = count_shares(g),
		.workers = arch_workers(g->conf),
		.orphans = orphans.at,
		.norphans = orphans.count,
		.alive_interval = watchdog_interval(g),
	};

	proc_title("amped: main");
	scoreboard_attach(w->stats_slot);
	program_stats_use(g->program_stats);
	chain_stats_use(g->chain_stats);
	conf_divide(g->conf, &whole, w->number, env.shares);
	log_init("main", (enum log_level)g->conf->log.error_level);
	/* Only processes that may wait for a file system have the logs. */
	generation_close_logs(g);
	io_close(&g->error_log);
	error_log_close();
	io_close(&prepared.standard_error.fd);
	io_close(&prepared.helper);
	io_close(&logs_errors.lines[0]);
	io_close(&logs_errors.drops[0]);
	if (io_nonblock(channel) == -1)
		fatal("cannot make the pipe to main non-blocking");
	exit(arch_of(g->conf)->run(&env));
}

static void
on_timer(void *worker)
{
	struct worker	*w = worker;

	happen(w->generation, LIFE_TIMEOUT, w, NULL);
}

/* The limits are divided among another number of mains. */
static void
tell_shares(const struct generation *g, const struct worker *except)
{
	const struct worker	*w;

	if (g != generations.serving || g->state != GENERATION_SERVING)
		return;
	scoreboard_set_shares(count_shares(g));
	for (w = g->workers; w < g->workers + g->nworkers; w++)
		if (w != except && w->channel.fd != -1 && channel_send(
		    w->channel.fd, CHANNEL_SHARES, -1) == -1)
			log_info("a main does not take its share of the "
			    "limits");
}

/* Whether a main that is waited for does not serve. */
static bool
is_late(const struct worker *w)
{
	return w->wanted && !w->joins && !w->ready;
}

/* Whether a main is to have the hot names of another: one more main, or one in
 * place of a main that has died.  If mains die early, a name may be the cause,
 * so each begins without names. */
static bool
needs_names(const struct worker *w)
{
	return w->generation->state == GENERATION_SERVING &&
	    (w->joins || w->backoff != 0) && w->backoff <= BACKOFF_MIN;
}

static void
on_ready(struct worker *w)
{
	const struct generation	*g = w->generation;
	bool			 joined = w->joins;

	w->ready = true;
	if (!w->wanted)			/* main has been told to drain */
		return;
	if (needs_names(w))
		hot_lists_want(w);
	w->joins = false;
	if (g->state == GENERATION_SERVING)
		watchdog_start(w);
	if (joined) {
		tell_shares(g, w);
		return;
	}
	for (unsigned i = 0; i < g->nworkers; i++)
		if (is_late(&g->workers[i]))
			return;
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

/* Main closes its channel when it has finished.  SIGCHLD follows, unless main
 * has files open on a dead file system: then the kernel does not end main. */
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
		helpers_start(w, fd);
	else if (n == 1 && message == CHANNEL_WANT_ACCESS_LOGGER)
		helpers_start_logger(w);
	else if (n == 1 && message == CHANNEL_KILL_HELPER)
		helpers_kill(fd);
	else if (n == 1 && message == CHANNEL_HOT_NAMES_WRITTEN)
		hot_lists_written(w);
	else if (n == 0 || (n == -1 && errno != EINTR && errno != EAGAIN)) {
		events_close(&w->channel);
		happen(w->generation, LIFE_FINISHED, w, NULL);
	}
	io_close(&fd);
}

/* A main has ended, or is left to itself as the kernel may hold it: clears all
 * that it shared. */
static void
lose_main(struct worker *w, const char *how)
{
	struct generation	*g = w->generation;

	child_release(&w->main);
	w->ready = false;
	w->logger_due = false;
	events_unset(&w->timer);
	watchdog_stop(w);
	events_close(&w->channel);
	hot_lists_written(w);
	helpers_main_died(w);
	scoreboard_retire(w->stats_slot, arch_threads(g->conf));
	addresses_conf_main_died(g->addresses, w->number);
	for (size_t i = 0; i < g->conf->nlimiters; i++)
		addresses_conf_main_died(g->limiters[i], w->number);
	accept_token_main_died(g->accept_token, w->number);
	happen(g, LIFE_DIED, w, how);
}

static void
main_died(void *worker, const struct child *c)
{
	struct worker	*w = worker;

	w->main = NULL;
	if ((w->generation->replaced_by != 0 || !w->wanted) && c->status != 0)
		log_errorx("the old main %s: its responses under way are lost",
		    c->how);
	lose_main(w, c->how);
}

static const struct child_kind	kind = {
	.name = "main", .generational = true, .run = run_main,
	.died = main_died
};

static void
start_main(struct worker *w)
{
	static unsigned	last_main_id;
	int		pipe = -1;

	w->main_id = ++last_main_id;
	w->closed = false;
	helpers_find_orphans(w, &orphans);
	w->main = child_start(&kind, w->generation, w, &pipe);
	helpers_free_orphans(&orphans);
	if (w->main == NULL) {
		log_error("cannot start main; trying it again in %d s",
		    BACKOFF_MAX / 1000);
		events_set(&w->timer, BACKOFF_MAX, on_timer, w);
		return;
	}
	/* The monitor must not wait for main, even if main hangs. */
	if (io_nonblock(pipe) == -1)
		fatal("cannot make the pipe to main non-blocking");
	w->started_at = clock_ms();
	events_add(&w->channel, pipe, on_message, w);
}

static void
make_shared(struct generation *g)
{
	g->rules = roots_open_rules(g->conf);
	g->mounts = mounts_new(g->conf);
	g->limiters = addresses_conf_limiters(g->conf, g->nworkers);
	g->addresses = addresses_conf_new(g->conf, g->nworkers,
	    prepared.descriptors);
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
tell_ready(const struct change *c)
{
	const struct generation	*g = c->g;
	char			 url[128];

	for (size_t i = 0; i < g->nlisteners; i++) {
		listener_url(&g->listeners[i], url, sizeof(url));
		log_notice("ready: %s on %s", arch_of(g->conf)->name, url);
		if (prepared.announce == NULL || is_announced)
			continue;
		fprintf(prepared.announce, "serving %s on %s\n",
		    prepared.served, url);
		fflush(prepared.announce);
	}
	is_announced = true;
	COMPONENTS_TELL(serves, (c->g));
}

static void
take_over(const struct change *c)
{
	set_timers(c->g, 0);
	tell_ready(c);
	for (unsigned i = 0; i < c->g->nworkers; i++)
		if (c->g->workers[i].wanted)
			watchdog_start(&c->g->workers[i]);
}

static void
await_end(const struct change *c)
{
	events_set(&c->w->timer, CHILD_KILL_TIMEOUT, on_timer, c->w);
}

static void
give_up_main(const struct change *c)
{
	helpers_kill_all(c->w);
	if (c->w->main != NULL)
		c->w->main->given_up = true;
}

static void
kill_main(const struct change *c)
{
	if (c->w->main == NULL)
		return;
	child_kill(c->w->main);
	lose_main(c->w, c->g->state == GENERATION_STARTING ?
	    "did not answer" : "does not end");
}

static void
start_or_lose(const struct change *c)
{
	if (!c->w->wanted)
		kill_main(c);
	else if (c->w->main != NULL)
		lose_main(c->w, "does not end");
	else
		start_main(c->w);
}

static void
free_generation(const struct change *c)
{
	struct generation	*g = c->g;

	TAILQ_REMOVE(&generations.list, g, link);
	program_managers_release(g);
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
		if (w->main == NULL)
			continue;
		child_kill(w->main);
		lose_main(w, c->how);
	}
	free_generation(c);
	COMPONENTS_TELL(failed, (c->how));
}

/* The first restart is at once.  A server that has not served yet ends.  After
 * a main that was to drain there is none. */
static void
set_restart(const struct change *c)
{
	struct worker	*w = c->w;

	if (!w->wanted) {
		log_info("the main that was not needed %s", c->how);
		tell_shares(c->g, w);
		return;
	}
	if (upgrade_is_on_trial()) {
		if (due.end == 0)
			log_errorx("main %s before it served", c->how);
		due.end = SIGTERM;
		due.exit_status = EX_SOFTWARE;
		return;
	}
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
	for (unsigned i = 0; i < g->nworkers; i++)
		if (g->workers[i].main != NULL)
			return;
	happen(g, LIFE_EMPTY, NULL, NULL);
}

static void
drain_mains(const struct change *c)
{
	struct generation	*g = c->g;
	struct worker		*w;

	generation_close_listeners(g);
	generation_close_managers(g);
	set_timers(g, g->conf->limits.drain + WORKERS_END_TIMEOUT);
	for (unsigned i = 0; i < g->nworkers; i++) {
		w = &g->workers[i];
		watchdog_stop(w);
		hot_lists_ask(w);
		if (w->main == NULL)
			on_closed(w);
		else if (w->wanted)	/* else it drains already */
			kill(w->main->pid, SIGQUIT);
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
	control_server_reloaded(c->g->replaced_by, CONTROL_VERDICT_OK, NULL);
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
	socket_files_drop(g);
	generation_close_listeners(g);
	for (unsigned i = 0; i < g->nworkers; i++) {
		watchdog_stop(&g->workers[i]);
		if (g == generations.serving && hot_lists_are_wanted())
			hot_lists_ask(&g->workers[i]);
		g->workers[i].logger_due = false;
		if (g->workers[i].main != NULL)
			kill(g->workers[i].main->pid, due.ending);
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
	program_managers_start(g);
	for (unsigned i = 0; i < g->nwanted; i++) {
		start_main(&g->workers[i]);
		if (g->workers[i].main != NULL ||
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

bool
workers_add(struct generation *g)
{
	struct worker	*w = g->workers, *end = w + g->nworkers;

	while (w < end && (w->wanted || w->main != NULL))
		w++;
	if (w == end)
		return false;
	w->wanted = w->joins = true;
	w->backoff = 0;
	g->nwanted++;
	stats_count(STATS_WORKERS_ADDED);
	start_main(w);
	return true;
}

/* How little would be lost with a main; -1: it is none, or drains. */
static int
ease_of_loss(const struct worker *w)
{
	return !w->wanted ? -1 : w->main == NULL ? 2 : w->ready ? 0 : 1;
}

void
workers_retire(struct generation *g)
{
	struct worker	*w = g->workers;

	for (unsigned i = 1; i < g->nworkers; i++)
		if (ease_of_loss(&g->workers[i]) >= ease_of_loss(w))
			w = &g->workers[i];
	w->wanted = w->joins = false;
	g->nwanted--;
	stats_count(STATS_WORKERS_RETIRED);
	watchdog_stop(w);
	events_unset(&w->timer);
	if (w->main == NULL) {
		tell_shares(g, w);
		return;
	}
	kill(w->main->pid, SIGQUIT);
	events_set(&w->timer, g->conf->limits.drain + WORKERS_END_TIMEOUT,
	    on_timer, w);
}

static void
end_generations(void)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link)
		happen(g, LIFE_END, NULL, NULL);
}

bool
workers_are_busy(void)
{
	const struct generation	*g;
	unsigned		 draining = 0;

	TAILQ_FOREACH(g, &generations.list, link) {
		if (g->state == GENERATION_STARTING)
			return true;
		draining += g->state == GENERATION_DRAINING;
	}
	return draining >= DRAINING_MAX;
}

static void
free_generations(void)
{
	struct change	c = { 0 };

	while ((c.g = TAILQ_FIRST(&generations.list)) != NULL)
		free_generation(&c);
}

const struct component	workers_component = {
	.stop = end_generations, .end = free_generations
};
