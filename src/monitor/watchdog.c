/*
 * watchdog: beats of main, passed on to a supervisor, and what is done when
 * they do not come.
 *
 * A supervisor starts everything again, and clients are refused meanwhile; so
 * long before that only main is.
 */
#include <signal.h>

#include "conf/conf.h"
#include "lib/log.h"
#include "monitor/private.h"

#define BEATS	4		/* that may come in the time that there is */
#define LEAST	20		/* ms between two */

/* What is done when it is silent, one after the other. */
enum stage {
	DOUBT,			/* so were we, if all of us were stopped */
	ABORT,			/* it is to say where it was */
	KILL
};

/* ms that it may be silent; 0: for ever. */
static int64_t
silence(const struct monitor *m, const struct generation *g)
{
	int64_t	own = g->conf->watchdog;
	int64_t	other = m->setup->notify.watchdog / 2;

	return own == 0 || (other != 0 && other < own) ? other : own;
}

int64_t
pulse_between(const struct monitor *m, const struct generation *g)
{
	int64_t	ms = silence(m, g);

	return ms == 0 ? 0 : ms / BEATS < LEAST ? LEAST : ms / BEATS;
}

/* A supervisor is told of all together, or not at all. */
static bool
any_late(const struct generation *g)
{
	for (unsigned i = 0; i < g->nworkers; i++)
		if (g->workers[i].pulse.stage != DOUBT)
			return true;
	return false;
}

void
pulse_beat(struct monitor *m, struct worker *w)
{
	if (w->generation != m->serving || m->end_signal != 0)
		return;
	w->pulse.stage = DOUBT;
	w->pulse.due = monitor_now() + silence(m, w->generation);
	if (m->setup->notify.watchdog != 0 && !upgrade_is_waiting(m) &&
	    !any_late(w->generation))
		notify_say(&m->setup->notify, "WATCHDOG=1");
}

void
pulse_end(struct worker *w)
{
	w->pulse = (struct pulse){ 0 };
}

void
pulse_look(struct monitor *m, struct worker *w)
{
	struct pulse	*p = &w->pulse;

	if (p->due == 0 || w->main_pid == 0 || monitor_now() < p->due)
		return;
	if (p->stage == ABORT)
		log_errorx("main does not turn its loop: ending it; it says "
		    "what it is at, if it can");
	if (p->stage != DOUBT)
		kill(w->main_pid, p->stage == ABORT ? SIGABRT : SIGKILL);
	p->due = p->stage == KILL ? 0 :
	    monitor_now() + pulse_between(m, w->generation);
	p->stage++;
}
