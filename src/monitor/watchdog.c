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
#include "monitor/private.h"

#define MESSAGES	4	/* expected within the silence allowed */
#define INTERVAL_MIN	20	/* ms between two messages */

/* Actions when a main is silent, in this order. */
enum stage {
	STAGE_WAIT,			/* once: all processes may have been
					 * stopped */
	STAGE_ABORT,			/* main logs where it hangs */
	STAGE_KILL
};

/* Returns for how long (ms) a main may be silent; 0: for ever. */
static int64_t
max_silence(const struct monitor *m, const struct generation *g)
{
	int64_t	own = g->conf->watchdog;
	int64_t	other = m->setup->notify.watchdog / 2;

	return own == 0 || (other != 0 && other < own) ? other : own;
}

int64_t
watchdog_interval(const struct monitor *m, const struct generation *g)
{
	int64_t	ms = max_silence(m, g);

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

void
watchdog_on_alive(struct monitor *m, struct worker *w)
{
	if (w->generation != m->serving || m->end_signal != 0)
		return;
	w->watchdog.stage = STAGE_WAIT;
	w->watchdog.next_at = monitor_now() + max_silence(m, w->generation);
	if (m->setup->notify.watchdog != 0 && !upgrade_is_waiting(m) &&
	    !has_late_main(w->generation))
		sd_notify_send(&m->setup->notify, "WATCHDOG=1");
}

void
watchdog_stop(struct worker *w)
{
	w->watchdog = (struct watchdog){ 0 };
}

void
watchdog_tick(struct monitor *m, struct worker *w)
{
	struct watchdog	*p = &w->watchdog;

	if (p->next_at == 0 || w->main_pid == 0 || monitor_now() < p->next_at)
		return;
	if (p->stage == STAGE_ABORT)
		log_errorx("main's event loop does not turn: aborting main, "
		    "which logs where it hangs");
	if (p->stage != STAGE_WAIT)
		kill(w->main_pid, p->stage == STAGE_ABORT ? SIGABRT : SIGKILL);
	p->next_at = p->stage == STAGE_KILL ? 0 :
	    monitor_now() + watchdog_interval(m, w->generation);
	p->stage++;
}
