/*
 * chooser: margins, times, and the trial after a change.
 */
#include <string.h>

#include "cache/chooser.h"

#define MEAN_SHARE	4	/* the last epoch is one part of so many */
/* The margin of another policy: it has fewer misses by MARGIN millionths of the
 * requests, and by one in MARGIN_SHARE of the misses of the present policy.
 * Before FIRST_EPOCHS are over, MARGIN_LARGE millionths alone are enough. */
#define MARGIN		5000
#define MARGIN_SHARE	20
#define MARGIN_LARGE	10000
#define FIRST_EPOCHS	3	/* for the first choice */
#define IN_A_ROW	3	/* epochs with the margin */
#define SETTLE_EPOCHS	3	/* before a trial: entries of the old policy
				 * go, and the new one learns */
#define TRIAL_EPOCHS	3
#define STAY_MS		((int64_t)10 * 60 * 1000)
#define BARRED_MS	((int64_t)60 * 60 * 1000)
#define DAY_MS		((int64_t)24 * 60 * 60 * 1000)

void
chooser_init(struct chooser *h, unsigned policy)
{
	memset(h, 0, sizeof(*h));
	h->policy = h->best = policy;
}

void
chooser_restart(struct chooser *h, unsigned policy)
{
	struct chooser	before = *h;

	chooser_init(h, policy);
	memcpy(h->changed_at, before.changed_at, sizeof(h->changed_at));
	h->changes = before.changes;
}

/* Whether now is before a time that was set at most so many ms ahead.  A time
 * that is further away was set before the clock went back. */
static bool
is_before(int64_t now, int64_t until, int64_t most)
{
	return now < until && until - now <= most;
}

static void
update_means(struct chooser *h, const struct chooser_epoch *e)
{
	uint64_t	share;

	h->epochs += h->epochs < MEAN_SHARE;
	/* Policies learn: each of the first epochs is better than the last. */
	share = h->epochs <= FIRST_EPOCHS ? 1 : MEAN_SHARE;
	for (int i = 0; i < POLICY_NUMBER; i++)
		h->mean[i] = (uint32_t)((h->mean[i] * (share - 1) +
		    e->would[i]) / share);
}

/* The policy with the fewest misses; of equal ones the present one. */
static unsigned
find_best(const struct chooser *h, int64_t now)
{
	unsigned	best = h->policy;

	for (unsigned i = 0; i < POLICY_NUMBER; i++)
		if (h->mean[i] < h->mean[best] &&
		    !is_before(now, h->barred_until[i], BARRED_MS))
			best = i;
	return best;
}

static bool
has_margin(const struct chooser *h, unsigned best, bool first)
{
	uint32_t	now = h->mean[h->policy], then = h->mean[best];

	return (first && now >= then + MARGIN_LARGE) ||
	    (now >= then + MARGIN && now - then >= now / MARGIN_SHARE);
}

/* Counts the changes of the last day. */
static unsigned
count_changes(const struct chooser *h, int64_t now)
{
	unsigned	n = 0;

	for (unsigned i = 0; i < CHOOSER_DAY_MAX && i < h->changes; i++)
		n += now >= h->changed_at[i] &&
		    now - h->changed_at[i] < DAY_MS;
	return n;
}

static void
change_policy(struct chooser *h, unsigned policy, int64_t now)
{
	h->changed_at[h->changes++ % CHOOSER_DAY_MAX] = now;
	h->policy = policy;
	h->in_a_row = 0;
	h->stay_until = now + STAY_MS;
	h->trial.left = 0;
}

static void
begin_trial(struct chooser *h, unsigned old)
{
	memset(&h->trial, 0, sizeof(h->trial));
	h->trial.left = SETTLE_EPOCHS + TRIAL_EPOCHS;
	h->trial.old = old;
}

/* Goes on with the trial; true: it has ended, and the new policy has failed. */
static bool
try_epoch(struct chooser *h, const struct chooser_epoch *e)
{
	if (h->trial.left == 0 || h->trial.left-- > TRIAL_EPOCHS)
		return false;
	h->trial.real += e->real;
	h->trial.would += e->would[h->trial.old];
	return h->trial.left == 0 &&
	    h->trial.real > h->trial.would + TRIAL_EPOCHS * MARGIN;
}

static bool
may_change(const struct chooser *h, int64_t now)
{
	/* Leaves one change for the way back. */
	return !is_before(now, h->stay_until, STAY_MS) &&
	    count_changes(h, now) + 2 <= CHOOSER_DAY_MAX;
}

/* Whether the best policy has the margin, for the third time in a row. */
static bool
is_steady(struct chooser *h, unsigned best)
{
	if (!has_margin(h, best, false)) {
		h->in_a_row = 0;
		return false;
	}
	h->in_a_row = best == h->best ? h->in_a_row + 1 : 1;
	h->best = best;
	return h->in_a_row >= IN_A_ROW;
}

static enum chooser_reason
go_back(struct chooser *h, int64_t now, uint32_t *from, uint32_t *to)
{
	*from = (uint32_t)(h->trial.real / TRIAL_EPOCHS);
	*to = (uint32_t)(h->trial.would / TRIAL_EPOCHS);
	h->barred_until[h->policy] = now + BARRED_MS;
	change_policy(h, h->trial.old, now);
	return CHOOSER_FAILED;
}

enum chooser_reason
chooser_judge(struct chooser *h, const struct chooser_epoch *e, int64_t now,
    uint32_t *from, uint32_t *to)
{
	unsigned	best, old = h->policy;
	bool		first;

	update_means(h, e);
	first = h->epochs <= FIRST_EPOCHS;
	if (try_epoch(h, e))
		return go_back(h, now, from, to);
	best = find_best(h, now);
	if (first ? !has_margin(h, best, true) :
	    !is_steady(h, best) || !may_change(h, now))
		return CHOOSER_STAY;
	*from = h->mean[old];
	*to = h->mean[best];
	change_policy(h, best, now);
	if (!first)
		begin_trial(h, old);
	return first ? CHOOSER_FIRST : CHOOSER_BETTER;
}
