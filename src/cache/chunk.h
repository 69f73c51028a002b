/*
 * chunk: pieces of files, mapped or copied, ready to be sent (Flash, section
 * 5.4).
 *
 * A file is mapped in chunks; a small one is one chunk, and copied, which
 * needs neither a mapping nor a descriptor afterwards.  A held chunk may be
 * sent from when chunk_ready() has said READY in the same turn.  Our own code
 * must not touch the bytes of one that is mapped: the file can shrink, and a
 * page that is gone is an error to a system call but a signal to us.
 */
#ifndef CACHE_CHUNK_H
#define CACHE_CHUNK_H

#include <stddef.h>

#include "cache/cache.h"
#include "cache/file.h"

/* A small file's ends where its bytes begin: what else there is to know of it
 * is known of the file, or forgotten with its descriptor. */
struct chunk {
	struct cache_entry	 entry;
	struct file		*file;
	struct fetch		 fetch;
	char			*at;		/* NULL: not mapped yet */
	uint32_t		 index;		/* chunk_slot() */
	uint32_t		 len;		/* bytes of the file */
	bool			 complete;		/* mapped to a copy */
};

#define CHUNK_SMALL	offsetof(struct chunk, fetch)	/* bytes */

struct chunk_cache {
	struct cache	 cache;
	struct slab	 slab;
	size_t		 mappings;	/* chunks that are, or will be */
	size_t		 limit_mappings;	/* 0: without */
	uint64_t	 absent;	/* asked for, not in memory */
	uint64_t	 gone;		/* file shorter than its version says */
	int		 pagemap;	/* the owner's; -1: none */
	uintptr_t	 region, next;	/* addresses for mappings; 0: any */
	int64_t		 shortage_until;	/* memory is, clock ms */
	unsigned	 recent_misses;	/* of chunks not known before, more
					 * than not; up to some */
};

enum chunk_state {
	CHUNK_READY,		/* send it */
	CHUNK_ABSENT,		/* have a helper bring it in, then ask again */
	CHUNK_GONE		/* the file is not that version any more */
};

/* Where its bytes are in memory, once it is ready, and in the file. */
static inline char *
chunk_bytes(struct chunk *k)
{
	return k->file->small ? (char *)k + CHUNK_SMALL : k->at;
}

static inline uint32_t
chunk_len(const struct chunk *k)
{
	return k->file->small ? (uint32_t)k->file->version.size : k->len;
}

/* Its index in file->chunks. */
static inline uint32_t
chunk_slot(const struct chunk *k)
{
	return k->file->small ? 0 : k->index;
}

static inline int64_t
chunk_start(const struct chunk *k)
{
	return k->file->small ? 0 :
	    (int64_t)k->index * (int64_t)k->file->cache->chunk_size;
}

void		 chunk_init(struct chunk_cache *, size_t limit_bytes,
		    size_t limit_mappings);
void		 chunk_free(struct chunk_cache *);	/* none is left */
bool		 chunk_is_over(const struct chunk_cache *);	/* its limit */
/* The index of the chunk with this byte. */
uint32_t	 chunk_index(const struct file *, int64_t offset);

/* A file's chunk, empty at first; held, and with it the file. */
struct chunk	*chunk_hold(struct chunk_cache *, struct file *, uint32_t);
void		 chunk_release(struct chunk_cache *, struct chunk **);
/* Never waits; needs the file's descriptor unless the chunk is full. */
enum chunk_state chunk_ready(struct chunk_cache *, struct chunk *, int64_t now);
/* The same, to be sent from the file by the system, which counts as use; as is
 * what follows it, up to that byte of the file, behind its own first. */
enum chunk_state chunk_ready_sendfile(struct chunk_cache *, struct chunk *,
		    int64_t now, int64_t end);
bool		 chunk_prefers_sendfile(const struct chunk *);	/* if that is good */

/* What follows is for who keeps its file open, and brings it in or waits for
 * that. */
static inline struct fetch *
chunk_fetch(struct chunk *k)
{
	return k->file->small ? &k->file->open_file->fetch : &k->fetch;
}

/* Whether a helper must bring a copy: its file is only a handle, or what was
 * read has gone each time before it could be copied here. */
bool		 chunk_wants_copy(struct chunk *);
/* What came of the last task: 0 or an errno; it is 0 as well when one
 * begins. */
int		 chunk_error(struct chunk *);
void		 chunk_set_error(struct chunk *, int error);
/* A helper has just read it: that took so long, ms; or it was there anyway. */
void		 chunk_loaded(struct chunk *, int64_t now, int64_t took,
		    bool was_there);
/* A helper has copied it: here is the copy; 0 or an errno.  The descriptor
 * stays the caller's. */
int		 chunk_adopt_copy(struct chunk *, int fd);

#endif
