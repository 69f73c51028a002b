/*
 * workers: starts mains, gives them helpers, and starts mains again that die.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "arch/arch.h"
#include "conf/conf.h"
#include "conf/divide.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor/helper_rules.h"
#include "monitor/private.h"
#include "shared/accept_token.h"
#include "shared/addresses_conf.h"
#include "shared/channel.h"
#include "shared/helper_slots.h"
#include "shared/listener.h"
#include "shared/main_env.h"
#include "shared/mounts.h"
#include "stats/scoreboard.h"

#define BACKOFF_MIN	50	/* ms until main is started again ... */
#define BACKOFF_MAX	5000	/* ... and if mains keep dying early */
#define MIN_LIFETIME	10000	/* ms; a shorter life is early */

static _Noreturn void
main_entry(struct monitor *m, struct worker *w, int control,
    const struct orphans *orphans)
{
	struct generation	*g = w->generation;
	struct main_env		 env = {
		.conf = g->conf,
		.channel = control,
		.listeners = g->listeners,
		.nlisteners = g->nlisteners,
		.descriptors = m->setup->descriptors,
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
		.alive_interval = watchdog_interval(m, g),
	};

	proc_title("amped: main");
	scoreboard_attach(w->stats_slot);
	conf_divide(g->conf, w->number, g->nworkers);
	log_init("main", (enum log_level)g->conf->log.error_level);
	close(m->setup->helper);
	/* Only processes that may wait for a file system have the logs. */
	io_close(&g->access_log);
	io_close(&g->error_log);
	io_close(&m->setup->error_log);
	io_close(&m->setup->standard_error.fd);
	error_pipe_close_readers(&m->error_pipe);
	if (io_nonblock(control) == -1)
		fatal("cannot make the pipe to main non-blocking");
	exit(arch_of(g->conf)->run(&env));
}

static void
start_main(struct monitor *m, struct worker *w)
{
	struct orphans	orphans;
	int		pipe = -1;
	pid_t		pid;

	w->main_id = ++m->last_main_id;
	w->closed = false;
	children_find_orphans(&m->children, w->number, w->generation->nworkers,
	    &orphans);
	pid = spawn(m, w->generation, ROLE_MAIN, &pipe);
	if (pid == 0)
		main_entry(m, w, pipe, &orphans);
	children_free_orphans(&orphans);
	w->next_at = 0;
	if (pid == -1) {
		log_error("cannot start main; trying it again in %d s",
		    BACKOFF_MAX / 1000);
		w->next_at = monitor_now() + BACKOFF_MAX;
		return;
	}
	children_add(&m->children, pid, ROLE_MAIN, w->main_id, pipe);
	/* The monitor must not wait for main, even if main hangs. */
	if (io_nonblock(pipe) == -1)
		fatal("cannot make the pipe to main non-blocking");
	w->main_pid = pid;
	w->channel = pipe;
	w->started_at = monitor_now();
}

void
workers_set_deadline(struct generation *g, int64_t when)
{
	for (unsigned i = 0; i < g->nworkers; i++)
		g->workers[i].next_at = when;
}

bool
workers_start(struct monitor *m, struct generation *g)
{
	struct worker	*w;

	g->rules = helper_rules_open(g->conf);
	g->mounts = mounts_new(g->conf);
	g->addresses = addresses_conf_new(g->conf, g->nworkers,
	    m->setup->descriptors);
	if (arch_one_client(g->conf))
		g->accept_token = accept_token_new(g->nworkers);
	for (unsigned i = 0; i < g->nworkers; i++) {
		w = &g->workers[i];
		/* For its helpers and as many that it has given up. */
		w->helper_slots =
		    helper_slots_new(2 * (size_t)g->conf->helpers_max);
		w->stats_slot = scoreboard_alloc(g->number,
		    arch_threads(g->conf));
		start_main(m, w);
		if (w->main_pid == 0 && g->state == GENERATION_STARTING) {
			workers_main_died(m, w, "could not be started");
			return false;
		}
	}
	return true;
}

/* Whether main has all children of a role that the conf allows.  Main may have
 * been taken over by a client, so its word is not enough. */
static bool
has_enough(const struct monitor *m, const struct worker *w, enum role role)
{
	const struct generation	*g = w->generation;
	int64_t			 all = g->nworkers, max = 1;

	if (role != ROLE_ACCESS_LOGGER) {
		all = g->conf->helpers_max;
		max = conf_divide_number(all, w->number, g->nworkers, 1);
	}
	return children_has_enough(&m->children, role, w->main_id, max, all);
}

/* Main has closed its end of the channel; the end is handled elsewhere. */
static bool
is_pipe_closed(int error)
{
	return error == EPIPE || error == ECONNRESET;
}

/* Starts a child for main, and sends main the other end of its pipe. */
static void
start_helper(struct monitor *m, struct worker *w, enum role role)
{
	enum channel_message	answer = role == ROLE_ACCESS_LOGGER ?
				    CHANNEL_ACCESS_LOGGER : CHANNEL_HELPER;
	int			pipe = -1;
	pid_t			pid = -1;

	if (has_enough(m, w, role))
		log_warnx("not starting a %s: too many exist, and most of them "
		    "do not end; see which file system does not answer",
		    children_role_name(role));
	else {
		pid = spawn(m, w->generation, role, &pipe);
		if (pid == 0)
			spawn_helper(m, w->generation, pipe, role);
		if (pid == -1)
			log_error("cannot start a %s",
			    children_role_name(role));
		else
			children_add(&m->children, pid, role, w->main_id,
			    pipe);
	}
	if (channel_send(w->channel, answer, pipe) == -1 &&
	    !is_pipe_closed(errno))
		log_warn("cannot give main its %s", children_role_name(role));
	io_close(&pipe);
}

/* Gives main another access logger, which main changes over to.  If too many
 * earlier ones still run, does that as soon as one has ended. */
static void
start_access_logger(struct monitor *m, struct worker *w)
{
	w->logger_due = w->channel != -1 && has_enough(m, w,
	    ROLE_ACCESS_LOGGER);
	if (w->channel != -1 && !w->logger_due)
		start_helper(m, w, ROLE_ACCESS_LOGGER);
}

void
workers_new_access_logger(struct monitor *m, struct generation *g)
{
	for (unsigned i = 0; i < g->nworkers; i++)
		start_access_logger(m, &g->workers[i]);
}

static void
announce_ready(struct monitor *m, const struct generation *g)
{
	struct monitor_setup	*setup = m->setup;
	char			 url[128];

	for (size_t i = 0; i < g->nlisteners; i++) {
		listener_url(&g->listeners[i], url, sizeof(url));
		log_notice("ready: %s on %s", arch_of(g->conf)->name, url);
		if (setup->announce != NULL && !m->announced) {
			fprintf(setup->announce, "serving %s on %s\n",
			    setup->served, url);
			fflush(setup->announce);
		}
	}
	m->announced = true;
}

/* The main accepts no more: new clients come to the mains after it. */
static void
on_closed(struct monitor *m, struct worker *w)
{
	struct generation	*g = w->generation;

	w->closed = true;
	for (unsigned i = 0; i < g->nworkers; i++)
		if (!g->workers[i].closed)
			return;
	if (g->state != GENERATION_DRAINING || g->closed)
		return;
	g->closed = true;
	log_notice("the conf has been read again, and is in force");
	control_server_reloaded(m, g->replaced_by, CONTROL_VERDICT_OK, NULL);
}

static void
on_ready(struct monitor *m, struct worker *w)
{
	struct generation	*g = w->generation;

	w->ready = true;
	if (m->end_signal != 0 || !generation_is_serving(g))
		return;
	announce_ready(m, g);
	if (g->state == GENERATION_STARTING)
		reload_on_ready(m, g);
	else if (m->control.pending.fd != -1 && m->control.socket.fd == -1)
		control_server_take_over(m);
	upgrade_on_ready(m);
}

/* Main has closed its channel, having finished.  SIGCHLD follows, unless main
 * has files open on a dead file system: then the kernel does not end main. */
static void
on_channel_end(struct monitor *m, struct worker *w)
{
	io_close(&w->channel);
	if (m->end_signal == 0) {
		w->next_at = monitor_now() + KILL_TIMEOUT;
		return;
	}
	children_kill_helpers(&m->children, w->main_id);
	children_give_up(&m->children, w->main_pid);
}

void
workers_on_message(struct monitor *m, struct worker *w)
{
	enum channel_message	message;
	int			fd = -1, n;

	n = channel_recv(w->channel, &message, &fd);
	if (n == 1 && message == CHANNEL_READY)
		on_ready(m, w);
	else if (n == 1 && message == CHANNEL_DRAINING)
		on_closed(m, w);
	else if (n == 1 && message == CHANNEL_ALIVE)
		watchdog_on_alive(m, w);
	else if (n == 1 && message == CHANNEL_WANT_HELPER)
		start_helper(m, w, ROLE_HELPER);
	else if (n == 1 && message == CHANNEL_WANT_ACCESS_LOGGER)
		start_helper(m, w, ROLE_ACCESS_LOGGER);
	else if (n == 1 && message == CHANNEL_KILL_HELPER)
		children_kill_helper(&m->children, fd);
	else if (n == 0 || (n == -1 && errno != EINTR && errno != EAGAIN))
		on_channel_end(m, w);
	io_close(&fd);
}

/* The first restart is at once. */
static void
schedule_restart(struct worker *w)
{
	int64_t	now = monitor_now();

	w->backoff = now - w->started_at >= MIN_LIFETIME || w->backoff == 0 ?
	    BACKOFF_MIN : w->backoff * 2;
	if (w->backoff > BACKOFF_MAX)
		w->backoff = BACKOFF_MAX;
	w->next_at = w->backoff == BACKOFF_MIN ? now : now + w->backoff;
}

/* The main of a worker has ended or was given up: clears all that it shared. */
static void
cleanup_worker(struct monitor *m, struct worker *w)
{
	w->main_pid = 0;
	w->ready = false;
	w->next_at = 0;
	watchdog_stop(w);
	io_close(&w->channel);
	/* A helper that hangs does not notice the end of its main. */
	children_kill_helpers(&m->children, w->main_id);
	children_mark_orphans(&m->children, w->main_id, w->helper_slots,
	    w->number);
	scoreboard_retire(w->stats_slot, arch_threads(w->generation->conf));
	addresses_conf_main_died(w->generation->addresses, w->number);
	accept_token_main_died(w->generation->accept_token, w->number);
}

/* A generation ends with its last main. */
static void
free_if_no_mains(struct monitor *m, struct generation *g)
{
	if (generation_count_mains(g) > 0)
		return;
	TAILQ_REMOVE(&m->generations, g, link);
	generation_free(&g);
}

/* A main has ended before all served: ends the others. */
static void
abort_generation(struct monitor *m, struct generation *g)
{
	for (unsigned i = 0; i < g->nworkers; i++) {
		if (g->workers[i].main_pid == 0)
			continue;
		children_give_up(&m->children, g->workers[i].main_pid);
		kill(g->workers[i].main_pid, SIGKILL);
		cleanup_worker(m, &g->workers[i]);
	}
	free_if_no_mains(m, g);
}

void
workers_main_died(struct monitor *m, struct worker *w, const char *how)
{
	struct generation	*g = w->generation;

	cleanup_worker(m, w);
	if (m->end_signal != 0)
		return;
	switch (g->state) {
	case GENERATION_SERVING:
		if (upgrade_is_on_trial(m) || m->setup->daemon_pipe != -1) {
			log_errorx("main %s before it served", how);
			m->exit_status = EX_SOFTWARE;
			monitor_end(m, SIGTERM);
			break;
		}
		stats_count(STATS_MAIN_DEATHS);
		schedule_restart(w);
		log_errorx("main %s; starting another", how);
		break;
	case GENERATION_STARTING:
		abort_generation(m, g);
		reload_failed(m, how);
		break;
	case GENERATION_DRAINING:
		on_closed(m, w);
		free_if_no_mains(m, g);
		log_info("the old main %s", how);
		break;
	}
}

void
workers_block_new(const struct monitor *m, const struct generation *g)
{
	const struct inherited	*h = &m->setup->inherited;
	const struct generation	*other = m->serving == g ? NULL : m->serving;
	const struct listener	*l = g->listeners;

	/* If this monitor fails, the old one serves these sockets. */
	if (upgrade_is_waiting(m))
		return;
	for (size_t i = 0; i < g->nlisteners; i++, l++)
		if (!upgrade_is_permanent(h, l) && (other == NULL ||
		    !listener_has(other->listeners, other->nlisteners, l->fd)))
			listener_block_new(l);
}

void
workers_drain(struct monitor *m, struct generation *g)
{
	struct worker	*w;

	g->state = GENERATION_DRAINING;
	workers_block_new(m, g);
	generation_close_listeners(g);
	workers_set_deadline(g, monitor_now() + g->conf->limits.drain +
	    END_TIMEOUT);
	for (unsigned i = 0; i < g->nworkers; i++) {
		w = &g->workers[i];
		watchdog_stop(w);
		if (w->main_pid != 0)
			kill(w->main_pid, SIGQUIT);
		else
			on_closed(m, w);
	}
	free_if_no_mains(m, g);
}

/* Kills a main and does not wait for its end: the kernel may hold it. */
static void
give_up_main(struct monitor *m, struct worker *w)
{
	if (w->generation->state != GENERATION_SERVING) {
		kill(w->main_pid, SIGKILL);
		children_give_up(&m->children, w->main_pid);
	}
	workers_main_died(m, w, w->generation->state == GENERATION_STARTING ?
	    "did not answer" : "does not end");
}

/* Returns true if the generation may have been freed. */
static bool
tick_worker(struct monitor *m, struct worker *w)
{
	if (w->logger_due)
		start_access_logger(m, w);
	watchdog_tick(m, w);
	if (w->next_at == 0 || monitor_now() < w->next_at)
		return false;
	if (w->main_pid != 0)
		give_up_main(m, w);
	else if (w->generation->state == GENERATION_SERVING)
		start_main(m, w);
	else
		w->next_at = 0;
	return true;
}

static void
tick_generation(struct monitor *m, struct generation *g)
{
	unsigned	n = g->nworkers;

	/* The other workers are next when the monitor looks again. */
	for (unsigned i = 0; i < n; i++)
		if (tick_worker(m, &g->workers[i]))
			break;
}

void
workers_tick(struct monitor *m)
{
	struct generation	*g, *next;

	for (g = TAILQ_FIRST(&m->generations); g != NULL; g = next) {
		next = TAILQ_NEXT(g, link);
		tick_generation(m, g);
	}
}

struct worker *
workers_find(struct monitor *m, pid_t main)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &m->generations, link)
		for (unsigned i = 0; i < g->nworkers; i++)
			if (g->workers[i].main_pid == main)
				return &g->workers[i];
	return NULL;
}

struct generation *
workers_find_generation(struct monitor *m, unsigned number)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &m->generations, link)
		if (g->number == number)
			break;
	return g;
}
