/*
 * caches: the caches, as the conf wants them.
 */
#include <stdio.h>

#include "http/deferred_close.h"
#include "http/variant.h"
#include "lib/mem.h"
#include "stats/stats.h"

/* The caches stay: what is found, made and mapped is used once. */
static void
do_without(struct store *store, const struct conf *conf)
{
	store->paths.anew = conf_without(conf, SAVING_PATHNAME);
	if (conf_without(conf, SAVING_HEADER))
		cache_off(&store->heads.cache);
	if (conf_without(conf, SAVING_CHUNK))
		cache_off(&store->chunks.cache);
	store->heads.ragged = conf_without(conf, SAVING_ALIGNMENT);
}

/* Files that are to be closed wait for a turn of some loop's. */
static void
share(struct store *store, const struct store_setup *setup)
{
	store->shared = true;
	store->paths.cache.lock = lock_new();
	store->heads.cache.lock = lock_new();
	store->files.cache.lock = lock_new();
	store->chunks.cache.lock = store->files.cache.lock;
	store->grants.cache.lock = lock_new();
	store->verifiers.lock = lock_new();
	if (setup->later == NULL)
		return;
	store->files.give = closing_give;
	store->closing_most /= 2;
	store->files.left_most = store->closing_most;
}

struct store *
store_new(const struct store_setup *setup)
{
	const struct conf	*conf = setup->conf;
	struct store		*store = mem_zero(sizeof(*store));

	store->mime = mime_new(conf->types);
	chunk_init(&store->chunks, (size_t)conf->cache.chunks,
	    CHUNK_MAPPINGS_MOST);
	if (setup->pagemap > 0)
		store->chunks.pagemap = setup->pagemap;
	store->closing_most = setup->descriptors / CLOSING_PART;
	file_init(&store->files, &store->chunks,
	    setup->descriptors - store->closing_most,
	    (size_t)conf->cache.chunk_size, (size_t)conf->cache.small,
	    conf->cache.residency);
	store->files.later = setup->later;
	store->files.later_context = setup->later_context;
	header_init(&store->heads, (size_t)conf->cache.heads);
	pathname_init(&store->paths, (size_t)conf->cache.paths, &store->heads);
	store->paths.beside = variant_space;
	do_without(store, conf);
	grant_init(&store->grants, (size_t)conf->cache.logins);
	verifiers_init(&store->verifiers, (size_t)conf->limits.verify_queue);
	if (setup->shared)
		share(store, setup);
	return store;
}

void
store_free(struct store **sp)
{
	struct store	*store = *sp;

	store->files.give = NULL;	/* nobody takes tasks any more */
	store->files.later = NULL;
	store->files.left_most = 0;
	while (file_tidy(&store->files, NULL))
		;
	pathname_free(&store->paths);
	grant_free(&store->grants);
	verifiers_free(&store->verifiers);
	header_free(&store->heads);
	file_free(&store->files);
	chunk_free(&store->chunks);
	mime_free(&store->mime);
	lock_free(&store->paths.cache.lock);
	lock_free(&store->heads.cache.lock);
	lock_free(&store->files.cache.lock);
	lock_free(&store->grants.cache.lock);
	mem_drop(sp);
}

static const struct cache *
cache_of(const struct store *store, enum stats_cache which)
{
	const struct cache *const	caches[STATS_CACHE_COUNT] = {
		[STATS_CACHE_PATHNAME] = &store->paths.cache,
		[STATS_CACHE_HEADER] = &store->heads.cache,
		[STATS_CACHE_CHUNK] = &store->chunks.cache,
		[STATS_CACHE_FILE] = &store->files.cache,
		[STATS_CACHE_GRANT] = &store->grants.cache,
	};

	return caches[which];
}

static void
measure(enum stats_cache which, const struct cache *c)
{
	lock_take(c->lock);
	stats_put(STATS_HITS_PATHNAME + which, c->hits);
	stats_put(STATS_MISSES_PATHNAME + which, c->misses);
	stats_put(STATS_EVICTIONS_PATHNAME + which, c->evictions);
	stats_gauges[STATS_GAUGE_ENTRIES_PATHNAME + which] =
	    (int64_t)c->entries;
	stats_gauges[STATS_GAUGE_HELD_PATHNAME + which] = (int64_t)c->bytes;
	lock_release(c->lock);
	stats_gauges[STATS_GAUGE_ENTRIES_LIMIT_PATHNAME + which] =
	    (int64_t)c->limit_entries;
	stats_gauges[STATS_GAUGE_HELD_LIMIT_PATHNAME + which] =
	    (int64_t)c->limit_bytes;
}

/* A cache counts by itself: so much less to do for each request. */
void
store_measure(const struct store *store)
{
	for (int i = 0; i < STATS_CACHE_COUNT; i++)
		measure(i, cache_of(store, i));
	lock_take(store->chunks.cache.lock);
	stats_put(STATS_ABSENT, store->chunks.absent);
	stats_put(STATS_GONE, store->chunks.gone);
	lock_release(store->chunks.cache.lock);
}

void
store_report(const struct store *store, void (*line)(const char *))
{
	char	text[200];

	for (int i = 0; i < STATS_CACHE_COUNT; i++) {
		lock_take(cache_of(store, i)->lock);
		cache_report(cache_of(store, i), text, sizeof(text));
		lock_release(cache_of(store, i)->lock);
		line(text);
	}
	for (int i = 0; i < RESIDENT_METHOD_COUNT; i++) {
		snprintf(text, sizeof(text), "residency by %s: %llu files",
		    resident_name(i),
		    (unsigned long long)store->files.methods[i]);
		line(text);
	}
	snprintf(text, sizeof(text), "chunk cache: %llu asked for when not in "
	    "memory, %llu of files that had shrunk",
	    (unsigned long long)store->chunks.absent,
	    (unsigned long long)store->chunks.gone);
	line(text);
}
