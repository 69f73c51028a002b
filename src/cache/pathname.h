/*
 * pathname: what the target of a request was found to be (Flash, section 5.2),
 * absence included.
 *
 * The key is the raw target, in some sites behind the host (http/rules.h): a
 * hit skips decoding and rules.  The hash is keyed with a secret, as clients
 * choose the names.  A held path stays, and a look-up may change what it says.
 */
#ifndef CACHE_PATHNAME_H
#define CACHE_PATHNAME_H

#include "cache/absents.h"
#include "cache/cache.h"
#include "cache/file.h"
#include "cache/header.h"
#include "lib/hash.h"
#include "lib/slab.h"
#include "lib/str.h"

/* Heads differ by their Connection field: none, close, keep-alive. */
#define PATHNAME_HEADS	3
#define PATHNAME_SITE_BITS	24	/* of a namespace; others: variants */

enum pathname_kind {
	PATHNAME_UNKNOWN,	/* not looked up yet */
	PATHNAME_FILE,
	PATHNAME_DIRECTORY,	/* asked for without its slash */
	PATHNAME_REDIRECT,	/* by the rules; with a status */
	PATHNAME_LISTED,	/* a directory without index, to be listed */
	PATHNAME_STATS_PAGE,	/* by the rules: the statistics page */
	PATHNAME_READY,		/* by the rules: is the server ready? */
	PATHNAME_PROGRAM,	/* a program, which answers */
	PATHNAME_REFUSED	/* with a status and a reason */
};

/* Age, negative, of a result whose changes all come as events. */
#define PATHNAME_WATCHED_MS	((int64_t)24 * 60 * 60 * 1000)
/* A value of checked_at that makes any result expired: clock ms. */
#define PATHNAME_EXPIRED	(-((int64_t)1 << 40))

/* Ordered without holes, as there may be a million paths.  Key and rules never
 * change, and any thread may read them; all else is read by the functions of
 * path_info.h. */
struct path {
	struct path		*next;		/* in its bucket */
	const void		*rules;		/* conf's, for authorize */
	uint32_t		 holds;
	uint32_t		 namespace;	/* with the site's number */
	uint32_t		 len : 24;	/* bytes of the name */
	uint32_t		 hash_tag : 7;	/* top bits, compared first */
	uint32_t		 guarded : 1;	/* some clients are refused */
	uint16_t		 status;	/* see struct path_info */
	uint16_t		 variants;	/* see struct path_info */
	int64_t			 checked_at;	/* see struct path_info */
	struct file		*file;		/* see struct path_info */
	struct head		*heads;
	uint16_t		 type;		/* index in the cache's types */
	uint16_t		 uses;		/* since the hand came by */
	uint8_t			 why;		/* see struct path_info */
	unsigned char		 kind : 4;	/* see struct path_info */
	bool			 kept : 1, watched : 1; /* keep.h, path_info */
	bool			 failed : 1;	/* the last look-up */
	char			 name[];	/* raw target, not terminated */
};

#define PATHNAME_MAX	((1U << 24) - 1)	/* bytes of a name */

struct pathname_cache {
	struct cache		 cache;
	struct path		**buckets;
	size_t			 nbuckets;	/* in use so far */
	size_t			 nbuckets_max;
	size_t			 mask;		/* at least nbuckets - 1 */
	size_t			 hand;		/* bucket of the last victim */
	struct hash_key		 key;
	struct slab		 slab;
	const char		**types;	/* of media; the first: NULL */
	uint32_t		 ntypes;
	struct header_cache	*headers;	/* of the paths' heads */
	size_t			 heads_hand;	/* as hand, for heads */
	struct absents		 absents;	/* go first */
	bool			 no_reuse;	/* a result is for its waiters
						 * alone */
	/* The namespace of a variant's path; NULL: no variants. */
	uint32_t		(*variant_namespace)(uint32_t namespace,
				    unsigned variant);
};

void		 pathname_init(struct pathname_cache *, size_t limit,
		    struct header_cache *);
void		 pathname_free(struct pathname_cache *);
/* Holds the path of a name; NULL: there is none. */
struct path	*pathname_hold(struct pathname_cache *, uint32_t namespace,
		    struct str name);
/* As pathname_hold(), with a known hash (prefetch.h). */
struct path	*pathname_hold_hashed(struct pathname_cache *, uint32_t hash,
		    uint32_t namespace, struct str name);
/* Adds and holds a path that is UNKNOWN, or holds the one that another thread
 * has just added. */
struct path	*pathname_add(struct pathname_cache *, uint32_t namespace,
		    struct str name, const void *rules, bool guarded);
/* Holds a held path once more. */
void		 pathname_hold_again(struct pathname_cache *, struct path *);
void		 pathname_release(struct pathname_cache *, struct path **);
/* Releases a path, and holds in its place that of the same name in another
 * namespace of the site; false: there is none, so does nothing. */
bool		 pathname_switch(struct pathname_cache *, struct path **,
		    uint32_t namespace);
/* Forgets the paths that a function chooses, in some buckets from *bucket on:
 * drops those that are not held, and makes the others UNKNOWN.  Returns false
 * at the end of the table. */
bool		 pathname_forget(struct pathname_cache *, size_t *bucket,
		    bool (*)(void *, const struct path *), void *);
/* In the same way makes results at least as old as a function says: clock ms;
 * INT64_MAX: no older. */
bool		 pathname_age(struct pathname_cache *, size_t *bucket,
		    int64_t (*)(void *, const struct path *,
			int64_t checked_at), void *);

#endif
