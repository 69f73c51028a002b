/*
 * http: the world of one loop: its store, its buffers, its clock; for the
 * steps only.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/auth.h"
#include "cache/chunk.h"
#include "cache/file.h"
#include "cache/header.h"
#include "cache/path_info.h"
#include "cache/pathname.h"
#include "conf/conf.h"
#include "http/caches.h"
#include "http/hot.h"
#include "http/io_batch.h"
#include "http/limits/verifiers.h"
#include "http/machine.h"
#include "http/output.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/token_bucket.h"
#include "proto/chunked.h"
#include "proto/date.h"
#include "proto/mime.h"
#include "proto/parse.h"
#include "shared/addresses.h"

/* With MEM_MAPPINGS_MAX below the kernel's limit a process (65,530 by default). */
#define CHUNK_MAPPINGS_MAX	52000

#define HTTP_INPUT_SIZE	(64 * 1024)	/* bytes that one recv may bring */

/* Those under way, by their path. */
#define LOOKUP_BUCKETS	256
LIST_HEAD(lookup_list, lookup);

/* What several loops may share; that of jobs is counted by all of them. */
struct caches {
	bool			 shared;
	struct mime		*mime;
	struct pathname_cache	 paths;
	struct header_cache	 heads;
	struct file_cache	 files;
	struct chunk_cache	 chunks;
	struct auth_cache	 auth;
	struct lookup_list		 lookups[LOOKUP_BUCKETS];	/* lookup.c's; not if it
							 * is shared */
	_Atomic uint64_t	 next_job_id;
	struct verifiers	 verifiers;	/* of passwords */
	_Atomic uint32_t	 compressing;	/* such jobs under way */
	_Atomic size_t		 deferred_closes;	/* the same */
	size_t			 deferred_closes_max;
	_Atomic int64_t		 connections_warned_at, rate_warned_at;	/* clock ms */
	_Atomic int64_t		 unusable_warned_at, unverified_warned_at;
};

struct http_loop {
	struct caches		*caches;
	bool			 owns_caches;
	const struct conf	*conf;
	struct clock		*clock;
	struct disk		 disk;
	char			*(*log_reserve)(void *, size_t most);
	void			(*log_commit)(void *, size_t);
	void			*log_context;
	const char		*server;	/* what it calls itself */
	struct parse_limits	 parse_limits;
	struct chunked_limits	 chunked_limits;
	struct addresses	*addresses;	/* NULL: none is limited */
	struct token_bucket_size	 pace;		/* rate 0: without */
	struct {			/* variant.c: what it chose last */
		char		 accept[64];
		size_t		 len;
		uint32_t	 offered, which;	/* 0: nothing yet */
		uint8_t		 choice;
	}			 negotiated;
	struct hash_key		 boundary_key;
	uint64_t		 boundary_count;	/* made so far */
	bool			 draining;
	uint32_t		 iteration;		/* a batch, or one alone */
	bool			 verifying;	/* starts what was held back */
	void			(*schedule_verify)(void *);	/* see machine.h */
	void			*verify_context;
	/* To use again. */
	struct request		*spare_requests[MACHINE_BATCH_MAX];
	struct conn		*spare_conns[MACHINE_BATCH_MAX];
	unsigned		 nspare_requests, nspare_conns;
	struct token_bucket		 refresh_bucket;	/* lookup.c: looks at that */
	unsigned		 refresh_skipped;	/* since one was not */
	size_t			 bytes_out;		/* bytes, by who is running */
	size_t			 bytes_in;		/* the same, of its input */
	struct hot_responses		 hot;	/* of this second */
	struct output		 output;	/* the same one's */
	struct buf		 work;		/* building a response */
	struct header_date	 date;		/* of this second */
	char			 date_text[DATE_LENGTH];
	char			 date_log[DATE_LOG_LENGTH];
	/* Of those who run together; outputs NULL: nobody has yet. */
	struct output		*batch_outputs;
	struct io_batch		 io_batch;
	size_t			 batch_offset;		/* bytes of its input: theirs */
	char			 input[HTTP_INPUT_SIZE];
};

/* Whether it is time for a line of the log again, of a kind that clients can
 * cause as often as they like; that was then the time. */
bool	http_may_log(const struct http_loop *, _Atomic int64_t *warned_at);
void	machine_set_crash_context(void);	/* the step, and the request */
/* Gauges and counters of the caches; the same in lines. */
void	caches_measure(const struct caches *);
void	caches_report(const struct caches *, void (*)(const char *));

#endif
