/*
 * file: one version of one file, as long as somebody serves it.
 *
 * Files and their chunks are one cache with one lock, as either may end the
 * other.
 *
 * Whoever holds it may read its facts and take pieces of it (chunk.h).  It
 * keeps a descriptor only while there is something to map or to read: a file
 * that fits into memory whole gives it back.  Open descriptors are limited;
 * the least recently used ones of files that nobody sends are closed.
 */
#ifndef CACHE_FILE_H
#define CACHE_FILE_H

#include "cache/cache.h"
#include "cache/open_file.h"
#include "cache/residency.h"
#include "helpers/job.h"
#include "lib/slab.h"

struct chunk;
struct chunk_cache;

struct file {
	struct file_cache	*cache;
	struct open_file	*open_file;	/* NULL: closed */
	struct job_version	 version;
	uint32_t		 nchunks : 24;
	uint32_t		 method : 4;	/* enum residency_method */
	uint32_t		 small : 1;	/* one chunk, copied */
	uint32_t		 strong : 1;	/* job_facts say so */
	uint32_t		 handle : 1;	/* the same */
	uint32_t		 made : 1;	/* by a helper: file_is_made */
	uint32_t		 : 0;		/* those below change */
	uint32_t		 copied : 1;	/* small: all of it is there */
	uint32_t		 warned : 1;	/* that it cannot be read */
	uint32_t		 references : 30;
	struct chunk		*chunks[];	/* slots of the chunk cache */
};

#define FILE_SYSTEMS_MAX	16	/* that the log tells apart */

struct file_cache {
	struct cache	 cache;
	struct slab	 slab;
	uint64_t	 methods[RESIDENT_METHOD_COUNT];
	struct {
		uint64_t		dev;
		enum residency_method	method;
	}		 reported[FILE_SYSTEMS_MAX];
	unsigned	 nreported;
	struct chunk_cache *chunks;		/* where their pieces are */
	size_t		 chunk_size, small;	/* bytes */
	int64_t		 residency;		/* an enum conf_residency */
	/* Takes the descriptor of a file whose close may take long: one that is
	 * not small, so it was open for long, and may have lost its name.
	 * Nothing else of ours keeps the file open then.  NULL: closed here. */
	void		(*close_fd)(void *, int fd, const struct job_version *);
	void		*close_context;
	/* Asks for file_tidy() in a turn of the loop's own: a file may have so
	 * many mappings that to drop them all would take long; with a lock,
	 * what is to be given has to wait for that.  NULL: done at once. */
	void		(*schedule_tidy)(void *);
	void		*schedule_context;
	TAILQ_HEAD(, cache_entry) closing;
	STAILQ_HEAD(, file_deferred) deferred;		/* with a lock: to be given */
	size_t		 ndeferred, deferred_max;
};

/* What a version can be sent from. */
enum file_source {
	FILE_LOST,		/* nothing, any more */
	FILE_OPEN,		/* its descriptor */
	FILE_COPIED		/* its only chunk, if it is not empty */
};

void		 file_init(struct file_cache *, struct chunk_cache *,
		    size_t descriptors, size_t chunk_size, size_t small,
		    int64_t residency);
bool		 file_fits(const struct file_cache *,	/* can be served */
		    const struct job_version *);
void		 file_free(struct file_cache *);	/* none is left */
/* A new version, which fits, referred to once; takes the descriptor. */
struct file	*file_new(struct file_cache *, int fd,
		    const struct job_version *, const struct job_facts *);
/* One reference more, and a hold of the descriptor, or of the chunk, which is
 * NULL before. */
enum file_source file_hold_source(struct file *, struct chunk **);
/* Whether there is something to send it from. */
bool		 file_is_sendable(const struct file *);
/* If it is kept, it lasts no longer: it is not what its version says. */
void		 file_set_outdated(struct file *);
int		 file_hold(struct file *);	/* keeps it open; -1: closed */
void		 file_release(struct file *);
/* Drops some pieces of files that are to go; true: that was not all.  Gives, in
 * this context, what had to wait. */
bool		 file_tidy(struct file_cache *, void *give_context);
/* That it cannot be read is to be said; false: it has been, perhaps of another
 * that is the same. */
bool		 file_set_warned(struct file *);
void		 file_inherit_warned(struct file *, const struct file *);
void		 file_set_no_sendfile(struct file *);	/* cannot be */
bool		 file_is_copied(const struct file *);	/* and sent so */
/* Made by a helper, without a name: the memory that it is in is ours. */
bool		 file_is_made(const struct file *);
/* Whether an open file, which is held, has this version's size, mtime and, if
 * asked for, ctime (if it has a name).  A system call; not of handles. */
bool		 file_is_unchanged(const struct file *, bool ctime);
/* One reference more; one less. */
struct file	*file_refer(struct file *);
void		 file_drop(struct file **);

static inline int			/* for who holds it; -1: closed */
file_fd(const struct file *f)
{
	return f->open_file != NULL ? f->open_file->fd : -1;
}

#endif
