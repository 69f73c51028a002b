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
#include "monitor/generation.h"

#define MESSAGES	4	/* expected within the silence allowed */
#define INTERVAL_MIN	20	/* ms between two messages */

/* Actions when a main is silent, in this order. */
enum stage {
	STAGE_WAIT,			/* once: all processes may have been
					 * stopped */
	STAGE_ABORT,			/* main logs where it hangs */
	STAGE_KILL
};

static int64_t	supervisor;	/* ms between two keepalives; 0: none */
static void	(*tell_all_alive)(void);

void
watchdog_init(int64_t max, void (*all_alive)(void))
{
	supervisor = max;
	tell_all_alive = all_alive;
}

/* Returns for how long (ms) a main may be silent; 0: for ever. */
static int64_t
max_silence(const struct generation *g)
{
	int64_t	own = g->conf->watchdog, other = supervisor / 2;

	return own == 0 || (other != 0 && other < own) ? other : own;
}

int64_t
watchdog_interval(const struct generation *g)
{
	int64_t	ms = max_silence(g);

	return ms == 0 ? 0 : ms / MESSAGES < INTERVAL_MIN ? INTERVAL_MIN :
	    ms / MESSAGES;
}

/* A supervisor hears that all mains are fine, or nothing. */
static bool
has_late_main(const struct generation *g)
{
	for (unsigned i = 0; i < g->nworkers; i++)
		if (g->workers[i].watchdog.stage != STAGE_WAIT)
			return true;
	return false;
}

/* Takes the next action, as main is late. */
static void
act(void *worker)
{
	struct worker	*w = worker;
	struct watchdog	*p = &w->watchdog;

	if (p->stage == STAGE_ABORT)
		log_errorx("main's event loop does not turn: aborting main, "
		    "which logs where it hangs");
	if (p->stage != STAGE_WAIT)
		kill(w->main_pid, p->stage == STAGE_ABORT ? SIGABRT : SIGKILL);
	if (p->stage++ != STAGE_KILL)
		events_set(&p->timer, watchdog_interval(w->generation), act, w);
}

void
watchdog_on_alive(struct worker *w)
{
	const struct generation	*g = w->generation;

	if (g != generations.serving || g->state != GENERATION_SERVING)
		return;
	w->watchdog.stage = STAGE_WAIT;
	events_set(&w->watchdog.timer, max_silence(g), act, w);
	if (!has_late_main(g))
		tell_all_alive();
}

void
watchdog_stop(struct worker *w)
{
	events_unset(&w->watchdog.timer);
	w->watchdog.stage = STAGE_WAIT;
}
