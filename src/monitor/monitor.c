/*
 * monitor: a loop over signals and main's pipe.
 *
 * Signals come as bytes through a pipe of its own, so that there is one place
 * to wait.  A process that main talks to lives as long as that main does: its
 * end of the pipe closes, and it goes.
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

#define FOREVER		(-1)

static int	signals[2];	/* the pipe that they come through */

/* What the monitor listens to. */
struct ears {
	struct pollfd	*polls;
	struct {
		void	(*speaks)(struct monitor *, void *);
		void	*of;
	}		*what;
	size_t		 n, room, turn;
};

static void
on_signal(int signo)
{
	unsigned char	byte = (unsigned char)signo;
	int		saved = errno;

	/* Full: then there is enough in it to wake up for. */
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
monitor_signals(void)
{
	return signals[0];
}

void
monitor_leave_signals(void)
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
monitor_tell_status(const struct monitor *m, const char *words)
{
	const struct generation	*g = m->serving;
	const struct conf	*conf = g->conf;
	char			 url[128] = "nowhere";

	if (g->nlisteners > 0)
		listener_url(&g->listeners[0], url, sizeof(url));
	notify_say(&m->setup->notify, "READY=1\nSTATUS=%s%zu site%s on %s%s",
	    words, conf->nsites, conf->nsites == 1 ? "" : "s", url,
	    g->nlisteners > 1 ? " and others" : "");
}

void
monitor_in_charge(struct monitor *m)
{
	pid_write(&m->setup->pid);
	heritage_settle(&m->setup->heritage);
	monitor_tell_status(m, "serving ");
	standard_settle(m);
	proc_daemon_done(&m->setup->waiting);
}

static void
end_reign(struct monitor *m, struct generation *g, bool drain)
{
	int64_t	latest = monitor_now() + GRACE + g->conf->limits.drain;

	mains_due(g, 0);
	generation_close_listeners(g);
	if (drain && latest > m->deadline)
		m->deadline = latest;
	for (unsigned i = 0; i < g->nworkers; i++) {
		pulse_end(&g->workers[i]);
		if (g->workers[i].main != 0)
			kill(g->workers[i].main, m->ending);
	}
}

void
monitor_end(struct monitor *m, int signo)
{
	bool		 drain = signo == SIGQUIT;
	struct generation	*g;

	/* A second, harder one shortens a drain. */
	if (m->ending == SIGTERM || m->ending == signo)
		return;
	log_notice("stopping%s", drain ? " when the responses under way have "
	    "been sent" : "");
	m->ending = drain ? SIGQUIT : SIGTERM;
	m->deadline = monitor_now() + GRACE;
	logs_forget(m);
	reload_forget(m);
	upgrade_forget(m);
	TAILQ_FOREACH(g, &m->generations, link)
		end_reign(m, g, drain);
	notify_say(&m->setup->notify, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld\n"
	    "STATUS=stopping%s", (long long)(m->deadline + KILLED -
	    monitor_now()) * 1000, drain ?
	    " when the responses under way have been sent" : "");
}

static void
describe(int status, char *text, size_t size)
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
	struct worker	*w = c->role == ROLE_MAIN ? mains_find(m, c->pid) :
			    NULL;
	char		 how[100];

	describe(status, how, sizeof(how));
	if (w != NULL && w->generation->state == GENERATION_DRAINING &&
	    status != 0)
		log_errorx("the main before %s: what it had begun is lost",
		    how);
	if (w != NULL)
		mains_died(m, w, how);
	else if (status != 0 && m->ending == 0 && !c->given_up)
		log_warnx("%s %ld %s", role_name(c->role), (long)c->pid, how);
}

static void
reap(struct monitor *m)
{
	struct child	c;
	char		how[100];
	pid_t		pid;
	int		status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		describe(status, how, sizeof(how));
		if (pid == m->scribe.pid)
			scribes_died(m, how);
		if (pid == m->upgrade.pid)
			upgrade_died(m, how);
		if (programs_died(m, pid, how))
			continue;
		if (children_take(&m->children, pid, &c))
			child_died(m, &c, status);
	}
}

/* Its terminal has gone: so does a server that was only being tried. */
static void
hang_up(struct monitor *m)
{
	if (m->setup->announce != NULL)
		monitor_end(m, SIGTERM);
	else
		reload_begin(m);
}

static void
signals_came(struct monitor *m)
{
	unsigned char	byte;

	while (read(signals[0], &byte, 1) == 1)
		switch (byte) {
		case SIGCHLD:
			reap(m);
			break;
		case SIGHUP:
			hang_up(m);
			break;
		case SIGUSR1:
			if (m->ending == 0)
				logs_reopen(m);
			break;
		case SIGUSR2:
			upgrade_begin(m);
			break;
		case SIGQUIT:
			if (m->ending == 0)
				mains_bolt(m, m->serving);
			/* FALLTHROUGH */
		default:
			monitor_end(m, byte);
			break;
		}
}

static void
sooner(int64_t *at, int64_t due)
{
	if (due != 0 && (*at == 0 || due < *at))
		*at = due;
}

/* ms until something is to be done without being woken. */
static int
patience(const struct monitor *m)
{
	const struct generation	*g;
	const struct opening	*o;
	int64_t			 at = m->ending != 0 ? m->deadline : 0, left;

	sooner(&at, m->scribe.due);
	sooner(&at, programs_due(m));
	TAILQ_FOREACH(g, &m->generations, link) {
		for (unsigned i = 0; m->ending == 0 && i < g->nworkers; i++) {
			sooner(&at, g->workers[i].due);
			sooner(&at, g->workers[i].pulse.due);
		}
	}
	TAILQ_FOREACH(o, &m->openings, link)
		sooner(&at, o->deadline);
	sooner(&at, m->reading.pid != 0 ? m->reading.deadline : 0);
	sooner(&at, m->upgrade.pid != 0 ? m->upgrade.deadline : 0);
	sooner(&at, ctl_clients_due(m));
	if (at == 0)
		return FOREVER;
	left = at - monitor_now();
	return left < 0 ? 0 : left < INT32_MAX ? (int)left : INT32_MAX;
}

/* What is due; false when it is time to go. */
static bool
look_around(struct monitor *m)
{
	if (m->scribe.due != 0 && monitor_now() >= m->scribe.due)
		scribes_start(m);
	logs_look(m);
	ctl_clients_look(m);
	programs_look(m);
	if (m->ending == 0) {
		mains_look(m);
		reload_look(m);
		upgrade_look(m);
		return true;
	}
	if (TAILQ_EMPTY(&m->children.list))
		return false;
	/* What a dead mount holds is not waited for. */
	if (!m->killed && children_all_given_up(&m->children)) {
		m->killed = true;
		m->deadline = monitor_now() + KILLED;
	}
	if (monitor_now() < m->deadline)
		return true;
	if (m->killed)
		return false;
	log_warnx("some processes do not end: killing them");
	children_kill(&m->children);
	m->killed = true;
	m->deadline = monitor_now() + KILLED;
	return true;
}

static void
worker_speaks(struct monitor *m, void *worker)
{
	mains_speak(m, worker);
}

static void
opening_speaks(struct monitor *m, void *opening)
{
	logs_opened(m, opening);
}

static void
reader_speaks(struct monitor *m, void *unused)
{
	(void)unused;
	reload_heard(m);
}

static void
successor_speaks(struct monitor *m, void *unused)
{
	(void)unused;
	upgrade_heard(m);
}

static void
predecessor_speaks(struct monitor *m, void *unused)
{
	(void)unused;
	upgrade_answered(m);
}

static void
signal_speaks(struct monitor *m, void *unused)
{
	(void)unused;
	signals_came(m);
}

static void
control_speaks(struct monitor *m, void *unused)
{
	(void)unused;
	ctl_clients_knock(m);
}

static void
client_speaks(struct monitor *m, void *client)
{
	ctl_clients_hear(m, client);
}

static void
add_ear(struct ears *e, int fd, void (*speaks)(struct monitor *, void *),
    void *of)
{
	if (e->n == e->room) {
		e->room = e->room * 2 + 8;
		e->polls = mem_grow(e->polls, e->room, sizeof(*e->polls));
		e->what = mem_grow(e->what, e->room, sizeof(*e->what));
	}
	e->polls[e->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	e->what[e->n].speaks = speaks;
	e->what[e->n++].of = of;
}

/* Who has said all that they want to say is to be noticed when they go. */
static void
add_client(struct ears *e, struct ctl_client *c)
{
	bool	says;
	int	fd = ctl_clients_ear(c, &says);

	add_ear(e, fd, client_speaks, c);
	if (!says)
		e->polls[e->n - 1].events = 0;
}

static void
listen_to(struct ears *e, struct monitor *m)
{
	struct generation		*g;
	struct opening		*o;
	struct ctl_client	*c;

	e->n = 0;
	add_ear(e, signals[0], signal_speaks, NULL);
	TAILQ_FOREACH(g, &m->generations, link)
		for (unsigned i = 0; i < g->nworkers; i++)
			add_ear(e, g->workers[i].control, worker_speaks,
			    &g->workers[i]);
	add_ear(e, m->reading.pipe, reader_speaks, NULL);
	add_ear(e, m->upgrade.pipe, successor_speaks, NULL);
	add_ear(e, m->upgrade.before, predecessor_speaks, NULL);
	TAILQ_FOREACH(o, &m->openings, link)
		add_ear(e, o->pipe, opening_speaks, o);
	add_ear(e, m->ctl.socket.fd, control_speaks, NULL);
	TAILQ_FOREACH(c, &m->ctl.list, link)
		add_client(e, c);
}

/* One at a time, since whoever is heard may be the end of another; all have
 * their turn. */
static void
hear_one(struct ears *e, struct monitor *m)
{
	size_t	i;

	for (size_t k = 0; k < e->n; k++) {
		i = (e->turn + k) % e->n;
		if (e->polls[i].revents == 0)
			continue;
		e->turn = i + 1;
		e->what[i].speaks(m, e->what[i].of);
		return;
	}
}

static void
loop(struct monitor *m)
{
	struct ears	e = { 0 };

	do {
		listen_to(&e, m);
		if (poll(e.polls, (nfds_t)e.n, patience(m)) > 0)
			hear_one(&e, m);
	} while (look_around(m));
	free(e.polls);
	free(e.what);
}

int
monitor_run(struct monitor_setup *setup)
{
	struct monitor	 m = { .setup = setup, .serving = setup->first,
			    .scribe.pipe = -1 };
	struct generation	*g;

	children_init(&m.children);
	TAILQ_INIT(&m.generations);
	TAILQ_INIT(&m.openings);
	TAILQ_INIT(&m.programs);
	reload_init(&m.reading);
	upgrade_init(&m.upgrade, setup->heritage.predecessor);
	ctl_clients_init(&m, &setup->control);
	setup->first->state = GENERATION_SERVING;
	TAILQ_INSERT_TAIL(&m.generations, setup->first, link);
	catch_signals();
	board_open();
	if (errors_open(&m.errors) == -1)
		fatal("no pipe for the error log");
	logs_begin(&m);
	scribes_start(&m);
	errors_speak(&m.errors);
	mains_begin(&m, setup->first);
	loop(&m);
	ctl_clients_end(&m);
	children_free(&m.children);
	logs_forget(&m);
	scribes_end(&m);
	pid_end(&setup->pid);
	notify_close(&setup->notify);
	while ((g = TAILQ_FIRST(&m.generations)) != NULL) {
		TAILQ_REMOVE(&m.generations, g, link);
		generation_free(&g);
	}
	programs_end(&m);
	return m.status;
}
