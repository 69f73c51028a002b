/*
 * open_file: what is known of a file while it is open, and of bytes while a
 * helper reads them.  A small file that is copied has neither record.
 */
#ifndef CACHE_OPEN_FILE_H
#define CACHE_OPEN_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"
#include "helpers/job.h"

struct file;
struct task;

/* The source that a version can be sent from. */
enum file_source {
	FILE_LOST,		/* nothing: closed, and not copied */
	FILE_OPEN,		/* its descriptor */
	FILE_COPIED		/* its only chunk, or an empty file */
};

/* How the bytes of a chunk come into memory: chunk_fetch(). */
struct fetch {
	struct task		*task;		/* http's, reading the chunk */
	int64_t			 resident_until;	/* clock ms */
	union {
		uint32_t	 filled;	/* small: bytes copied so far */
		uint32_t	 read_at;	/* else: clock ms, low bits */
	};
	int16_t			 error;		/* errno of the last task */
	unsigned char		 lost_reads : 3;	/* reads by helpers in
						 * vain, since read_at */
	bool			 in_pagemap : 1;	/* shown there while in
						 * memory */
	bool			 read_once : 1;	/* main or a helper has read it,
						 * at read_at */
	bool			 read_twice : 1;
	bool			 assumed_absent : 1;	/* without a look */
};

struct open_file {
	struct cache_entry	 entry;		/* of the cache of open files
						 * (bytes: of made files), then
						 * of file_cache.closing */
	struct file		*file;
	int			 fd;		/* owned */
	uintptr_t		 map_base;	/* wanted address of the first
						 * chunk; 0: not chosen yet */
	uint32_t		 ndropped;	/* closing: slots done */
	uint32_t		 read_end;	/* slot behind the last chunk
						 * that a helper has read */
	uint16_t		 trust_ms;	/* how long a chunk counts as
						 * resident after a look */
	bool			 close_on_release;
	bool			 no_sendfile;	/* the system has refused it */
	bool			 outdated;	/* cached file has changed */
	uint32_t		 compared_in;	/* http's: clock->updates at
						 * the last
						 * file_is_unchanged() */
	struct fetch		 fetch;		/* of a small file's chunk */
	struct {				/* of digest.c */
		struct task	*task;		/* http's: the next slice */
		int64_t		 done;		/* bytes in it so far */
		int		 error;		/* errno of the last task */
	}			 digest;
	const struct job_version *version;	/* of the open file: the file's
						 * version, or cached */
	struct job_version	 cached[];	/* at most one: of a file from
						 * the cache directory */
};

#endif
