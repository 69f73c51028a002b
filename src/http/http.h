/*
 * http: the world of one loop: its caches, its buffers, its clock; for the
 * steps only.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/chunk.h"
#include "cache/file.h"
#include "cache/header.h"
#include "cache/pathname.h"
#include "conf.h"
#include "http/chunked.h"
#include "http/date.h"
#include "http/machine.h"
#include "http/mime.h"
#include "http/output.h"
#include "http/parse.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "wait.h"

/* Below the kernel's limit of mappings a process (65,530 by default). */
#define CHUNK_MAPPINGS_MOST	60000

#define HTTP_INPUT	(64 * 1024)	/* what one recv may bring, bytes */

struct http {
	const struct conf	*conf;
	struct clock		*clock;
	struct disk		 disk;
	void			(*log)(void *, const char *, size_t);
	void			*log_context;
	struct mime		*mime;
	const char		*server;	/* what it calls itself */
	struct pathname_cache	 paths;
	struct header_cache	 heads;
	struct file_cache	 files;
	struct chunk_cache	 chunks;
	struct parse_limits	 limits;
	struct chunked_limits	 body;
	uint64_t		 next_job;
	struct hash_key		 boundary_key;
	uint64_t		 boundaries;	/* made so far */
	bool			 draining;
	struct request		*spare;		/* one to use again */
	struct output		 output;	/* of who is running */
	struct buf		 work;		/* building a response */
	char			 date[DATE_LENGTH];
	char			 date_log[DATE_LOG_LENGTH];
	char			 input[HTTP_INPUT];
};

#endif
