/*
 * auth: verdicts about passwords that were verified a moment ago.
 *
 * A right password is good for a time, the caller's keep.  Afterwards it must
 * be verified again.  If all verifiers are busy then, the password still counts
 * as right until AUTH_STALE_FACTOR times keep after it was verified.
 *
 * An entry holds neither the name nor the password.  It is found by two keyed
 * hashes of them, 128 bits together, which tell nothing without the keys.
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
	int			 error;		/* AUTH_FAILED: errno */
	uint32_t		 count;		/* verifications so far */
	int64_t			 valid_until;	/* clock ms */
	int64_t			 stale_until;	/* clock ms: still right, if no
						 * newer verdict is there */
	bool			 pending;	/* being verified */
};

struct auth_entry {
	struct cache_entry	 entry;
	struct auth_entry	*next;		/* in its bucket */
	uint64_t		 key[2];
	struct auth_result	 result;
	unsigned		 pending;	/* verifications under way */
	struct task		*task;		/* http's, verifying; NULL in a
						 * shared cache */
};

struct auth_cache {
	struct cache		 cache;
	struct auth_entry	**buckets;
	size_t			 mask;
	struct hash_key		 keys[2];
};

void		 auth_init(struct auth_cache *, size_t limit);
void		 auth_free(struct auth_cache *);
/* Finds and holds the entry of a user's password in a password file.  NULL:
 * there is none. */
struct auth_entry *auth_hold(struct auth_cache *, struct str file,
		    struct str user, struct str password);
/* As auth_hold(), but adds an entry that is AUTH_UNKNOWN if there is none. */
struct auth_entry *auth_add(struct auth_cache *, struct str file,
		    struct str user, struct str password);
void		 auth_release(struct auth_cache *, struct auth_entry **);
/* Bracket a verification, which holds the entry from begin to end. */
void		 auth_begin(struct auth_cache *, struct auth_entry *);
void		 auth_end(struct auth_cache *, struct auth_entry **);
/* Stores a verdict, which is good for keep ms. */
void		 auth_set(struct auth_cache *, struct auth_entry *,
		    enum auth_verdict, int error, int64_t now, int64_t keep);
/* Copies the present result. */
void		 auth_get(struct auth_cache *, const struct auth_entry *,
		    struct auth_result *);

#endif
