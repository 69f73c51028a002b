/*
 * pulse: beats of main, passed on to a supervisor, and what is done when they
 * do not come.
 *
 * A supervisor starts everything again, and clients are refused meanwhile; so
 * long before that only main is.
 */
#include <signal.h>

#include "conf.h"
#include "lib/log.h"
#include "monitor_private.h"

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
silence(const struct monitor *m, const struct reign *r)
{
	int64_t	own = r->conf->watchdog;
	int64_t	other = m->setup->notify.watchdog / 2;

	return own == 0 || (other != 0 && other < own) ? other : own;
}

int64_t
pulse_between(const struct monitor *m, const struct reign *r)
{
	int64_t	ms = silence(m, r);

	return ms == 0 ? 0 : ms / BEATS < LEAST ? LEAST : ms / BEATS;
}

void
pulse_beat(struct monitor *m, struct reign *r)
{
	if (r != m->serving || m->ending != 0)
		return;
	r->pulse.stage = DOUBT;
	r->pulse.due = monitor_now() + silence(m, r);
	if (m->setup->notify.watchdog != 0 && !upgrade_waits(m))
		notify_say(&m->setup->notify, "WATCHDOG=1");
}

void
pulse_end(struct reign *r)
{
	r->pulse = (struct pulse){ 0 };
}

void
pulse_look(struct monitor *m, struct reign *r)
{
	struct pulse	*p = &r->pulse;

	if (p->due == 0 || r->main == 0 || monitor_now() < p->due)
		return;
	if (p->stage == ABORT)
		log_errorx("main does not turn its loop: ending it; it says "
		    "what it is at, if it can");
	if (p->stage != DOUBT)
		kill(r->main, p->stage == ABORT ? SIGABRT : SIGKILL);
	p->due = p->stage == KILL ? 0 : monitor_now() + pulse_between(m, r);
	p->stage++;
}
