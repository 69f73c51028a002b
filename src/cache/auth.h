/*
 * auth: passwords that were right, or wrong, a moment ago.
 *
 * A right one is good for a time, keep.  Then it must be verified anew, and
 * while that cannot be done it goes on counting, but only up to AUTH_STALE_FACTOR
 * times keep after it was right: then whatever keeps verifiers busy makes no
 * difference.
 *
 * Neither names nor passwords are kept: an entry is found by two keyed hashes
 * of them, 128 bits together, which say nothing to who does not have the keys.
 */
#ifndef CACHE_AUTH_H
#define CACHE_AUTH_H

#include "cache/cache.h"
#include "lib/hash.h"
#include "lib/str.h"

#define AUTH_STALE_FACTOR	2

struct task;

enum auth_verdict { AUTH_UNKNOWN, AUTH_RIGHT, AUTH_WRONG, AUTH_FAILED };

struct auth_result {
	enum auth_verdict	 verdict;
	int			 error;		/* FAILED: errno */
	uint32_t		 count;	/* how many there were so far */
	int64_t			 valid_until;		/* clock ms: good before that */
	int64_t			 stale_until;	/* the same: right, if there is
						 * nothing newer */
	bool			 pending;	/* that is on its way */
};

struct auth_entry {
	struct cache_entry	 entry;
	struct auth_entry		*next;		/* in its bucket */
	uint64_t		 key[2];
	struct auth_result	 result;
	unsigned		 pending;	/* verifications of it */
	struct task		*task;	/* verifying, the asker's; none
						 * with a lock */
};

struct auth_cache {
	struct cache		 cache;
	struct auth_entry		**buckets;
	size_t			 mask;
	struct hash_key		 keys[2];
};

void		 auth_init(struct auth_cache *, size_t limit);
void		 auth_free(struct auth_cache *);
/* That of a password of a user in a password file, held; NULL: none. */
struct auth_entry	*auth_hold(struct auth_cache *, struct str file,
		    struct str user, struct str password);
/* The same; UNKNOWN if it is new. */
struct auth_entry	*auth_add(struct auth_cache *, struct str file,
		    struct str user, struct str password);
void		 auth_release(struct auth_cache *, struct auth_entry **);
/* A verification of it, with a hold of its own, is under way or waits; it is
 * over. */
void		 auth_begin(struct auth_cache *, struct auth_entry *);
void		 auth_end(struct auth_cache *, struct auth_entry **);
/* What has been found out, good for the time keep; a copy of that. */
void		 auth_set(struct auth_cache *, struct auth_entry *,
		    enum auth_verdict, int error, int64_t now, int64_t keep);
void		 auth_get(struct auth_cache *, const struct auth_entry *,
		    struct auth_result *);

#endif
