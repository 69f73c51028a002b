/*
 * recent: a small table of hashes, with the time of each warning.
 *
 * Clients choose which things there are, so their number is limited: if the
 * oldest is not a minute old, a further one has to wait.
 */
#include "http/log/recent.h"
#include "lib/hash.h"
#include "lib/lock.h"
#include "lib/mem.h"

struct recent {
	struct lock	*lock;		/* NULL: one thread */
	struct hash_key	 key;
	struct {
		uint64_t hash;
		int64_t	 at;		/* clock ms; 0: free */
	}		 things[RECENT_MAX];
};

struct recent *
recent_new(bool shared)
{
	struct recent	*r = mem_zero(sizeof(*r));

	hash_key_random(&r->key);
	if (shared)
		r->lock = lock_new();
	return r;
}

void
recent_free(struct recent **rp)
{
	lock_free(&(*rp)->lock);
	mem_drop(rp);
}

/* The place of a thing, else that of the oldest one. */
static size_t
find_place(const struct recent *r, uint64_t hash)
{
	size_t	oldest = 0;

	for (size_t i = 0; i < RECENT_MAX; i++) {
		if (r->things[i].at != 0 && r->things[i].hash == hash)
			return i;
		if (r->things[i].at < r->things[oldest].at)
			oldest = i;
	}
	return oldest;
}

bool
recent_is_due(struct recent *r, uint64_t site, struct str thing, int64_t now)
{
	uint64_t	hash = hash_bytes(&r->key, site, thing.at, thing.len);
	size_t		i;
	bool		due;

	lock_acquire(r->lock);
	i = find_place(r, hash);
	due = r->things[i].at == 0 ||
	    now - r->things[i].at >= RECENT_INTERVAL;
	if (due) {
		r->things[i].hash = hash;
		r->things[i].at = now;
	}
	lock_release(r->lock);
	return due;
}
