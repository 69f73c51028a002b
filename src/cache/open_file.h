/*
 * open_file: what is known of a file only while it is open, and of bytes only
 * while they come.  Most small files have been copied, and have neither.
 */
#ifndef CACHE_OPEN_FILE_H
#define CACHE_OPEN_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"
#include "helpers/job.h"

struct task;
struct file;

/* A chunk's: chunk_fetch(). */
struct fetch {
	struct task		*task;	/* bringing it in; the users' */
	int64_t			 resident_until;	/* until then, clock ms */
	union {
		uint32_t	 filled;	/* small: bytes so far */
		uint32_t	 read_at;		/* else: clock ms, low bits */
	};
	int16_t			 error;		/* of the last task, errno */
	unsigned char		 lost_reads : 3;	/* times that it was read by
						 * a helper since then */
	bool			 in_pagemap : 1;	/* in the table of pages, as
						 * long as it is in memory */
	bool			 read_once : 1;	/* has been read, or a helper
						 * has, at read */
	bool			 read_twice : 1;	/* ... more than once */
	bool			 assumed_absent : 1;	/* taken for absent unseen */
};

struct open_file {
	struct cache_entry	 entry;		/* among the open (bytes: of
						 * made ones), then the going */
	struct file		*file;
	int			 fd;		/* owned */
	uintptr_t		 map_base;		/* to map its first chunk at,
						 * if it can be; 0: not yet */
	uint32_t		 ndropped;		/* of its chunks, so far */
	uint32_t		 read_end;		/* chunk behind the last read */
	uint16_t		 trust_ms;		/* ms that a proof is good */
	bool			 close_on_release;	/* when nobody holds it */
	bool			 no_sendfile;	/* the system has refused */
	bool			 outdated;	/* what is kept has changed */
	uint32_t		 compared_in;	/* a turn of its users, in which
						 * it was compared */
	struct fetch		 fetch;		/* of a small file's chunk */
	const struct job_version *version;	/* of what it is: the file's, */
	struct job_version	 cached[];	/* or, if it is kept, this */
};

#endif
