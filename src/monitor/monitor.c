/*
 * monitor: joins the components: signals, what is due, and the end.
 */
#include <signal.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/log.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/piped_log.h"
#include "monitor/reload.h"
#include "monitor/reopen.h"
#include "monitor/workers.h"
#include "stats/scoreboard.h"

static const struct component *const	table[] = {
#define X(name) &name##_component,
	COMPONENTS(X)
#undef X
	NULL
};

static struct {
	struct timer	notice;		/* until the end that is announced */
	bool		is_leaving;	/* "ready" says so */
	struct timer	deadline;	/* of the end */
	bool		is_last;	/* the deadline after which children are
					 * left to themselves */
	bool		is_over;	/* children are left to themselves */
} monitor;

/*
 * The end
 */

static void	on_deadline(void *);

/* Waits a last moment: for children that were killed, or for none but those
 * that a dead mount holds. */
static void
set_last_deadline(void)
{
	monitor.is_last = true;
	events_set(&monitor.deadline, CHILD_KILL_TIMEOUT, on_deadline,
	    NULL);
}

static void
on_deadline(void *unused)
{
	(void)unused;
	monitor.is_over = monitor.is_last;
	if (monitor.is_over)
		return;
	log_warnx("some processes do not end in time: killing them");
	child_kill_all();
	set_last_deadline();
}

static bool
has_ended(void)
{
	if (due.ending == 0)
		return false;
	if (!monitor.is_last && child_count(false) == 0)
		set_last_deadline();
	return monitor.is_over || child_count(false) + child_count(true) == 0;
}

/* Ends the server as this signal does. */
static void
end_server(int signo)
{
	const struct generation	*g;
	bool			 drain = signo == SIGQUIT;
	int64_t			 latest = 0;	/* ms for mains to go on */

	/* SIGTERM after SIGQUIT cuts a drain short. */
	if (due.ending == SIGTERM || due.ending == signo)
		return;
	log_notice("stopping%s", drain ? " when the responses under way have "
	    "been sent" : "");
	due.ending = drain ? SIGQUIT : SIGTERM;
	TAILQ_FOREACH(g, &generations.list, link)
		if (drain && g->conf->limits.drain > latest)
			latest = g->conf->limits.drain;
	latest += WORKERS_END_TIMEOUT;
	events_set(&monitor.deadline, latest, on_deadline, NULL);
	COMPONENTS_TELL(stop, ());
	sd_notify_send(&prepared.notify, "STOPPING=1\n"
	    "EXTEND_TIMEOUT_USEC=%lld\nSTATUS=stopping%s",
	    (long long)(latest + CHILD_KILL_TIMEOUT) * 1000,
	    drain ? " when the responses under way have been sent" : "");
}

static void
end_by_drain(void)
{
	events_unset(&monitor.notice);
	if (due.ending == 0)
		upgrade_block_new(generations.serving);
	end_server(SIGQUIT);
}

static void
on_notice_over(void *unused)
{
	(void)unused;
	end_by_drain();
}

/* Has "ready" say 503 while the server serves on, so that a balancer sends its
 * clients elsewhere; then drains.  A second signal drains at once, and so does
 * one while another binary may take over, which would be ready. */
static void
begin_drain(void)
{
	int64_t	notice = generations.serving->conf->limits.drain_notice;

	if (due.ending != 0 || notice == 0 || monitor.is_leaving ||
	    upgrade_is_busy()) {
		end_by_drain();
		return;
	}
	monitor.is_leaving = true;
	scoreboard_set_leaving();
	log_notice("stopping in %lld ms: until then the server serves, and is "
	    "not \"ready\"", (long long)notice);
	events_set(&monitor.notice, notice, on_notice_over, NULL);
	sd_notify_send(&prepared.notify, "STOPPING=1\n"
	    "EXTEND_TIMEOUT_USEC=%lld\nSTATUS=stopping soon; serving on",
	    (long long)(notice + WORKERS_END_TIMEOUT) * 1000);
}

/*
 * Requests
 */

/* Begins the end or a reopen at once; a reload or an upgrade as soon as neither
 * is under way. */
static void
begin_due(void)
{
	if (due.end != 0)
		end_server(due.end);
	if (due.ending != 0)
		return;
	if (due.reopen && !reopen_is_busy()) {
		due.reopen = false;
		due.reopened = true;
		reopen_begin();
	}
	if (reload_is_busy() || workers_are_busy() || upgrade_is_busy() ||
	    monitor.is_leaving)
		return;
	if (due.reload) {
		due.reload = due.reopened = false;
		reload_begin();
	} else if (due.upgrade) {
		due.upgrade = false;
		upgrade_begin();
	}
}

static void
on_signal(int signo)
{
	switch (signo) {
	case SIGCHLD:
		child_reap();
		break;
	case SIGHUP:
		/* The terminal of "amped DIRECTORY" has gone, or: reload. */
		if (prepared.announce != NULL)
			end_server(SIGTERM);
		else
			due.reload = true;
		break;
	case SIGUSR1:
		due.reopen = true;
		break;
	case SIGUSR2:
		due.upgrade = true;
		break;
	case SIGQUIT:
		begin_drain();
		break;
	default:
		end_server(signo);
		break;
	}
}

int
monitor_run(struct generation *first)
{
	components = table;
	generations.serving = first;
	first->state = GENERATION_SERVING;
	/* Before the first child, which closes what it must not keep. */
	TAILQ_INSERT_TAIL(&generations.list, first, link);
	events_catch_signals(on_signal);
	scoreboard_open();
	if (logs_open_errors() == -1)
		fatal("no pipe for the error log");
	upgrade_await_old();
	reopen_start_loggers(first);
	if (dup2(logs_errors.lines[1], STDERR_FILENO) == -1)
		fatal("cannot write to the error log");
	log_count_drops(logs_errors.drops[1]);
	workers_start(first);
	do {
		events_run_once();
		piped_log_close_unused();
		begin_due();
	} while (!has_ended());
	log_notice("stopped");
	COMPONENTS_TELL(end, ());
	return due.exit_status;
}
