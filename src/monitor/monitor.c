/*
 * monitor: joins the components: signals, and what concerns several of them.
 */
#include <signal.h>
#include <string.h>
#include <sysexits.h>

#include "arch/arch.h"
#include "conf/conf.h"
#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor/component.h"
#include "monitor/control_server.h"
#include "monitor/error_log.h"
#include "monitor/error_pipe.h"
#include "monitor/monitor.h"
#include "monitor/piped_log.h"
#include "monitor/reload.h"
#include "monitor/reopen.h"
#include "monitor/spawn.h"
#include "monitor/upgrade.h"
#include "monitor/workers.h"
#include "shared/listener.h"
#include "stats/scoreboard.h"
#include "stats/stats.h"

#define STATUS_MAX	160	/* bytes of an error for a supervisor */

static const struct component *const	components[] = {
#define X(name) &name##_component,
	COMPONENTS(X)
#undef X
};

#define COMPONENT_COUNT	(sizeof(components) / sizeof(components[0]))

static struct {
	struct monitor_setup	*setup;
	bool			 reload_due;	/* once nothing is under way */
	bool			 upgrade_due;
	bool			 announced;
	int			 end_signal;	/* ends the server; 0: none */
	struct timer		 deadline;	/* of that end */
	bool			 is_late;	/* the deadline has passed */
	bool			 killed;	/* children that were left at
						 * the deadline */
	int			 exit_status;
} monitor;

/* Tells the supervisor what is served, behind these words. */
static void
notify_status(const char *words)
{
	const struct generation	*g = generations.serving;
	const struct conf	*conf = g->conf;
	char			 url[128] = "nowhere";

	if (g->nlisteners > 0)
		listener_url(&g->listeners[0], url, sizeof(url));
	sd_notify_send(&monitor.setup->notify, "READY=1\nSTATUS=%s%zu site%s "
	    "on %s%s", words, conf->nsites, conf->nsites == 1 ? "" : "s", url,
	    g->nlisteners > 1 ? " and others" : "");
}

/*
 * The end
 */

static void
on_deadline(void *unused)
{
	(void)unused;
	monitor.is_late = true;
}

/* Returns for how long (ms) mains may go on. */
static int64_t
find_latest_end(bool drain)
{
	const struct generation	*g;
	int64_t			 latest = 0;

	TAILQ_FOREACH(g, &generations.list, link)
		if (drain && g->conf->limits.drain > latest)
			latest = g->conf->limits.drain;
	return WORKERS_END_TIMEOUT + latest;
}

/* Ends the server as this signal does. */
static void
end_server(int signo)
{
	bool	drain = signo == SIGQUIT;
	int64_t	latest = find_latest_end(drain);

	/* SIGTERM after SIGQUIT cuts a drain short. */
	if (monitor.end_signal == SIGTERM || monitor.end_signal == signo)
		return;
	log_notice("stopping%s", drain ? " when the responses under way have "
	    "been sent" : "");
	monitor.end_signal = drain ? SIGQUIT : SIGTERM;
	events_set(&monitor.deadline, latest, on_deadline, NULL);
	children_be_quiet();
	for (size_t i = 0; i < COMPONENT_COUNT; i++)
		if (components[i]->stop != NULL)
			components[i]->stop();
	workers_end(monitor.end_signal);
	sd_notify_send(&monitor.setup->notify, "STOPPING=1\n"
	    "EXTEND_TIMEOUT_USEC=%lld\nSTATUS=stopping%s",
	    (long long)(latest + CHILDREN_KILL_TIMEOUT) * 1000,
	    drain ? " when the responses under way have been sent" : "");
}

/* Whether the server has ended; kills what does not end in time. */
static bool
has_ended(void)
{
	if (monitor.end_signal == 0)
		return false;
	if (!children_are_left())
		return true;
	/* Children that a dead mount holds are not waited for. */
	if (!monitor.killed && children_all_given_up()) {
		monitor.killed = true;
		monitor.is_late = false;
		events_set(&monitor.deadline, CHILDREN_KILL_TIMEOUT,
		    on_deadline, NULL);
	}
	if (!monitor.is_late || monitor.killed)
		return monitor.is_late;
	log_warnx("some processes do not end in time: killing them");
	children_kill_all();
	monitor.killed = true;
	monitor.is_late = false;
	events_set(&monitor.deadline, CHILDREN_KILL_TIMEOUT, on_deadline, NULL);
	return false;
}

/*
 * Reload, upgrade and reopen: what is due
 */

/* Begins what is due, as soon as nothing else is under way. */
static void
begin_due(void)
{
	bool	due = monitor.reload_due || monitor.upgrade_due;

	if (!due || monitor.end_signal != 0 || reload_is_busy() ||
	    workers_are_busy() || upgrade_is_busy())
		return;
	if (monitor.reload_due) {
		monitor.reload_due = false;
		reload_begin();
	} else {
		monitor.upgrade_due = false;
		upgrade_begin();
	}
}

static void
want_reload(void)
{
	monitor.reload_due = true;
	begin_due();
}

static void
want_upgrade(void)
{
	monitor.upgrade_due = true;
	begin_due();
}

/* Passes the first error on. */
static void
on_reload_failed(unsigned reload, bool is_conf_error, struct buf *errors)
{
	const char	*text = buf_string(errors);
	int		 first = (int)strcspn(text, "\n");
	char		 words[STATUS_MAX + 100];

	control_server_keep();
	stats_count(STATS_RELOADS_FAILED);
	log_errorx("the conf in force stays");
	snprintf(words, sizeof(words), "the conf could not be read again"
	    "%s%.*s; still serving ", first > 0 ? ": " : "",
	    first < STATUS_MAX ? first : STATUS_MAX, text);
	notify_status(words);
	control_server_reloaded(reload, is_conf_error ? CONTROL_VERDICT_CONF :
	    CONTROL_VERDICT_FAILED, errors);
}

/*
 * Generations
 */

static void
announce_ready(const struct generation *g)
{
	struct monitor_setup	*setup = monitor.setup;
	char			 url[128];

	for (size_t i = 0; i < g->nlisteners; i++) {
		listener_url(&g->listeners[i], url, sizeof(url));
		log_notice("ready: %s on %s", arch_of(g->conf)->name, url);
		if (setup->announce != NULL && !monitor.announced) {
			fprintf(setup->announce, "serving %s on %s\n",
			    setup->served, url);
			fflush(setup->announce);
		}
	}
	monitor.announced = true;
}

/* Blocks new connections to a generation that ends.  If this monitor fails, the
 * old one serves these sockets. */
static void
block_new(const struct generation *g)
{
	if (!upgrade_is_waiting())
		upgrade_block_own(&monitor.setup->inherited, g,
		    generations.serving == g ? NULL : generations.serving);
}

/* A new generation serves: drains the one before. */
static void
put_in_force(struct generation *g)
{
	struct generation	*before = generations.serving;
	struct monitor_setup	*setup = monitor.setup;
	int			 log;

	generations.serving = g;
	stats_count(STATS_RELOADS);
	scoreboard_set_conf((int64_t)stats[STATS_RELOADS] + 1);
	log_init("monitor", (enum log_level)g->conf->log.error_level);
	if (g->error_log != -1) {
		log = g->error_log;
		g->error_log = -1;	/* the error logger closes it else */
		error_log_use(log);
	}
	standard_error_settle(&setup->standard_error, g->conf);
	pidfile_change(&setup->pidfile, g->conf->pid);
	notify_status("serving ");
	control_server_take_over();
	before->replaced_by = reload_number();
	block_new(before);
	workers_replace(before);
	if (reload_end())
		reopen_begin();
}

static void
on_serves(struct generation *g)
{
	announce_ready(g);
	if (g == generations.serving)
		control_server_begin();
	else
		put_in_force(g);
	upgrade_on_ready();
}

static void
on_in_force(unsigned reload)
{
	control_server_reloaded(reload, CONTROL_VERDICT_OK, NULL);
}

static bool
on_main_died(const char *how)
{
	if (!upgrade_is_on_trial() && monitor.setup->daemon_pipe == -1)
		return false;
	log_errorx("main %s before it served", how);
	monitor.exit_status = EX_SOFTWARE;
	end_server(SIGTERM);
	return true;
}

static void
leave_in_main(void)
{
	spawn_close_helper();
	error_log_close();
	io_close(&monitor.setup->standard_error.fd);
	error_pipe_close_readers();
}

static void
on_all_alive(void)
{
	if (monitor.setup->notify.watchdog != 0 && !upgrade_is_waiting())
		sd_notify_send(&monitor.setup->notify, "WATCHDOG=1");
}

static void
take_charge(void)
{
	struct monitor_setup	*setup = monitor.setup;

	pidfile_write_pid(&setup->pidfile);
	upgrade_close_rest(&setup->inherited);
	notify_status("serving ");
	standard_error_settle(&setup->standard_error,
	    generations.serving->conf);
	proc_daemon_ready(&setup->daemon_pipe);
}

static void
hand_over(void)
{
	end_server(SIGQUIT);
}

/*
 * Signals
 */

/* The terminal has gone: a server that was started with a directory ends. */
static void
on_hangup(void)
{
	if (monitor.setup->announce != NULL)
		end_server(SIGTERM);
	else
		want_reload();
}

static void
on_signal(int signo)
{
	switch (signo) {
	case SIGCHLD:
		children_reap();
		break;
	case SIGHUP:
		on_hangup();
		break;
	case SIGUSR1:
		if (monitor.end_signal == 0)
			reopen_begin();
		break;
	case SIGUSR2:
		want_upgrade();
		break;
	case SIGQUIT:
		if (monitor.end_signal == 0)
			block_new(generations.serving);
		/* FALLTHROUGH */
	default:
		end_server(signo);
		break;
	}
}

/*
 * The whole
 */

static void
close_descriptors(void)
{
	struct monitor_setup	*setup = monitor.setup;

	io_close(&setup->pidfile.fd);
	io_close(&setup->daemon_pipe);
	io_close(&setup->notify.fd);
	upgrade_close(&setup->inherited);
}

static void
end_files(void)
{
	pidfile_end(&monitor.setup->pidfile);
	sd_notify_close(&monitor.setup->notify);
}

const struct component	monitor_component = {
	.leave = close_descriptors, .end = end_files
};

static void
leave_all(void)
{
	for (size_t i = 0; i < COMPONENT_COUNT; i++)
		if (components[i]->leave != NULL)
			components[i]->leave();
}

/* Gives each component the functions by which it tells what stands above it. */
static void
connect_components(struct monitor_setup *setup)
{
	static const struct workers_calls			of_workers = {
		on_serves, reload_fail, on_in_force, on_main_died,
		leave_in_main
	};
	static const struct reload_calls		of_reload = {
		control_server_prepare, on_reload_failed, want_reload
	};
	static const struct reopen_calls		of_reopen = {
		reload_on_reopen, control_server_reopen_failed,
		control_server_reopened
	};
	static const struct upgrade_calls		of_upgrade = {
		take_charge, hand_over
	};
	static const struct control_server_calls	of_control = {
		want_reload, reload_number, reopen_begin
	};

	generation_init(setup->conf_file, setup->architecture);
	spawn_init(setup->helper, leave_all);
	watchdog_init(setup->notify.watchdog, on_all_alive);
	workers_init(&of_workers, setup->descriptors);
	reload_init(&of_reload);
	reopen_init(&of_reopen);
	upgrade_init(&of_upgrade);
	control_server_init(&of_control);
	for (size_t i = 0; i < COMPONENT_COUNT; i++)
		if (components[i]->setup != NULL)
			components[i]->setup(setup);
}

int
monitor_run(struct monitor_setup *setup)
{
	monitor.setup = setup;
	generations.serving = setup->first;
	setup->first->state = GENERATION_SERVING;
	/* Before the first child, which closes what it must not keep. */
	TAILQ_INSERT_TAIL(&generations.list, setup->first, link);
	connect_components(setup);
	events_catch_signals(on_signal);
	scoreboard_open();
	if (error_pipe_open() == -1)
		fatal("no pipe for the error log");
	reopen_start_programs(setup->first);
	error_log_start();
	error_pipe_redirect();
	workers_start(setup->first);
	do {
		events_run_once();
		piped_log_close_unused();
		begin_due();
	} while (!has_ended());
	children_forget();
	for (size_t i = 0; i < COMPONENT_COUNT; i++)
		if (components[i]->end != NULL)
			components[i]->end();
	return monitor.exit_status;
}
