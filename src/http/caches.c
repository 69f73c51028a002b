/*
 * caches: makes and frees the caches, as the conf says.
 */
#include <stdio.h>
#include <string.h>

#include "cache/advice.h"
#include "cache/keep.h"
#include "cache/limits.h"
#include "http/deferred_close.h"
#include "http/hints/hints.h"
#include "http/http.h"
#include "http/variants/variant.h"
#include "http/variants/dependencies.h"
#include "http/log/recent.h"
#include "http/watch/waypoints.h"
#include "lib/buf.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "stats/stats.h"

#define POLICY_AUTO_NAME	"auto"	/* as in the conf */

/* Switches caches off for measurements: entries are made but not reused. */
static void
apply_ablation(struct caches *caches, const struct conf *conf)
{
	caches->paths.no_reuse = conf_disabled(conf, ABLATION_PATHNAME);
	if (conf_disabled(conf, ABLATION_HEADER))
		cache_disable(&caches->heads.cache);
	if (conf_disabled(conf, ABLATION_CHUNK))
		cache_disable(&caches->chunks.cache);
	caches->chunks.no_edges = conf_disabled(conf, ABLATION_EDGES);
	caches->heads.unaligned = conf_disabled(conf, ABLATION_ALIGNMENT);
}

/* Entries of other caches are few and alike. */
static void
set_policy(struct caches *caches, const struct cache_policy *policy)
{
	cache_set_policy(&caches->paths.cache, policy);
	cache_set_policy(&caches->heads.cache, policy);
	cache_set_policy(&caches->chunks.cache, policy);
}

/* Gives the caches their first policy; auto begins with the conf's default. */
static void
begin_policy(struct caches *caches, const struct conf *conf)
{
	bool			 chooses = conf->cache.policy == POLICY_AUTO;
	struct advice_setup	 setup = {
		.policy = chooses ? POLICY_LRU : (unsigned)conf->cache.policy,
		.chooses = chooses,
		.epoch = conf->cache.advice_every,
	};

	_Static_assert(POLICY_AUTO == POLICY_NUMBER && POLICY_COUNT ==
	    POLICY_NUMBER + 1, "the conf has all policies, and auto");
	set_policy(caches, policies_all[setup.policy]);
	if ((chooses || conf->cache.advice) &&
	    !conf_disabled(conf, ABLATION_CHUNK))
		advice_begin(&caches->chunks, &setup);
}

/* In percent of requests, hits. */
static double
hits_of(uint32_t misses)
{
	return 100 - 100.0 * misses / ADVICE_ALL;
}

static void
log_change(const struct advice_change *c)
{
	const char	*from = policies_all[c->from]->name;
	const char	*to = policies_all[c->to]->name;

	if (c->reason == CHOOSER_FAILED)
		log_info("cache: policy %s has hit %.1f %% of requests, where "
		    "%s would have hit %.1f %%: the policy is %s again", from,
		    hits_of(c->from_misses), to, hits_of(c->to_misses), to);
	else
		log_info("cache: policy %s would hit %.1f %% of requests, %s "
		    "hits %.1f %%: the policy is %s now", to,
		    hits_of(c->to_misses), from, hits_of(c->from_misses), to);
}

static void
change_policy(struct cache *c, const struct cache_policy *policy)
{
	lock_acquire(c->lock);
	policy_change(c, policy);
	lock_release(c->lock);
}

/* Logs that no more is kept, once. */
static void
report_full(struct cache *c)
{
	if (keep_take_full(c))
		log_notice("cache: half of the %s cache is kept: no more files "
		    "are kept, further files of \"keep\" are evicted like "
		    "others; raise the limit of this cache, or keep fewer "
		    "files", c->name);
}

void
caches_judge(struct caches *caches, int64_t now)
{
	struct advice_change	change;

	report_full(&caches->paths.cache);
	report_full(&caches->chunks.cache);
	if (!advice_judge(&caches->chunks, now, &change))
		return;
	change_policy(&caches->paths.cache, policies_all[change.to]);
	change_policy(&caches->heads.cache, policies_all[change.to]);
	log_change(&change);
}

/* Gets the figures; without advice, the policy alone. */
static void
get_figures(const struct chunk_cache *chunks, struct advice_figures *to)
{
	if (advice_get(chunks, to))
		return;
	while (policies_all[to->policy] != chunks->cache.policy)
		to->policy++;
}

/* Gets what the caches have: auto, and the policy that auto has chosen. */
static struct advice_setup
get_policy(const struct caches *caches)
{
	struct advice_figures	f;

	get_figures(&caches->chunks, &f);
	return (struct advice_setup){ .policy = f.policy,
	    .chooses = f.chooses };
}

/* Makes *to what a name stands for; auto begins with the present policy. */
static bool
find_policy(const char *name, struct advice_setup *to)
{
	to->chooses = strcmp(name, POLICY_AUTO_NAME) == 0;
	if (to->chooses)
		return true;
	for (to->policy = 0; to->policy < POLICY_NUMBER; to->policy++)
		if (strcmp(policies_all[to->policy]->name, name) == 0)
			return true;
	return false;
}

static void
refuse_policy(const char *name, struct buf *text)
{
	buf_addf(text, "there is no policy \"%s\"; there are ", name);
	for (unsigned i = 0; i < POLICY_NUMBER; i++)
		buf_addf(text, "%s, ", policies_all[i]->name);
	buf_adds(text, POLICY_AUTO_NAME);
}

static void
add_policy(struct buf *to, const struct advice_setup *setup)
{
	const char	*name = policies_all[setup->policy]->name;

	if (setup->chooses)
		buf_addf(to, "%s (at present %s)", POLICY_AUTO_NAME, name);
	else
		buf_adds(to, name);
}

bool
caches_set_policy(struct http_loop *http, const char *name, struct buf *text)
{
	struct caches		*caches = http->caches;
	struct advice_setup	 was = get_policy(caches), is = was;

	if (!find_policy(name, &is)) {
		refuse_policy(name, text);
		return false;
	}
	if (is.chooses && cache_is_disabled(&caches->chunks.cache)) {
		buf_adds(text, "policy auto needs the cache of chunks, which "
		    "the conf disables");
		return false;
	}
	is.epoch = http->conf->cache.advice_every;
	if (is.chooses != was.chooses || is.policy != was.policy) {
		change_policy(&caches->paths.cache, policies_all[is.policy]);
		change_policy(&caches->heads.cache, policies_all[is.policy]);
		advice_set_policy(&caches->chunks, &is);
	}
	buf_adds(text, "the policy of the caches was ");
	add_policy(text, &was);
	buf_adds(text, ", and is ");
	add_policy(text, &is);
	buf_adds(text, " until the next reload");
	return true;
}

/* Makes the caches thread-safe.  Files to be closed wait for http_tidy() of
 * some loop. */
static void
share_caches(struct caches *caches, const struct caches_setup *setup)
{
	caches->shared = true;
	caches->paths.cache.lock = lock_new();
	caches->heads.cache.lock = lock_new();
	caches->files.cache.lock = lock_new();
	caches->chunks.cache.lock = caches->files.cache.lock;
	caches->auth.cache.lock = lock_new();
	caches->verifiers.lock = lock_new();
	if (setup->schedule_tidy == NULL)
		return;
	caches->files.close_fd = deferred_close_fd;
	caches->deferred_closes_max /= 2;
	caches->files.deferred_max = caches->deferred_closes_max;
}

struct caches *
caches_new(const struct caches_setup *setup)
{
	const struct conf	*conf = setup->conf;
	struct caches		*caches = mem_zero(sizeof(*caches));

	caches->refusals = recent_new(setup->shared);
	caches->dependencies = dependencies_new(setup->shared);
	caches->mime = mime_new(conf->types);
	for (size_t i = 0; i < conf->types_more.n; i++)
		mime_set(caches->mime, conf->types_more.at[i].name + 1,
		    conf->types_more.at[i].value);
	chunk_init(&caches->chunks, (size_t)conf->cache.chunks,
	    CHUNK_MAPPINGS_MAX);
	if (setup->pagemap > 0)
		caches->chunks.pagemap = setup->pagemap;
	caches->deferred_closes_max = setup->descriptors / DEFERRED_CLOSE_SHARE;
	file_init(&caches->files, &caches->chunks,
	    setup->descriptors - caches->deferred_closes_max,
	    (size_t)conf->cache.chunk_size, (size_t)conf->cache.small,
	    conf->cache.residency);
	caches->files.admit = conf->cache.admit;
	caches->files.schedule_tidy = setup->schedule_tidy;
	caches->files.schedule_context = setup->tidy_context;
	header_init(&caches->heads, (size_t)conf->cache.heads);
	pathname_init(&caches->paths, (size_t)conf->cache.paths,
	    &caches->heads);
	caches->paths.variant_namespace = variant_namespace;
	begin_policy(caches, conf);
	apply_ablation(caches, conf);
	auth_init(&caches->auth, (size_t)conf->cache.logins);
	verifiers_init(&caches->verifiers, (size_t)conf->limits.verify_queue);
	caches->fresh.revalidate = conf->cache.revalidate;
	caches->fresh.negative = conf->cache.negative;
	caches->waypoints = waypoints_new(caches, setup->notify,
	    setup->watches, setup->shared);
	if (setup->shared)
		share_caches(caches, setup);
	caches->hints = hints_new(conf, caches);
	return caches;
}

bool
caches_approach_limits(struct caches *caches, const struct conf *conf)
{
	const struct limits	wanted = {
		.paths = (size_t)conf->cache.paths,
		.logins = (size_t)conf->cache.logins,
		.heads = (size_t)conf->cache.heads,
		.chunks = (size_t)conf->cache.chunks,
	};

	verifiers_set_max(&caches->verifiers,
	    (size_t)conf->limits.verify_queue);
	return limits_approach(&wanted, &caches->paths, &caches->chunks,
	    &caches->auth);
}

void
caches_free(struct caches **cp)
{
	struct caches	*caches = *cp;

	caches->files.close_fd = NULL;	/* tasks cannot be submitted any more */
	caches->files.schedule_tidy = NULL;
	caches->files.deferred_max = 0;
	while (file_tidy(&caches->files, NULL))
		;
	waypoints_free(&caches->waypoints);
	hints_free(&caches->hints);
	pathname_free(&caches->paths);
	auth_free(&caches->auth);
	verifiers_free(&caches->verifiers);
	header_free(&caches->heads);
	file_free(&caches->files);
	chunk_free(&caches->chunks);
	mime_free(&caches->mime);
	lock_free(&caches->paths.cache.lock);
	lock_free(&caches->heads.cache.lock);
	lock_free(&caches->files.cache.lock);
	lock_free(&caches->auth.cache.lock);
	recent_free(&caches->refusals);
	dependencies_free(&caches->dependencies);
	mem_drop(cp);
}

static const struct cache *
cache_of(const struct caches *caches, enum stats_cache which)
{
	const struct cache *const	all[STATS_CACHE_COUNT] = {
		[STATS_CACHE_PATHNAME] = &caches->paths.cache,
		[STATS_CACHE_HEADER] = &caches->heads.cache,
		[STATS_CACHE_CHUNK] = &caches->chunks.cache,
		[STATS_CACHE_FILE] = &caches->files.cache,
		[STATS_CACHE_AUTH] = &caches->auth.cache,
	};

	return all[which];
}

static void
measure_cache(enum stats_cache which, const struct cache *c)
{
	lock_acquire(c->lock);
	stats_set(STATS_HITS_PATHNAME + which, c->hits);
	stats_set(STATS_MISSES_PATHNAME + which, c->misses);
	stats_set(STATS_EVICTIONS_PATHNAME + which, c->evictions);
	stats_gauges[STATS_GAUGE_ENTRIES_PATHNAME + which] =
	    (int64_t)c->entries;
	stats_gauges[STATS_GAUGE_BYTES_PATHNAME + which] = (int64_t)c->bytes;
	lock_release(c->lock);
	stats_gauges[STATS_GAUGE_ENTRIES_LIMIT_PATHNAME + which] =
	    (int64_t)c->limit_entries;
	stats_gauges[STATS_GAUGE_BYTES_LIMIT_PATHNAME + which] =
	    (int64_t)c->limit_bytes;
}

static void
measure_advice(const struct chunk_cache *chunks)
{
	int64_t			*g = stats_gauges;
	struct advice_figures	 f;

	_Static_assert((int)STATS_ADVICE_COUNT == (int)MINIATURE_CACHES,
	    "each has a gauge");
	get_figures(chunks, &f);
	g[STATS_GAUGE_POLICY_LRU + f.policy] = 1;
	stats_set(STATS_POLICY_CHANGES, f.changes);
	if (f.epochs == 0)
		return;
	g[STATS_GAUGE_ADVISED] = 1;
	g[STATS_GAUGE_ADVICE_SAMPLE] = f.sample;
	g[STATS_GAUGE_ADVICE_HIT] = ADVICE_ALL - (int64_t)f.real_misses;
	for (int i = 0; i < MINIATURE_CACHES; i++) {
		g[STATS_GAUGE_WOULD_HIT_LRU + i] =
		    ADVICE_ALL - (int64_t)f.misses[i];
		g[STATS_GAUGE_WOULD_HIT_BYTES_LRU + i] =
		    ADVICE_ALL - (int64_t)f.missed_bytes[i];
	}
}

/* Sets gauges and counters.  Caches count for themselves, which saves a request
 * the time. */
void
caches_measure(const struct caches *caches)
{
	for (int i = 0; i < STATS_CACHE_COUNT; i++)
		measure_cache(i, cache_of(caches, i));
	measure_advice(&caches->chunks);
	stats_gauges[STATS_GAUGE_KEPT_PATHS] =
	    (int64_t)keep_count(&caches->paths.cache);
	stats_gauges[STATS_GAUGE_KEPT_BYTES] =
	    (int64_t)keep_count(&caches->chunks.cache);
	hints_measure(caches);
	waypoints_measure(caches->waypoints);
	lock_acquire(caches->chunks.cache.lock);
	stats_set(STATS_CHUNKS_ABSENT, caches->chunks.absent);
	stats_set(STATS_CHUNKS_GONE, caches->chunks.gone);
	stats_set(STATS_CHUNKS_NOT_ADMITTED, caches->chunks.transients.chunks);
	lock_release(caches->chunks.cache.lock);
}

void
caches_report(const struct caches *caches, void (*line)(const char *))
{
	char	text[200];

	for (int i = 0; i < STATS_CACHE_COUNT; i++) {
		lock_acquire(cache_of(caches, i)->lock);
		cache_report(cache_of(caches, i), text, sizeof(text));
		lock_release(cache_of(caches, i)->lock);
		line(text);
	}
	for (int i = 0; i < RESIDENT_METHOD_COUNT; i++) {
		snprintf(text, sizeof(text), "residency by %s: %llu files",
		    residency_name(i),
		    (unsigned long long)caches->files.methods[i]);
		line(text);
	}
	snprintf(text, sizeof(text), "chunk cache: %llu asked for when not in "
	    "memory, %llu of files that had shrunk",
	    (unsigned long long)caches->chunks.absent,
	    (unsigned long long)caches->chunks.gone);
	line(text);
}
