/*
 * scaling: starts and ends mains by the utilisation of their loops, if the conf
 * gives their number a maximum (workers ... max).
 *
 * A loop measures its iterations anyway (loop/evloop.c); here their sum is read
 * once a second, so mains do nothing for this.
 */
#include "arch/arch.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "monitor/component.h"
#include "monitor/generation.h"
#include "monitor/scaling_rule.h"
#include "monitor/workers.h"
#include "stats/scoreboard.h"

static struct {
	struct timer		timer;
	unsigned		generation;	/* of the rule */
	struct scaling_rule	rule;
	int64_t			looked_at;	/* ms */
} scaling;

/* How long a loop was busy since the last look, in us; main writes the number,
 * which may be anything. */
static int64_t
measure_main(struct worker *w, int64_t ms)
{
	uint64_t	now = scoreboard_loop_time(w->stats_slot);
	uint64_t	busy = now - w->loop_time;

	if (now < w->loop_time)		/* another main */
		busy = now;
	w->loop_time = now;
	return busy < (uint64_t)ms * 1000 ? (int64_t)busy : ms * 1000;
}

/* A main that drains, or does not serve yet, has no part in it. */
static int64_t
measure_mains(struct generation *g, int64_t ms)
{
	int64_t	busy, sum = 0;

	for (unsigned i = 0; i < g->nworkers; i++) {
		busy = measure_main(&g->workers[i], ms);
		if (g->workers[i].wanted)
			sum += busy;
	}
	return sum;
}

static double
percent(void)
{
	return 100.0 * scaling.rule.utilisation / SCALING_ALL;
}

static void
change_number(struct generation *g, enum scaling_change change)
{
	unsigned	before = g->nwanted;

	if (change == SCALING_RETIRE)
		workers_retire(g);
	else if (!workers_add(g))
		return;
	scaling_rule_changed(&scaling.rule);
	log_notice("workers: the loops of %u main%s have been busy for %.0f %% "
	    "of the time: %u of at most %u now", before, before == 1 ? "" : "s",
	    percent(), g->nwanted, scaling.rule.max);
}

static void
examine_load(void *unused)
{
	struct generation	*g = generations.serving;
	int64_t			 now = clock_ms();
	int64_t			 ms = now - scaling.looked_at;
	enum scaling_change	 change;

	(void)unused;
	events_set(&scaling.timer, SCALING_INTERVAL, examine_load, NULL);
	scaling.looked_at = now;
	if (g->state != GENERATION_SERVING || ms <= 0)
		return;
	change = scaling_rule_decide(&scaling.rule, g->nwanted, now, ms,
	    measure_mains(g, ms));
	if (change != SCALING_KEEP)
		change_number(g, change);
	scoreboard_set_utilisation(scaling.rule.max, scaling.rule.utilisation);
}

/* Another generation begins anew; one that goes on has had another main. */
static void
follow_generation(struct generation *g)
{
	unsigned	min = arch_mains_least(g->conf);
	unsigned	max = arch_mains(g->conf);

	if (g != generations.serving || g->number == scaling.generation)
		return;
	scaling.generation = g->number;
	events_unset(&scaling.timer);
	scaling_rule_begin(&scaling.rule, min, max);
	scoreboard_set_utilisation(max > min ? max : 0, 0);
	if (max == min)
		return;
	scaling.looked_at = clock_ms();
	events_set(&scaling.timer, SCALING_INTERVAL, examine_load, NULL);
}

static void
end_scaling(void)
{
	events_unset(&scaling.timer);
}

const struct component	scaling_component = {
	.serves = follow_generation, .stop = end_scaling
};
