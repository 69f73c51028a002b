/*
 * watchdog: passes the mains' messages on to a supervisor, and ends mains that
 * send none.
 *
 * A supervisor restarts the whole server, which refuses clients meanwhile.  So
 * a main that is late is ended long before that.
 */
#include <signal.h>

#include "conf/conf.h"
#include "lib/log.h"
#include "monitor/child.h"
#include "monitor/monitor.h"

#define MESSAGES	4	/* expected within the silence allowed */
#define INTERVAL_MIN	20	/* ms between two messages */

/* Returns for how long (ms) a main may be silent; 0: for ever. */
static int64_t
max_silence(const struct generation *g)
{
	int64_t	own = g->conf->watchdog;
	int64_t	other = prepared.notify.watchdog / 2;

	return own == 0 || (other != 0 && other < own) ? other : own;
}

int64_t
watchdog_interval(const struct generation *g)
{
	int64_t	ms = max_silence(g);

	return ms == 0 ? 0 : ms / MESSAGES < INTERVAL_MIN ? INTERVAL_MIN :
	    ms / MESSAGES;
}

/* Takes the next action, as main is late. */
static void
act(void *worker)
{
	struct worker	*w = worker;
	struct watchdog	*p = &w->watchdog;

	switch (p->done) {
	case WATCHDOG_NONE:
		p->done = WATCHDOG_WAITED;
		break;
	case WATCHDOG_WAITED:
		log_errorx("main's event loop does not turn: aborting main, "
		    "which logs where it hangs");
		kill(w->main->pid, SIGABRT);
		p->done = WATCHDOG_ABORTED;
		break;
	default:
		kill(w->main->pid, SIGKILL);
		p->done = WATCHDOG_KILLED;
		return;
	}
	events_set(&p->timer, watchdog_interval(w->generation), act, w);
}

void
watchdog_start(struct worker *w)
{
	int64_t	ms = max_silence(w->generation);

	w->watchdog.done = WATCHDOG_NONE;
	if (ms != 0)
		events_set(&w->watchdog.timer, ms, act, w);
}

/* A supervisor hears that all mains are fine, or nothing. */
void
watchdog_on_alive(struct worker *w)
{
	const struct generation	*g = w->generation;

	if (g != generations.serving || g->state != GENERATION_SERVING ||
	    !w->wanted)
		return;
	watchdog_start(w);
	for (unsigned i = 0; i < g->nworkers; i++)
		if (g->workers[i].watchdog.done != WATCHDOG_NONE)
			return;
	if (prepared.notify.watchdog != 0 && !upgrade_is_waiting())
		sd_notify_send(&prepared.notify, "WATCHDOG=1");
}

void
watchdog_stop(struct worker *w)
{
	events_unset(&w->watchdog.timer);
	w->watchdog.done = WATCHDOG_NONE;
}
