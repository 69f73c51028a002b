/*
 * auth: passwords that were right, or wrong, a moment ago.
 *
 * A right one is good for a time, keep.  Then it must be verified anew, and
 * while that cannot be done it goes on counting, but only up to GRANT_KEEPS
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

#define GRANT_KEEPS	2

struct task;

enum grant_verdict { GRANT_UNKNOWN, GRANT_RIGHT, GRANT_WRONG, GRANT_FAILED };

struct grant_answer {
	enum grant_verdict	 verdict;
	int			 error;		/* FAILED: errno */
	uint32_t		 number;	/* how many there were so far */
	int64_t			 until;		/* clock ms: good before that */
	int64_t			 counts;	/* the same: right, if there is
						 * nothing newer */
	bool			 pending;	/* that is on its way */
};

struct grant {
	struct cache_entry	 entry;
	struct grant		*next;		/* in its bucket */
	uint64_t		 key[2];
	struct grant_answer	 answer;
	unsigned		 pending;	/* verifications of it */
	struct task		*task;	/* verifying, the asker's; none
						 * with a lock */
};

struct grant_cache {
	struct cache		 cache;
	struct grant		**buckets;
	size_t			 mask;
	struct hash_key		 keys[2];
};

void		 grant_init(struct grant_cache *, size_t limit);
void		 grant_free(struct grant_cache *);
/* That of a password of a user in a password file, held; NULL: none. */
struct grant	*grant_hold(struct grant_cache *, struct str file,
		    struct str user, struct str password);
/* The same; UNKNOWN if it is new. */
struct grant	*grant_add(struct grant_cache *, struct str file,
		    struct str user, struct str password);
void		 grant_release(struct grant_cache *, struct grant **);
/* A verification of it, with a hold of its own, is under way or waits; it is
 * over. */
void		 grant_begin(struct grant_cache *, struct grant *);
void		 grant_end(struct grant_cache *, struct grant **);
/* What has been found out, good for the time keep; a copy of that. */
void		 grant_answer(struct grant_cache *, struct grant *,
		    enum grant_verdict, int error, int64_t now, int64_t keep);
void		 grant_take(struct grant_cache *, const struct grant *,
		    struct grant_answer *);

#endif
