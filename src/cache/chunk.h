/*
 * chunk: pieces of files, mapped or copied, ready to be sent (Flash, 5.4).
 *
 * A file is mapped in chunks.  A small file is one chunk, and copied: a copy
 * needs neither a mapping nor a descriptor.  The bytes of a held chunk may be
 * sent in the iteration in which chunk_ready() has returned READY.  Code of
 * ours must not read mapped bytes: the file can shrink, and a missing page is
 * an error to a system call but SIGBUS to us.
 */
#ifndef CACHE_CHUNK_H
#define CACHE_CHUNK_H

#include <stddef.h>

#include "cache/advised.h"
#include "cache/cache.h"
#include "cache/file.h"
#include "cache/transient.h"

/* The record of a small file's chunk ends at fetch, and its bytes begin there:
 * its fetch is in struct open_file, and all else in struct file. */
struct chunk {
	struct cache_entry	 entry;
	struct file		*file;
	struct fetch		 fetch;
	char			*at;		/* NULL: not mapped yet */
	uint32_t		 index, len;	/* chunk_slot(), chunk_len() */
	bool			 complete, edge; /* at is a copy; see edges.h */
};

#define CHUNK_SMALL	offsetof(struct chunk, fetch)	/* bytes */

struct chunk_cache {
	struct cache	 cache;
	struct slab	 slab;
	size_t		 mappings, kept_mappings, limit_mappings; /* 0: none */
	uint64_t	 absent, gone;	/* results CHUNK_ABSENT, CHUNK_GONE */
	int		 pagemap;	/* the owner's descriptor; -1: none */
	uintptr_t	 region, next;	/* addresses for mappings; 0: any */
	int64_t		 shortage_until;	/* memory is short, clock ms */
	struct advised	 advised;
	struct transients transients;
	unsigned	 recent_misses;	/* absent minus present first reads */
	uint32_t	 no_edges : 1, copied : 31; /* see edges.h */
};

enum chunk_state {
	CHUNK_READY,		/* send it */
	CHUNK_ABSENT,		/* let a helper read it, then ask again */
	CHUNK_GONE		/* the file has changed or shrunk */
};

/* The bytes in memory of a chunk that is ready. */
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

/* The chunk's index in file->chunks. */
static inline uint32_t
chunk_slot(const struct chunk *k)
{
	return k->file->small ? 0 : k->index;
}

static inline int64_t
chunk_start(const struct chunk *k)
{
	return k->file->small ? 0 :
	    (int64_t)k->index * (int64_t)file_chunk_size(k->file);
}

void		 chunk_init(struct chunk_cache *, size_t limit_bytes,
		    size_t limit_mappings);
void		 chunk_free(struct chunk_cache *);	/* must be empty */
bool		 chunk_is_over(const struct chunk_cache *);	/* its limit */
/* The index of the chunk that holds the byte at an offset. */
uint32_t	 chunk_index(const struct file *, int64_t offset);

/* Hold a chunk (a new one has no bytes) and its file.  Again: counts no use. */
struct chunk	*chunk_hold(struct chunk_cache *, struct file *, uint32_t);
struct chunk	*chunk_hold_again(struct chunk_cache *, struct chunk *);
void		 chunk_release(struct chunk_cache *, struct chunk **);
/* Whether the bytes may be sent now; maps and copies as needed.  Never waits.
 * The file must be held open unless the chunk is complete. */
enum chunk_state chunk_ready(struct chunk_cache *, struct chunk *, int64_t now);
/* As chunk_ready(), for bytes that sendfile() will send, up to the byte end of
 * the file.  That sendfile() counts as use of their pages. */
enum chunk_state chunk_ready_sendfile(struct chunk_cache *, struct chunk *,
		    int64_t now, int64_t end);
bool		 chunk_prefers_sendfile(const struct chunk *);

/* For callers that hold the file open and have a helper read the chunk. */
static inline struct fetch *
chunk_fetch(struct chunk *k)
{
	return k->file->small ? &k->file->open_file->fetch : &k->fetch;
}

/* Whether a helper must copy the chunk: the file is only a handle, or bytes
 * that a helper had read were gone each time before they could be copied. */
bool		 chunk_wants_copy(struct chunk *);
/* The errno of the last task for this chunk; 0: no error, or one has begun. */
int		 chunk_error(struct chunk *);
void		 chunk_set_error(struct chunk *, int error);
/* Records that a helper has read the chunk; took: ms. */
void		 chunk_loaded(struct chunk *, int64_t now, int64_t took,
		    bool was_there);
/* Takes the bytes from a helper's copy; returns 0 or an errno.  The caller
 * keeps the descriptor. */
int		 chunk_adopt_copy(struct chunk *, int fd);

#endif
