/*
 * caches: makes and frees the caches, as the conf says.
 */
#include <stdio.h>

#include "cache/policy.h"
#include "http/deferred_close.h"
#include "http/http.h"
#include "http/variants/variant.h"
#include "http/variants/dependencies.h"
#include "http/log/recent.h"
#include "http/watch/waypoints.h"
#include "lib/mem.h"
#include "stats/stats.h"

/* Switches caches off for measurements: entries are made but not reused. */
static void
apply_ablation(struct caches *caches, const struct conf *conf)
{
	caches->paths.no_reuse = conf_disabled(conf, ABLATION_PATHNAME);
	if (conf_disabled(conf, ABLATION_HEADER))
		cache_disable(&caches->heads.cache);
	if (conf_disabled(conf, ABLATION_CHUNK))
		cache_disable(&caches->chunks.cache);
	caches->heads.unaligned = conf_disabled(conf, ABLATION_ALIGNMENT);
}

/* Entries of other caches are few and alike. */
static void
set_policy(struct caches *caches, enum conf_policy number)
{
	static const struct cache_policy *const	policies[POLICY_COUNT] = {
		[POLICY_LRU] = &policy_lru,
		[POLICY_SIEVE] = &policy_sieve,
		[POLICY_S3FIFO] = &policy_s3fifo,
		[POLICY_LFU] = &policy_lfu,
		[POLICY_GDSF] = &policy_gdsf,
	};

	cache_set_policy(&caches->paths.cache, policies[number]);
	cache_set_policy(&caches->heads.cache, policies[number]);
	cache_set_policy(&caches->chunks.cache, policies[number]);
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
	caches->files.schedule_tidy = setup->schedule_tidy;
	caches->files.schedule_context = setup->tidy_context;
	header_init(&caches->heads, (size_t)conf->cache.heads);
	pathname_init(&caches->paths, (size_t)conf->cache.paths,
	    &caches->heads);
	caches->paths.variant_namespace = variant_namespace;
	set_policy(caches, (enum conf_policy)conf->cache.policy);
	apply_ablation(caches, conf);
	auth_init(&caches->auth, (size_t)conf->cache.logins);
	verifiers_init(&caches->verifiers, (size_t)conf->limits.verify_queue);
	caches->fresh.revalidate = conf->cache.revalidate;
	caches->fresh.negative = conf->cache.negative;
	caches->waypoints = waypoints_new(caches, setup->notify,
	    setup->watches, setup->shared);
	if (setup->shared)
		share_caches(caches, setup);
	return caches;
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

/* Sets gauges and counters.  Caches count for themselves, which saves a request
 * the time. */
void
caches_measure(const struct caches *caches)
{
	for (int i = 0; i < STATS_CACHE_COUNT; i++)
		measure_cache(i, cache_of(caches, i));
	waypoints_measure(caches->waypoints);
	lock_acquire(caches->chunks.cache.lock);
	stats_set(STATS_CHUNKS_ABSENT, caches->chunks.absent);
	stats_set(STATS_CHUNKS_GONE, caches->chunks.gone);
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
