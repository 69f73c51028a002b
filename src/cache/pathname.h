/*
 * pathname: what a request's target was found to be (Flash, section 5.2),
 * absence too.
 *
 * The key is the raw target, so that a hit skips decoding and site rules as
 * well.  A held path stays; what it says changes when a helper has looked
 * again.  Hashed with a secret key: clients choose these names.
 */
#ifndef CACHE_PATHNAME_H
#define CACHE_PATHNAME_H

#include "cache/cache.h"
#include "cache/file.h"
#include "cache/header.h"
#include "lib/hash.h"
#include "lib/slab.h"
#include "lib/str.h"

/* Heads differ by what Connection says: nothing, close, keep-alive. */
#define PATHNAME_HEADS	3

enum pathname_kind {
	PATHNAME_UNKNOWN,	/* nobody has looked yet */
	PATHNAME_FILE,
	PATHNAME_DIRECTORY,	/* asked for without its slash */
	PATHNAME_REDIRECT,	/* elsewhere, by the rules; with status */
	PATHNAME_LISTED,	/* one without index, to be listed */
	PATHNAME_STATS_PAGE,	/* what has been counted, by the rules */
	PATHNAME_REFUSED	/* status says why */
};

/* The age of what is no longer good, whatever it says: clock ms. */
#define PATHNAME_EXPIRED	(-((int64_t)1 << 40))

/*
 * In an order without holes: there may be a million of them.  What it is found
 * by, and what the conf says of it, never changes, and anybody may look at it;
 * all else is asked of the verbs of path_info.h.
 */
struct path {
	struct path		*next;		/* in its bucket */
	const void		*rules;		/* of the conf: admit's */
	uint32_t		 holds;
	uint32_t		 namespace;		/* site number */
	uint32_t		 len : 24;	/* of the name */
	uint32_t		 hash_tag : 7;	/* of its hash: so few names are
						 * compared in vain */
	uint32_t		 guarded : 1;	/* these rules may say who may
						 * ask */
	uint16_t		 status;	/* the answer: path_info.h */
	uint16_t		 variants;
	int64_t			 checked_at;
	struct file		*file;
	struct head		*heads;
	uint32_t		 type;		/* in the cache's types */
	uint8_t			 why;
	unsigned char		 kind : 5;
	bool			 used : 1;	/* since the hand came by */
	bool			 failed : 1;	/* that the disk cannot say */
	bool			 refreshing : 1;	/* by who looks afresh */
	char			 name[];	/* raw target, not terminated */
};

#define PATHNAME_MAX	((1U << 24) - 1)	/* bytes of a name */

struct pathname_cache {
	struct cache		 cache;
	struct path		**buckets;
	size_t			 nbuckets;	/* so far */
	size_t			 nbuckets_max;
	size_t			 mask;		/* below twice as many */
	size_t			 hand;		/* the bucket last looked at for
						 * one to go */
	struct hash_key		 key;
	struct slab		 slab;
	const char		**types;	/* media types of answers, the
						 * first is NULL */
	uint32_t		 ntypes;
	struct header_cache	*headers;	/* where its heads are */
	size_t			 heads_hand;	/* as hand, for those */
	bool			 no_reuse;		/* no answer is good for more
						 * than who has asked for it */
	/* Where the path of one of the variants is; NULL: there are none. */
	uint32_t (*variant_namespace)(uint32_t space, unsigned variant);
};

void		 pathname_init(struct pathname_cache *, size_t limit,
		    struct header_cache *);
void		 pathname_free(struct pathname_cache *);
/* The path by this name, held; NULL if there is none. */
struct path	*pathname_hold(struct pathname_cache *, uint32_t space,
		    struct str name);
/* The same, for who knows its hash (prefetch.h). */
struct path	*pathname_hold_hashed(struct pathname_cache *, uint32_t hash,
		    uint32_t space, struct str name);
/* A new one, UNKNOWN, held; or one that another thread has added by now. */
struct path	*pathname_add(struct pathname_cache *, uint32_t space,
		    struct str name, const void *rules, bool guarded);
/* One hold more. */
void		 pathname_hold_again(struct pathname_cache *, struct path *);
void		 pathname_release(struct pathname_cache *, struct path **);
/*
 * Forgets what a function says of them, of some buckets from one on: those that
 * nobody holds go, the others are UNKNOWN then.  False at the end.
 */
bool		 pathname_forget(struct pathname_cache *, size_t *bucket,
		    bool (*)(void *, const struct path *), void *);

#endif
