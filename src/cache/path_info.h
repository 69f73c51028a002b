/*
 * path_info: what paths were found to be, as steps see it and looks give it.
 *
 * A step has a copy, which nobody changes.  A look gives a new one; what
 * depends on the one there is, is decided in here.
 */
#ifndef CACHE_PATH_INFO_H
#define CACHE_PATH_INFO_H

#include "cache/pathname.h"

struct chunk;

/* One that is to be given, or a copy of the one there is. */
struct path_info {
	struct file	*file;		/* FILE: referred to */
	struct chunk	*chunk;		/* a copy's: by source, held */
	const char	*type;		/* FILE: media type */
	int64_t		 checked_at;	/* clock ms */
	uint16_t	 variants;	/* FILE: the finder's bits, on which
					 * its heads depend */
	uint16_t	 status;	/* REDIRECT, REFUSED */
	uint8_t		 kind;		/* enum pathname_kind */
	uint8_t		 why;		/* REFUSED: finder's reason */
	uint8_t		 source;	/* a copy's: enum file_source */
};

/* A copy of its answer, with a reference to the file, and a hold of what that
 * can be sent from. */
void		 path_info_get(struct pathname_cache *, const struct path *,
		    struct path_info *);

/*
 * Where a newer answer has come meanwhile, as it can with a lock, the older one
 * makes no difference.  A new answer takes the reference to its file over, and
 * the heads go: they were another answer's.
 */
void		 path_info_set(struct pathname_cache *, struct path *,
		    const struct path_info *);
/*
 * A look has found a file, which may be the version that there is: of that it
 * is known which of these variants have been tried, and they stay as they are.
 * The variants of another version are looked at anew.
 */
void		 path_info_found(struct pathname_cache *, struct path *,
		    const struct path_info *, uint16_t tried);
/* It is still that version, if it is that one, with these variants. */
void		 path_info_confirm(struct pathname_cache *, struct path *,
		    const struct job_version *, const struct path_info *,
		    uint16_t tried);
/*
 * A look has failed.  An answer of one of these kinds (a bit each) that is not
 * older than that stays; else this one is given.  False: a look has failed
 * before, and none has been good since.
 */
bool		 path_info_fail(struct pathname_cache *, struct path *,
		    const struct path_info *, int64_t oldest,
		    unsigned kinds);
/* The version of a FILE that a look need not bring again. */
bool		 path_info_version(struct pathname_cache *, const struct path *,
		    struct job_version *);
/* Without these variants. */
void		 path_info_drop_variants(struct pathname_cache *, struct path *,
		    uint16_t variants);
/* Its answer, if it is about that file, is not good any more. */
void		 path_info_expire(struct pathname_cache *, struct path *,
		    const struct file *);
/* For who begins a look that nobody waits for: false, there is one already. */
bool path_info_begin_refresh(struct pathname_cache *, struct path *);
void		 path_info_end_refresh(struct pathname_cache *, struct path *);

/* Its ready head of that kind, held, if the path is still what that copy of its
 * answer says; else NULL. */
struct head	*path_info_hold_head(struct pathname_cache *, struct path *,
		    const struct path_info *, unsigned kind,
		    const struct header_date *);
/* Puts one there, as header_put(); NULL: it is something else by now. */
struct head	*path_info_put_head(struct pathname_cache *, struct path *,
		    const struct path_info *, unsigned kind,
		    struct str bytes, size_t date_at,
		    const struct header_date *);

#endif
