/*
 * advice: epochs, their sums, and the bounds of the sample.
 *
 * A miniature gets a part of all things, but not quite the same part of all
 * requests: of things that are asked for very often it has some or not.  Almost
 * all requests for these are hits.  So the misses of the sample are divided by
 * the requests that its part of all things should have got (SHARDS-adj;
 * Waldspurger et al., FAST 2015).
 */
#include <string.h>

#include "cache/advice.h"
#include "cache/file_private.h"
#include "lib/mem.h"

/* The work of a second that the sample may cause: 4 ms of a processor.  A
 * burst may have the work of some seconds. */
#define WORK_MAX	((int64_t)80000)
#define BURST_S		2
/* An epoch that lasts longer has too small a sample, if the sample was halved
 * before. */
#define EPOCH_LONG	((int64_t)20 * 60 * 1000)
/* The miniature is made when one part in so many of the memory is in use. */
#define BEGIN_SHARE	8
#define MEAN_SHARE	4	/* as in chooser.c */
/* If the caches are not full, the miniature is warm after so many epochs. */
#define WARM_EPOCHS	2

struct advice {
	struct advice_setup	 setup;
	struct miniature	*miniature;	/* NULL: not yet */
	struct chooser		 chooser;
	struct advice_figures	 figures;
	bool			 counting;	/* an epoch has begun */
	int64_t			 began_at;	/* the epoch */
	uint32_t		 sample;	/* threshold at that time */
	struct {			/* of the cache, at that time */
		uint64_t	 requests, misses;
	}			 before;
	int64_t			 judged_at;	/* the last time, clock ms */
	int64_t			 work_left;	/* in units, for the moment */
};

void
advice_begin(struct chunk_cache *cc, const struct advice_setup *setup)
{
	cc->advised.advice = mem_zero(sizeof(*cc->advised.advice));
	cc->advised.advice->setup = *setup;
	chooser_init(&cc->advised.advice->chooser, setup->policy);
}

void
advice_end(struct chunk_cache *cc)
{
	if (cc->advised.advice != NULL)
		miniature_free(&cc->advised.advice->miniature);
	mem_drop(&cc->advised.advice);
	cc->advised.sample = 0;
}

void
advice_set_policy(struct chunk_cache *cc, const struct advice_setup *setup)
{
	const struct cache_policy	*policy = policies_all[setup->policy];
	struct advice			*a;

	lock_acquire(cc->cache.lock);
	policy_change(&cc->cache, policy);
	a = cc->advised.advice;
	if (a == NULL && setup->chooses)
		advice_begin(cc, setup);
	if (a != NULL) {
		a->setup = *setup;
		a->counting = false;
		chooser_restart(&a->chooser, setup->policy);
	}
	if (a != NULL && a->miniature != NULL)
		miniature_set_live(a->miniature, policy);
	lock_release(cc->cache.lock);
}

void
advice_set_limit(struct chunk_cache *cc)
{
	struct advice	*a = cc->advised.advice;

	if (a != NULL && a->miniature != NULL)
		miniature_set_limit(a->miniature, cc->cache.limit_bytes);
}

void
advice_note(struct chunk_cache *cc, const struct chunk *k)
{
	struct miniature	*m = cc->advised.advice->miniature;
	struct cache_item	 item;

	if (file_is_transient(k->file))
		return;
	cc->cache.describe(&k->entry, &item);
	miniature_ask(m, &(struct miniature_thing){
		.key = item.key,
		.whole = item.whole,
		.bytes = (uint32_t)item.bytes,
		.hash = chunk_hash(k->file, chunk_slot(k)),
		.first = chunk_slot(k) == 0,
		.edge = item.edge,
	});
	cc->advised.sample = miniature_threshold(m);
}

/* Makes the miniature when a part of the memory is in use.  A transient chunk
 * counts as none that a policy could have kept. */
void
advice_note_new(struct chunk_cache *cc, const struct chunk *k)
{
	struct advice	*a = cc->advised.advice;

	if (file_is_transient(k->file))
		return;
	cc->advised.first_misses += chunk_slot(k) == 0;
	if (a == NULL)
		return;
	if (a->miniature == NULL) {
		if (cc->cache.bytes < cc->cache.limit_bytes / BEGIN_SHARE)
			return;
		a->miniature = miniature_new(cc->cache.limit_bytes,
		    cc->cache.policy);
		cc->advised.sample = miniature_threshold(a->miniature);
	}
	if (chunk_hash(k->file, chunk_slot(k)) < cc->advised.sample)
		advice_note(cc, k);
}

static uint64_t
count_requests(const struct chunk_cache *cc)
{
	return cc->cache.hits + cc->cache.misses - cc->advised.later;
}

static void
begin_epoch(struct chunk_cache *cc, int64_t now)
{
	struct advice		*a = cc->advised.advice;
	struct miniature_sums	*sums = miniature_sums(a->miniature);

	memset(sums, 0, sizeof(*sums));
	a->began_at = now;
	a->sample = miniature_threshold(a->miniature);
	a->before.requests = count_requests(cc);
	a->before.misses = cc->advised.first_misses;
}

static bool
is_warm(const struct advice *a)
{
	return miniature_is_warm(a->miniature) ||
	    miniature_sums(a->miniature)->requests >=
	    WARM_EPOCHS * ADVICE_EPOCH;
}

/* A part of a whole, of ADVICE_ALL. */
static uint32_t
ratio_of(double part, double whole)
{
	double	ratio = whole > 0 ? part / whole : 0;

	return (uint32_t)(ADVICE_ALL * (ratio < 1 ? ratio : 1));
}

static void
add_to_mean(uint32_t *mean, uint32_t last, unsigned epochs)
{
	*mean = epochs == 0 ? last :
	    (uint32_t)(((uint64_t)*mean * (MEAN_SHARE - 1) + last) /
	    MEAN_SHARE);
}

/* Takes the sums of an epoch into the figures, and makes the ratios of the
 * epoch for the chooser. */
static void
sum_up_epoch(struct chunk_cache *cc, struct chooser_epoch *e)
{
	struct advice			*a = cc->advised.advice;
	struct advice_figures		*f = &a->figures;
	const struct miniature_sums	*sums = miniature_sums(a->miniature);
	uint64_t			 requests;
	uint32_t			 misses;
	double				 part;

	part = (double)miniature_threshold(a->miniature) / MINIATURE_ALL;
	requests = count_requests(cc) - a->before.requests;
	e->real = ratio_of(
	    (double)(cc->advised.first_misses - a->before.misses),
	    (double)requests);
	for (int i = 0; i < MINIATURE_CACHES; i++) {
		misses = ratio_of((double)sums->misses[i],
		    part * (double)requests);
		add_to_mean(&f->misses[i], misses, f->epochs);
		add_to_mean(&f->missed_bytes[i],
		    ratio_of((double)sums->missed_bytes[i],
		    (double)sums->bytes), f->epochs);
		if (i < POLICY_NUMBER)
			e->would[i] = misses;
	}
	add_to_mean(&f->real_misses, e->real, f->epochs);
	f->requests = f->epochs == 0 ? requests :
	    (f->requests * (MEAN_SHARE - 1) + requests) / MEAN_SHARE;
	f->bytes = (uint64_t)((double)sums->bytes / part);
	f->epochs++;
}

/* Keeps the work of a second within its limit. */
static void
limit_work(struct chunk_cache *cc, int64_t now)
{
	struct advice	*a = cc->advised.advice;
	uint64_t	*work = &miniature_sums(a->miniature)->work;
	int64_t		 ms = now - a->judged_at;

	if (ms > 0)
		a->work_left += WORK_MAX * (ms < 1000 * BURST_S ? ms :
		    1000 * BURST_S) / 1000;
	if (a->work_left > WORK_MAX * BURST_S)
		a->work_left = WORK_MAX * BURST_S;
	a->work_left -= (int64_t)*work;
	a->judged_at = now;
	*work = 0;
	if (a->work_left >= 0)
		return;
	miniature_halve(a->miniature);
	cc->advised.sample = miniature_threshold(a->miniature);
	a->work_left = WORK_MAX * BURST_S;
}

static bool
is_epoch_over(struct chunk_cache *cc, int64_t now)
{
	struct advice	*a = cc->advised.advice;
	uint64_t	 n = miniature_sums(a->miniature)->requests;

	if (now < a->began_at)		/* the clock was set back */
		a->began_at = now;
	return n >= ADVICE_EPOCH &&
	    n >= ADVICE_TURNS * miniature_count(a->miniature) &&
	    now - a->began_at >= a->setup.epoch;
}

/* Makes the sample larger if it could be and epochs are long. */
static void
adapt_sample(struct chunk_cache *cc, int64_t now)
{
	struct advice		*a = cc->advised.advice;
	struct miniature	*m = a->miniature;

	if (now - a->began_at < EPOCH_LONG ||
	    miniature_threshold(m) == MINIATURE_ALL ||
	    miniature_count(m) > MINIATURE_THINGS / 4)
		return;
	miniature_double(m);
	cc->advised.sample = miniature_threshold(m);
	a->counting = false;
}

static bool
choose_policy(struct chunk_cache *cc, const struct chooser_epoch *e,
    int64_t now, struct advice_change *change)
{
	struct advice	*a = cc->advised.advice;

	if (!a->setup.chooses || !miniature_is_warm(a->miniature))
		return false;
	change->from = a->chooser.policy;
	change->reason = chooser_judge(&a->chooser, e, now,
	    &change->from_misses, &change->to_misses);
	change->to = a->chooser.policy;
	if (change->reason == CHOOSER_STAY)
		return false;
	policy_change(&cc->cache, policies_all[change->to]);
	miniature_set_live(a->miniature, policies_all[change->to]);
	return true;
}

/* Whether an epoch is under way; begins one if the miniature is warm, or if the
 * sample has become another one. */
static bool
is_counting(struct chunk_cache *cc, int64_t now)
{
	struct advice	*a = cc->advised.advice;

	if (a->counting && miniature_threshold(a->miniature) == a->sample)
		return true;
	a->counting = a->counting || is_warm(a);
	if (a->counting)
		begin_epoch(cc, now);
	return false;
}

static bool
judge_epoch(struct chunk_cache *cc, int64_t now, struct advice_change *change)
{
	struct advice		*a = cc->advised.advice;
	struct chooser_epoch	 e;
	bool			 changed = false;

	if (a == NULL || a->miniature == NULL)
		return false;
	limit_work(cc, now);
	if (is_counting(cc, now) && is_epoch_over(cc, now)) {
		sum_up_epoch(cc, &e);
		changed = choose_policy(cc, &e, now, change);
		adapt_sample(cc, now);
		begin_epoch(cc, now);
	}
	return changed;
}

bool
advice_judge(struct chunk_cache *cc, int64_t now, struct advice_change *change)
{
	bool	changed;

	lock_acquire(cc->cache.lock);
	changed = judge_epoch(cc, now, change);
	lock_release(cc->cache.lock);
	return changed;
}

bool
advice_get(const struct chunk_cache *cc, struct advice_figures *to)
{
	const struct advice	*a;

	lock_acquire(cc->cache.lock);
	a = cc->advised.advice;
	memset(to, 0, sizeof(*to));
	if (a != NULL) {
		*to = a->figures;
		to->policy = a->chooser.policy;
		to->chooses = a->setup.chooses;
		to->changes = a->chooser.changes;
		if (a->miniature != NULL)
			to->sample = ratio_of(
			    miniature_threshold(a->miniature), MINIATURE_ALL);
	}
	lock_release(cc->cache.lock);
	return a != NULL;
}
