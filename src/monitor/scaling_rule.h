/*
 * scaling_rule: how many mains there are to be, by the utilisation of their
 * loops.
 *
 * A main is added if the loops have been busy for more than three quarters of
 * five seconds.  A main is ended if, for a minute, half of the time of the
 * others would have been enough.  So a load that comes and goes within a minute
 * keeps its mains, and no two are ended within a minute.
 */
#ifndef MONITOR_SCALING_RULE_H
#define MONITOR_SCALING_RULE_H

#include <stdint.h>

#define SCALING_INTERVAL	1000	/* ms from one look to the next */
#define SCALING_SAMPLES		5	/* looks that an increase takes */
#define SCALING_ALL		1000000	/* a utilisation of 1 */
#define SCALING_HIGH		750000	/* more: one main more */
#define SCALING_LOW		500000	/* less with one fewer: one fewer ... */
#define SCALING_LOW_TIME	60000	/* ... if for so many ms */

enum scaling_change { SCALING_KEEP, SCALING_ADD, SCALING_RETIRE };

struct scaling_rule {
	unsigned	min, max;	/* mains */
	struct {
		int64_t	ms;		/* since the look before */
		int64_t	busy;		/* us of it, of all loops */
	}		samples[SCALING_SAMPLES];
	unsigned	nsamples, next;
	int64_t		low_since;	/* ms; 0: it is not low */
	uint32_t	utilisation;	/* mean of the loops, by the samples */
};

/* Forgets all samples. */
void	scaling_rule_begin(struct scaling_rule *, unsigned min, unsigned max);
/* Takes the sample of a look at `now` ms, and decides; the caller does what is
 * decided, or the rule decides it again at the next look. */
enum scaling_change scaling_rule_decide(struct scaling_rule *, unsigned mains,
	    int64_t now, int64_t ms, int64_t busy);
/* The number of mains has changed: what was measured before does not count. */
void	scaling_rule_changed(struct scaling_rule *);

#endif
