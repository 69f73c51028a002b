/*
 * chunk: pieces of files, mapped or copied, ready to be sent (Flash, section
 * 5.4).
 *
 * A file is mapped in chunks; a small one is one chunk, and copied, which
 * needs neither a mapping nor a descriptor afterwards.  A held chunk may be
 * sent from when chunk_ready() has said READY in the same turn.  Our own code
 * must not touch the bytes: a mapped file can shrink, and a page that is gone
 * is an error to a system call but a signal to us.
 */
#ifndef CACHE_CHUNK_H
#define CACHE_CHUNK_H

#include <stddef.h>

#include "cache/cache.h"
#include "cache/file.h"

struct errand;

struct chunk {
	struct cache_entry	 entry;
	struct file		*file;
	struct errand		*errand;	/* bringing it in; the users' */
	int64_t			 trusted;	/* until then, clock ms */
	uint32_t		 index;		/* in file->chunks */
	uint32_t		 len;		/* bytes of the file */
	union {
		uint32_t	 filled;	/* small: bytes so far */
		uint32_t	 read;		/* else: clock ms, low bits */
	};
	int16_t			 error;		/* of the last errand, errno */
	bool			 mapped;	/* for good; once it is ready,
						 * anybody may look at that */
	unsigned char		 lost : 3;	/* times that it was read by
						 * a helper since then */
	bool			 full : 1;	/* a copy, all of it */
	bool			 visible : 1;	/* in the table of pages, as
						 * long as it is in memory */
	bool			 known : 1;	/* has been read, or a helper
						 * has, at read */
	bool			 again : 1;	/* ... more than once */
	bool			 doubted : 1;	/* taken for absent unseen */
	char			*at;		/* mapped, else NULL; but where
						 * a small file's bytes begin:
						 * chunk_bytes() */
};

struct chunk_cache {
	struct cache	 cache;
	size_t		 mappings;	/* chunks that are, or will be */
	size_t		 limit_mappings;	/* 0: without */
	uint64_t	 absent;	/* asked for, not in memory */
	uint64_t	 gone;		/* file shorter than its version says */
	int		 pagemap;	/* the owner's; -1: none */
	int64_t		 short_until;	/* memory is, clock ms */
	unsigned	 absences;	/* of chunks not known before, more
					 * than not; up to some */
};

enum chunk_state {
	CHUNK_READY,		/* send it */
	CHUNK_ABSENT,		/* have a helper bring it in, then ask again */
	CHUNK_GONE		/* the file is not that version any more */
};

/* Where they are, once it is ready. */
static inline char *
chunk_bytes(struct chunk *k)
{
	return k->mapped ? k->at : (char *)k + offsetof(struct chunk, at);
}

void		 chunk_init(struct chunk_cache *, size_t limit_bytes,
		    size_t limit_mappings);
/* The index of the chunk with this byte, and where that chunk starts. */
uint32_t	 chunk_index(const struct file *, int64_t offset);
int64_t		 chunk_offset(const struct file *, uint32_t index);

/* A file's chunk, empty at first; held, and with it the file. */
struct chunk	*chunk_hold(struct chunk_cache *, struct file *, uint32_t);
void		 chunk_release(struct chunk_cache *, struct chunk **);
/* Never waits; needs the file's descriptor unless the chunk is full. */
enum chunk_state chunk_ready(struct chunk_cache *, struct chunk *, int64_t now);
/* The same, to be sent from the file by the system, which counts as use. */
enum chunk_state chunk_ready_file(struct chunk_cache *, struct chunk *,
		    int64_t now);
/* Whether that is a good idea. */
bool		 chunk_by_file(const struct chunk *);
/* What came of the last errand that was to bring it in: 0 or an errno; it is 0
 * as well when one begins. */
int		 chunk_error(const struct chunk *);
void		 chunk_set_error(struct chunk *, int error);
/* A helper has just read it: that took so long, ms; or it was there anyway. */
void		 chunk_warmed(struct chunk *, int64_t now, int64_t took,
		    bool was_there);
/*
 * A helper has copied it: here is the copy, for the method copy; 0 or an
 * errno.  The descriptor stays the caller's.
 */
int		 chunk_take(struct chunk *, int fd);

#endif
