/*
 * monitor: a loop over signals, pipes and deadlines.
 *
 * Signals come as bytes through a pipe, so that poll(2) is the only place to
 * wait.  A helper ends when its main ends, as the pipe between them closes.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/private.h"
#include "shared/listener.h"
#include "stats/scoreboard.h"

#define NO_TIMEOUT	(-1)

static int	signals[2];	/* the pipe of signals */

/* Descriptors that the monitor polls, each with its function. */
struct event_sources {
	struct pollfd	*polls;
	struct {
		void	(*on_readable)(struct monitor *, void *);
		void	*context;
	}		*handlers;
	size_t		 n, capacity, next;
};

static void
on_signal(int signo)
{
	unsigned char	byte = (unsigned char)signo;
	int		saved = errno;

	/* A full pipe wakes the monitor as well. */
	if (write(signals[1], &byte, 1) == -1)
		errno = saved;
	errno = saved;
}

int64_t
monitor_now(void)
{
	struct clock	c = { 0 };

	clock_update(&c);
	return c.ms;
}

int
monitor_signal_fd(void)
{
	return signals[0];
}

void
monitor_close_signals(void)
{
	close(signals[0]);
	close(signals[1]);
}

static void
catch_signals(void)
{
	static const int	caught[] = { SIGTERM, SIGINT, SIGQUIT, SIGCHLD,
				    SIGHUP, SIGUSR1, SIGUSR2 };
	struct sigaction	sa = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };

	if (pipe2(signals, O_CLOEXEC | O_NONBLOCK) == -1)
		fatal("no pipe for signals");
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	proc_signals_unblock();
}

void
monitor_notify_status(const struct monitor *m, const char *words)
{
	const struct generation	*g = m->serving;
	const struct conf	*conf = g->conf;
	char			 url[128] = "nowhere";

	if (g->nlisteners > 0)
		listener_url(&g->listeners[0], url, sizeof(url));
	sd_notify_send(&m->setup->notify, "READY=1\nSTATUS=%s%zu site%s on "
	    "%s%s", words, conf->nsites, conf->nsites == 1 ? "" : "s", url,
	    g->nlisteners > 1 ? " and others" : "");
}

void
monitor_take_charge(struct monitor *m)
{
	pidfile_write_pid(&m->setup->pidfile);
	upgrade_close_rest(&m->setup->inherited);
	monitor_notify_status(m, "serving ");
	standard_error_settle(m);
	proc_daemon_ready(&m->setup->daemon_pipe);
}

static void
end_generation(struct monitor *m, struct generation *g, bool drain)
{
	int64_t	latest = monitor_now() + END_TIMEOUT + g->conf->limits.drain;

	workers_set_deadline(g, 0);
	generation_close_listeners(g);
	if (drain && latest > m->deadline)
		m->deadline = latest;
	for (unsigned i = 0; i < g->nworkers; i++) {
		watchdog_stop(&g->workers[i]);
		if (g->workers[i].main_pid != 0)
			kill(g->workers[i].main_pid, m->end_signal);
	}
}

void
monitor_end(struct monitor *m, int signo)
{
	bool			 drain = signo == SIGQUIT;
	struct generation	*g;

	/* SIGTERM after SIGQUIT cuts a drain short. */
	if (m->end_signal == SIGTERM || m->end_signal == signo)
		return;
	log_notice("stopping%s", drain ? " when the responses under way have "
	    "been sent" : "");
	m->end_signal = drain ? SIGQUIT : SIGTERM;
	m->deadline = monitor_now() + END_TIMEOUT;
	logs_cancel(m);
	reload_cancel(m);
	upgrade_cancel(m);
	TAILQ_FOREACH(g, &m->generations, link)
		end_generation(m, g, drain);
	sd_notify_send(&m->setup->notify, "STOPPING=1\n"
	    "EXTEND_TIMEOUT_USEC=%lld\nSTATUS=stopping%s",
	    (long long)(m->deadline + KILL_TIMEOUT - monitor_now()) * 1000,
	    drain ? " when the responses under way have been sent" : "");
}

static void
describe_status(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "was killed by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d",
		    WEXITSTATUS(status));
}

static void
child_died(struct monitor *m, const struct child *c, int status)
{
	struct worker	*w = c->role == ROLE_MAIN ? workers_find(m, c->pid) :
			    NULL;
	char		 how[100];

	describe_status(status, how, sizeof(how));
	if (w != NULL && w->generation->state == GENERATION_DRAINING &&
	    status != 0)
		log_errorx("the old main %s: its responses under way are lost",
		    how);
	if (w != NULL)
		workers_main_died(m, w, how);
	else if (status != 0 && m->end_signal == 0 && !c->given_up)
		log_warnx("%s %ld %s", children_role_name(c->role),
		    (long)c->pid, how);
}

static void
reap_children(struct monitor *m)
{
	struct child	c;
	char		how[100];
	pid_t		pid;
	int		status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		describe_status(status, how, sizeof(how));
		if (pid == m->error_logger.pid)
			error_log_died(m, how);
		if (pid == m->upgrade.pid)
			upgrade_died(m, how);
		if (piped_log_died(m, pid, how))
			continue;
		if (children_remove(&m->children, pid, &c))
			child_died(m, &c, status);
	}
}

/* The terminal has gone: a server that was started with a directory ends. */
static void
on_hangup(struct monitor *m)
{
	if (m->setup->announce != NULL)
		monitor_end(m, SIGTERM);
	else
		reload_begin(m);
}

static void
handle_signals(struct monitor *m)
{
	unsigned char	byte;

	while (read(signals[0], &byte, 1) == 1)
		switch (byte) {
		case SIGCHLD:
			reap_children(m);
			break;
		case SIGHUP:
			on_hangup(m);
			break;
		case SIGUSR1:
			if (m->end_signal == 0)
				logs_reopen(m);
			break;
		case SIGUSR2:
			upgrade_begin(m);
			break;
		case SIGQUIT:
			if (m->end_signal == 0)
				workers_block_new(m, m->serving);
			/* FALLTHROUGH */
		default:
			monitor_end(m, byte);
			break;
		}
}

static void
keep_earliest(int64_t *at, int64_t due)
{
	if (due != 0 && (*at == 0 || due < *at))
		*at = due;
}

/* Returns the timeout for poll(2). */
static int
get_timeout(const struct monitor *m)
{
	const struct generation	*g;
	const struct opening	*o;
	int64_t			 at = m->end_signal != 0 ? m->deadline : 0,
				    left;

	keep_earliest(&at, m->error_logger.next_at);
	keep_earliest(&at, piped_log_next_at(m));
	TAILQ_FOREACH(g, &m->generations, link) {
		for (unsigned i = 0; m->end_signal == 0 && i < g->nworkers;
		    i++) {
			keep_earliest(&at, g->workers[i].next_at);
			keep_earliest(&at, g->workers[i].watchdog.next_at);
		}
	}
	TAILQ_FOREACH(o, &m->openings, link)
		keep_earliest(&at, o->deadline);
	keep_earliest(&at, m->reload.pid != 0 ? m->reload.deadline : 0);
	keep_earliest(&at, m->upgrade.pid != 0 ? m->upgrade.deadline : 0);
	keep_earliest(&at, control_server_next_at(m));
	if (at == 0)
		return NO_TIMEOUT;
	left = at - monitor_now();
	return left < 0 ? 0 : left < INT32_MAX ? (int)left : INT32_MAX;
}

/* Does all that is due; returns false when the monitor is to end. */
static bool
run_due(struct monitor *m)
{
	if (m->error_logger.next_at != 0 &&
	    monitor_now() >= m->error_logger.next_at)
		error_log_start(m);
	logs_tick(m);
	control_server_tick(m);
	piped_log_tick(m);
	if (m->end_signal == 0) {
		workers_tick(m);
		reload_tick(m);
		upgrade_tick(m);
		return true;
	}
	if (TAILQ_EMPTY(&m->children.list))
		return false;
	/* Children that a dead mount holds are not waited for. */
	if (!m->killed && children_all_given_up(&m->children)) {
		m->killed = true;
		m->deadline = monitor_now() + KILL_TIMEOUT;
	}
	if (monitor_now() < m->deadline)
		return true;
	if (m->killed)
		return false;
	log_warnx("some processes do not end in time: killing them");
	children_kill_all(&m->children);
	m->killed = true;
	m->deadline = monitor_now() + KILL_TIMEOUT;
	return true;
}

static void
worker_readable(struct monitor *m, void *worker)
{
	workers_on_message(m, worker);
}

static void
opening_readable(struct monitor *m, void *opening)
{
	logs_on_opened(m, opening);
}

static void
checker_readable(struct monitor *m, void *unused)
{
	(void)unused;
	reload_on_readable(m);
}

static void
new_monitor_readable(struct monitor *m, void *unused)
{
	(void)unused;
	upgrade_on_new_monitor(m);
}

static void
old_monitor_readable(struct monitor *m, void *unused)
{
	(void)unused;
	upgrade_on_old_monitor(m);
}

static void
signals_readable(struct monitor *m, void *unused)
{
	(void)unused;
	handle_signals(m);
}

static void
control_readable(struct monitor *m, void *unused)
{
	(void)unused;
	control_server_accept(m);
}

static void
client_readable(struct monitor *m, void *client)
{
	control_server_on_readable(m, client);
}

static void
add_source(struct event_sources *e, int fd,
    void (*on_readable)(struct monitor *, void *), void *context)
{
	if (e->n == e->capacity) {
		e->capacity = e->capacity * 2 + 8;
		e->polls = mem_grow(e->polls, e->capacity, sizeof(*e->polls));
		e->handlers = mem_grow(e->handlers, e->capacity,
		    sizeof(*e->handlers));
	}
	e->polls[e->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	e->handlers[e->n].on_readable = on_readable;
	e->handlers[e->n++].context = context;
}

/* Of a client with a complete line, only the end is of interest. */
static void
add_client(struct event_sources *e, struct control_client *c)
{
	bool	reads;
	int	fd = control_server_pollfd(c, &reads);

	add_source(e, fd, client_readable, c);
	if (!reads)
		e->polls[e->n - 1].events = 0;
}

static void
collect_sources(struct event_sources *e, struct monitor *m)
{
	struct generation	*g;
	struct opening		*o;
	struct control_client	*c;

	e->n = 0;
	add_source(e, signals[0], signals_readable, NULL);
	TAILQ_FOREACH(g, &m->generations, link)
		for (unsigned i = 0; i < g->nworkers; i++)
			add_source(e, g->workers[i].channel, worker_readable,
			    &g->workers[i]);
	add_source(e, m->reload.pipe, checker_readable, NULL);
	add_source(e, m->upgrade.pipe, new_monitor_readable, NULL);
	add_source(e, m->upgrade.old_monitor, old_monitor_readable, NULL);
	TAILQ_FOREACH(o, &m->openings, link)
		add_source(e, o->pipe, opening_readable, o);
	add_source(e, m->control.socket.fd, control_readable, NULL);
	TAILQ_FOREACH(c, &m->control.clients, link)
		add_client(e, c);
}

/* Handles one descriptor for each poll(2), since a function may remove the
 * object of another.  All have their turn. */
static void
handle_one(struct event_sources *e, struct monitor *m)
{
	size_t	i;

	for (size_t k = 0; k < e->n; k++) {
		i = (e->next + k) % e->n;
		if (e->polls[i].revents == 0)
			continue;
		e->next = i + 1;
		e->handlers[i].on_readable(m, e->handlers[i].context);
		return;
	}
}

static void
run_loop(struct monitor *m)
{
	struct event_sources	e = { 0 };

	do {
		collect_sources(&e, m);
		if (poll(e.polls, (nfds_t)e.n, get_timeout(m)) > 0)
			handle_one(&e, m);
	} while (run_due(m));
	free(e.polls);
	free(e.handlers);
}

int
monitor_run(struct monitor_setup *setup)
{
	struct monitor		 m = { .setup = setup, .serving = setup->first,
			    .error_logger.pipe = -1 };
	struct generation	*g;

	children_init(&m.children);
	TAILQ_INIT(&m.generations);
	TAILQ_INIT(&m.openings);
	TAILQ_INIT(&m.piped_logs);
	reload_init(&m.reload);
	upgrade_init(&m.upgrade, setup->inherited.old_monitor);
	control_server_init(&m, &setup->control);
	setup->first->state = GENERATION_SERVING;
	TAILQ_INSERT_TAIL(&m.generations, setup->first, link);
	catch_signals();
	scoreboard_open();
	if (error_pipe_open(&m.error_pipe) == -1)
		fatal("no pipe for the error log");
	logs_start_programs(&m);
	error_log_start(&m);
	error_pipe_redirect(&m.error_pipe);
	workers_start(&m, setup->first);
	run_loop(&m);
	control_server_end(&m);
	children_free(&m.children);
	logs_cancel(&m);
	error_log_end(&m);
	pidfile_end(&setup->pidfile);
	sd_notify_close(&setup->notify);
	while ((g = TAILQ_FIRST(&m.generations)) != NULL) {
		TAILQ_REMOVE(&m.generations, g, link);
		generation_free(&g);
	}
	piped_log_end(&m);
	return m.exit_status;
}
