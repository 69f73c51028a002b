/*
 * file: one version of one file, as long as somebody serves it.
 *
 * Whoever holds it may read its facts and take pieces of it (chunk.h).  It
 * keeps a descriptor only while there is something to map or to read: a file
 * that fits into memory whole gives it back.  Open descriptors are limited;
 * the least recently used ones of files that nobody sends are closed.
 */
#ifndef CACHE_FILE_H
#define CACHE_FILE_H

#include "cache/cache.h"
#include "cache/resident.h"
#include "helpers/job.h"

struct chunk;
struct chunk_cache;

struct file {
	struct cache_entry	 entry;		/* among the open descriptors
						 * (bytes: of made ones), then
						 * among those going */
	struct file_cache	*cache;
	int			 fd;		/* owned; -1: closed */
	int			 last;		/* closed to all, but its pieces
						 * go first; else -1 */
	uint32_t		 gone;		/* of them, so far */
	uint32_t		 references;
	uint32_t		 nchunks;
	uint32_t		 ahead;		/* chunk that follows what a
						 * helper has read last */
	uint16_t		 trust;		/* ms that a proof of residency
						 * is good for */
	uint8_t			 method;	/* enum resident_method */
	bool			 settled : 1;	/* job_facts say so */
	bool			 handle : 1;	/* the same */
	bool			 made : 1;	/* by a helper: file_is_made */
	bool			 unwanted : 1;	/* when nobody holds it */
	bool			 told : 1;	/* that it cannot be read */
	bool			 no_sendfile : 1; /* the system has refused */
	struct job_version	 version;
	struct chunk		*chunks[];	/* slots of the chunk cache */
};

#define FILE_SYSTEMS	16	/* that the log tells apart */
/* Pieces of one file: their slots take memory, and a sparse file has any
 * number of them. */
#define FILE_CHUNKS_MOST	(1U << 22)

struct file_cache {
	struct cache	 cache;
	uint64_t	 methods[RESIDENT_METHOD_COUNT];
	struct {
		uint64_t		dev;
		enum resident_method	method;
	}		 told[FILE_SYSTEMS];
	unsigned	 ntold;
	struct chunk_cache *chunks;		/* where their pieces are */
	size_t		 chunk_size, small;	/* bytes */
	int64_t		 residency;		/* an enum conf_residency */
	/*
	 * Takes the descriptor of a file whose close may take long: one that is
	 * not small, so it was open for long, and may have lost its name.
	 * Nothing else of ours keeps the file open then.  NULL: closed here.
	 */
	void		(*give)(void *, int fd, const struct job_version *);
	void		*give_context;
	/*
	 * Asks for file_tidy() in a turn of the loop's own: a file may have so
	 * many mappings that to drop them all would take long.  NULL: dropped
	 * at once.
	 */
	void		(*later)(void *);
	void		*later_context;
	TAILQ_HEAD(, cache_entry) going;
};

void		 file_init(struct file_cache *, struct chunk_cache *,
		    size_t descriptors, size_t chunk_size, size_t small,
		    int64_t residency);
/* Whether a version is not too large to be served. */
bool		 file_fits(const struct file_cache *,
		    const struct job_version *);
/* A new version, which fits, referred to once; takes the descriptor. */
struct file	*file_new(struct file_cache *, int fd,
		    const struct job_version *, const struct job_facts *);
void		 file_end(struct file *);	/* without references */
/* Keeps the descriptor open until the release; -1 if it is closed. */
int		 file_hold(struct file *);
void		 file_release(struct file *);
/* No more need of the descriptor: closed now, or when nobody holds it. */
void		 file_close(struct file *);
/* Drops some pieces of files that are to go; true: that was not all. */
bool		 file_tidy(struct file_cache *);
bool		 file_is_small(const struct file *);
/* What is sent of it are copies, which are ours and stay in memory. */
bool		 file_is_copied(const struct file *);
/* Made by a helper, without a name: the memory that it is in is ours. */
bool		 file_is_made(const struct file *);

static inline struct file *
file_refer(struct file *f)
{
	f->references++;
	return f;
}

/* One reference less. */
static inline void
file_drop(struct file **fp)
{
	struct file	*f = *fp;

	*fp = NULL;
	if (f != NULL && --f->references == 0)
		file_end(f);
}

#endif
