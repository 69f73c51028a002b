/*
 * path_info: what a path was found to be, as steps read it and look-ups set it.
 *
 * A step works on a copy.  A look-up sets a new path_info; what depends on the
 * present one is decided here, under the lock of the cache.
 */
#ifndef CACHE_PATH_INFO_H
#define CACHE_PATH_INFO_H

#include "cache/pathname.h"

struct chunk;

/* A bit of variants that stands for no variant: the tag of the file is made of
 * its digest, which must be known before a response begins. */
#define PATHNAME_BY_CONTENT	0x8000

/* A result that is to be set, or a copy of the present one. */
struct path_info {
	struct file	*file;		/* FILE: with a reference */
	struct chunk	*chunk;		/* a copy's, held: see source */
	const char	*type;		/* FILE: media type */
	int64_t		 checked_at;	/* clock ms of the look-up; later by
					 * PATHNAME_WATCHED_MS if watched */
	union {
		uint16_t variants;	/* FILE: http's bits; the heads of a
					 * path depend on them */
		uint16_t denied;	/* REFUSED: see job_find, for the log */
		uint16_t name_number;	/* PROGRAM: as in job_find */
	};
	union {
		uint16_t status;	/* REDIRECT, REFUSED */
		uint16_t blocks;	/* FILE: http's bits, of blocks files */
		uint16_t split;		/* PROGRAM: bytes of the decoded target
					 * that lead to it */
	};
	uint8_t		 kind;		/* enum pathname_kind */
	uint8_t		 why;		/* REFUSED: enum why */
	uint8_t		 source;	/* a copy's: enum file_source */
	bool		 watched;	/* not in a copy */
};

/* Copies what a path is.  The copy has a reference to its file, and holds what
 * the file can be sent from; but it has no file if the path has one of these
 * variants, which may be wanted in its place. */
void		 path_info_get(struct pathname_cache *, const struct path *,
		    unsigned wanted, struct path_info *);

/*
 * Sets what a path is, and drops its heads.  Takes over the reference to the
 * file.  In a shared cache a newer result may be there: then the older one is
 * dropped.
 */
void		 path_info_set(struct pathname_cache *, struct path *,
		    const struct path_info *);
/*
 * As path_info_set(), for a look-up that has found a file.  Variants in tried
 * stay as they are if the version is the present one; for another version all
 * variants expire.
 */
void		 path_info_found(struct pathname_cache *, struct path *,
		    const struct path_info *, uint16_t tried);
/* As path_info_found(), for a look-up that has found the file unchanged.  Does
 * nothing if the path has got another version since. */
void		 path_info_confirm(struct pathname_cache *, struct path *,
		    const struct job_version *, const struct path_info *,
		    uint16_t tried);
/*
 * For a look-up that has failed: keeps the present result if its kind is in
 * kinds (a bit each) and it is not older than oldest; else sets this one.
 * Returns false if the last look-up has failed, too.
 */
bool		 path_info_fail(struct pathname_cache *, struct path *,
		    const struct path_info *, int64_t oldest,
		    unsigned kinds);
int64_t		 path_info_time(struct pathname_cache *, const struct path *);
/* The kind of a path, and the media type of a file. */
enum pathname_kind path_info_kind(struct pathname_cache *, const struct path *,
		    const char **type);
/* The version that a look-up need not open again; false: there is none. */
bool		 path_info_version(struct pathname_cache *, const struct path *,
		    struct job_version *);
/* Takes variants away. */
void		 path_info_drop_variants(struct pathname_cache *, struct path *,
		    uint16_t variants);
/* Expires the result of a path, if it still is this file. */
void		 path_info_expire(struct pathname_cache *, struct path *,
		    const struct file *);
/* Makes the result of a path, if there is one, as old as checked_at (clock
 * ms). */
void		 path_info_age(struct pathname_cache *, uint32_t namespace,
		    struct str name, int64_t checked_at);

/* Whether the path of a name, or a variant of it, has a head whose Date is
 * since (s) or later: a response of that time. */
bool		 path_info_was_sent(struct pathname_cache *,
		    uint32_t namespace, struct str name, time_t since);
/* Sets the recent uses of the path of a name; false: there is none, or its
 * file cannot be sent any more. */
bool		 path_info_get_uses(const struct pathname_cache *,
		    uint32_t namespace, struct str name, uint16_t *uses);

/* Holds the path's head of a kind; NULL: there is none, or the path has
 * changed since the copy was made. */
struct head	*path_info_hold_head(struct pathname_cache *, struct path *,
		    const struct path_info *, unsigned kind,
		    const struct header_date *);
/* Adds a head to the path as header_put() does; NULL: the path has changed
 * since the copy was made. */
struct head	*path_info_put_head(struct pathname_cache *, struct path *,
		    const struct path_info *, unsigned kind,
		    struct str bytes, size_t date_at,
		    const struct header_date *);

#endif
