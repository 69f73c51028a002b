/*
 * scaling_rule: asks no clock and starts no process.
 */
#include <stdbool.h>

#include "monitor/scaling_rule.h"

#define US_PER_MS	1000

void
scaling_rule_changed(struct scaling_rule *r)
{
	r->nsamples = r->next = 0;
	r->low_since = 0;
}

void
scaling_rule_begin(struct scaling_rule *r, unsigned min, unsigned max)
{
	*r = (struct scaling_rule){ .min = min, .max = max };
}

static void
add_sample(struct scaling_rule *r, int64_t ms, int64_t busy)
{
	r->samples[r->next].ms = ms;
	r->samples[r->next].busy = busy;
	r->next = (r->next + 1) % SCALING_SAMPLES;
	if (r->nsamples < SCALING_SAMPLES)
		r->nsamples++;
}

/* The utilisation of all loops together: that of two busy ones is twice
 * SCALING_ALL. */
static int64_t
sum_up(const struct scaling_rule *r)
{
	int64_t	ms = 0, busy = 0;

	for (unsigned i = 0; i < r->nsamples; i++) {
		ms += r->samples[i].ms;
		busy += r->samples[i].busy;
	}
	return ms <= 0 ? 0 : busy * (SCALING_ALL / US_PER_MS) / ms;
}

/* Whether it has been low for long enough. */
static bool
stays_low(struct scaling_rule *r, bool is_low, int64_t now)
{
	if (!is_low)
		r->low_since = 0;
	else if (r->low_since == 0)
		r->low_since = now;
	return is_low && now - r->low_since >= SCALING_LOW_TIME;
}

enum scaling_change
scaling_rule_decide(struct scaling_rule *r, unsigned mains, int64_t now,
    int64_t ms, int64_t busy)
{
	int64_t	sum;
	bool	is_low;

	add_sample(r, ms, busy);
	sum = sum_up(r);
	r->utilisation = (uint32_t)(sum / mains);
	if (r->nsamples < SCALING_SAMPLES)
		return SCALING_KEEP;
	is_low = mains > r->min && sum < (int64_t)SCALING_LOW * (mains - 1);
	if (stays_low(r, is_low, now))
		return SCALING_RETIRE;
	return mains < r->max && sum > (int64_t)SCALING_HIGH * mains ?
	    SCALING_ADD : SCALING_KEEP;
}
