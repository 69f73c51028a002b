/*
 * file: one version of one file, for as long as it is served.
 *
 * Files and their chunks (chunk.h) are one cache with one lock, since dropping
 * either may end the other.
 *
 * A file whose bytes are all copied keeps no descriptor.  The number of others
 * is limited: the least recently used ones that no response sends are closed.
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
	uint32_t		 method : 3;	/* enum residency_method */
	uint32_t		 small : 1;	/* one chunk, copied */
	uint32_t		 strong : 1;	/* of struct job_facts */
	uint32_t		 handle : 1;	/* of struct job_facts */
	uint32_t		 made : 1;	/* file_is_made() */
	uint32_t		 has_digest : 1; /* room for it, at the end */
	uint32_t		 : 0;		/* members above: constant */
	uint32_t		 copied : 1;	/* small: copy is complete */
	uint32_t		 warned : 1;	/* logged: cannot be read */
	uint32_t		 digested : 1;	/* the digest is complete */
	uint32_t		 kept : 1, guest : 1, references : 27;
	struct chunk		*chunks[];	/* slots of the chunk cache */
};

#define FILE_SYSTEMS_MAX	16	/* with a method in the log */
#define FILE_HANDLE_CHUNKS	4	/* in one of a handle's file */

struct file_cache {
	struct cache	 cache;		/* of open files */
	struct slab	 slab;
	uint64_t	 methods[RESIDENT_METHOD_COUNT];	/* files each */
	struct {
		uint64_t		dev;
		enum residency_method	method;
	}		 reported[FILE_SYSTEMS_MAX];	/* in the log */
	unsigned	 nreported;
	struct chunk_cache *chunks;
	size_t		 chunk_size, small;	/* bytes */
	int64_t		 residency, admit;	/* enum conf_residency; bytes */
	/* Takes over the descriptor of a large file, whose close may wait for
	 * the disk, with a range to give back.  NULL: it is closed here. */
	void		(*close_fd)(void *, int fd, const struct job_range *);
	void		*close_context;
	/* Asks for file_tidy() in another iteration, which drops mappings in
	 * slices and calls close_fd() without a lock.  NULL: all at once. */
	void		(*schedule_tidy)(void *);
	void		*schedule_context;
	TAILQ_HEAD(, cache_entry) closing;	/* chunk by chunk */
	STAILQ_HEAD(, file_deferred) deferred;	/* with a lock: to close_fd() */
	size_t		 ndeferred, deferred_max;
};

void		 file_init(struct file_cache *, struct chunk_cache *,
		    size_t descriptors, size_t chunk_size, size_t small,
		    int64_t residency);
bool		 file_fits(const struct file_cache *,	/* not too large */
		    const struct job_version *);
int64_t		 file_whole_max(const struct file_cache *, size_t copying);
void		 file_free(struct file_cache *);	/* must be empty */
/* A new version that fits, with one reference; owns the descriptor. */
struct file	*file_new(struct file_cache *, int fd,
		    const struct job_version *, const struct job_facts *);
/* Adds a reference, and holds the descriptor, or the copy.  Sets *chunk, which
 * must be NULL before, to the copy. */
enum file_source file_hold_source(struct file *, struct chunk **);
/* Whether file_hold_source() would find a source that is not outdated. */
bool		 file_is_sendable(const struct file *);
void		 file_set_outdated(struct file *); /* of the cache directory */
int		 file_hold(struct file *);	/* its descriptor; -1: closed */
void		 file_release(struct file *);
/* Drops some chunks of files that are closing; true: call it again.  Gives
 * deferred descriptors to close_fd(), with this context. */
bool		 file_tidy(struct file_cache *, void *close_context);
/* Marks that "cannot be read" is logged; false: it was marked before, here or
 * in a version that file_inherit_warned() took the mark from. */
bool		 file_set_warned(struct file *);
void		 file_inherit_warned(struct file *, const struct file *old);
void		 file_set_no_sendfile(struct file *); /* refused */
bool		 file_is_copied(const struct file *);	/* sent from copies */
/* Whether a helper made or copied the file: memory of ours, without a name. */
bool		 file_is_made(const struct file *);
/* Whether an open, held file still has this version's size, mtime and, if ctime
 * is set and the file has a name, ctime.  Makes a system call; true for
 * handles, made files, and where the system does not say. */
bool		 file_is_unchanged(const struct file *, bool ctime);
struct file	*file_refer(struct file *);	/* adds a reference */
void		 file_drop(struct file **);	/* takes it away */

/* For each chunk of a handle's file a helper opens, compares and closes the
 * file, each of which may take seconds; so there are fewer chunks. */
static inline size_t
file_chunk_size(const struct file *f)
{
	return f->cache->chunk_size * (f->handle ? FILE_HANDLE_CHUNKS : 1);
}

/* The descriptor of a file that is held; -1: closed. */
static inline int
file_fd(const struct file *f)
{
	return f->open_file != NULL ? f->open_file->fd : -1;
}

#endif
