/*
 * http: the context of one loop: caches, buffers, clock; for the steps only.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/auth.h"
#include "cache/chunk.h"
#include "cache/header.h"
#include "cache/path_info.h"
#include "conf/conf.h"
#include "http/caches.h"
#include "http/limits/order.h"
#include "http/limits/verifiers.h"
#include "http/machine.h"
#include "http/output.h"
#include "http/session.h"
#include "http/variants/choice.h"
#include "lib/hash.h"
#include "lib/token_bucket.h"
#include "proto/chunked.h"
#include "proto/date.h"
#include "proto/mime.h"
#include "proto/parse.h"
#include "shared/addresses.h"

/* With MEM_MAPPINGS_MAX below the kernel's 65,530 mappings of a process. */
#define CHUNK_MAPPINGS_MAX	52000

/* Pending lookups, hashed by path. */
#define LOOKUP_BUCKETS	256
LIST_HEAD(lookup_list, lookup);

struct caches {		/* and counts of jobs; several loops may share them */
	bool			 shared;
	struct mime		*mime;
	struct pathname_cache	 paths;
	struct header_cache	 heads;
	struct file_cache	 files;
	struct chunk_cache	 chunks;
	struct auth_cache	 auth;
	_Atomic uint64_t	 next_job_id;
	struct verifiers	 verifiers;	/* of passwords */
	_Atomic uint32_t	 compressing;	/* jobs that compress now */
	_Atomic size_t		 deferred_closes, broken_off;
	_Atomic int64_t		 bodies, spooled;	/* bytes; on disk */
	size_t			 deferred_closes_max;
	struct waypoints	*waypoints;	/* NULL: nothing is watched */
	struct {				/* ms; see changes.c */
		_Atomic int64_t	 revalidate, negative;
	}			 fresh;
	/* Clock ms of the last warning; see log_is_due(). */
	_Atomic int64_t		 connections_warned_at, rate_warned_at;
	_Atomic int64_t		 unusable_warned_at, unverified_warned_at;
	_Atomic int64_t		 forwarded_warned_at, unkept_warned_at;
	_Atomic int64_t		 header_warned_at[PEER_FAULT_COUNT];
	struct recent		*refusals;	/* warned of lately */
	struct dependencies	*dependencies;
	struct hints		*hints;		/* NULL: off */
};

struct http_loop {
	struct caches		*caches;
	bool			 owns_caches, draining;
	size_t			 sent_away, copying; /* connections yet to end;
						      * bytes of lookups */
	const struct conf	*conf;
	struct clock		*clock;
	struct disk		 disk;
	struct backends		 backends;
	const char		*server;	/* value of Server */
	struct parse_limits	 parse_limits;
	struct chunked_limits	 chunked_limits;
	struct addresses	*addresses;	/* NULL: no limits */
	struct token_bucket_size pace;		/* without a site; 0: none */
	bool			 screens;	/* limits, or trusted proxies */
	bool			 shaped;	/* sends are paced or ordered */
	bool			 timed;		/* rules have own timeouts */
	struct order_state	 order;
	struct addresses *const *limiters;	/* by number, from 1 */
	/* Of body.c: a clock ms, and the bytes that were put out in it. */
	struct { int64_t at; size_t bytes; } large;
	struct {				/* see setup.h */
		char		*(*reserve)(void *, size_t most);
		void		(*commit)(void *, size_t);
		void		*context;
		/* only: the log of all requests; NULL: there are others, or
		 * none.  general: of requests without a site; NULL: off. */
		const struct conf_access_log *only, *general;
	}			 log;
	struct {				/* see setup.h */
		void		(*schedule)(void *);
		void		*context;
		bool		 hold;		/* start none */
	}			 verify;
	struct lookup_list	 lookups[LOOKUP_BUCKETS];	/* lookup.c's */
	int64_t			 results_from;	/* clock ms: a pause's end */
	struct choice		 chosen[CHOICE_KINDS][CHOICE_PLACES];
	struct {				/* of multipart responses */
		struct hash_key	 key;
		uint64_t	 count;		/* made so far */
	}			 boundary;
	struct {				/* memory to be reused */
		struct request	*requests[MACHINE_BATCH_MAX];
		struct conn	*conns[MACHINE_BATCH_MAX];
		unsigned	 nrequests, nconns;
	}			 spare;
	struct {				/* of this second */
		struct header_date head;
		char		 text[DATE_LENGTH];
		char		 log[DATE_LOG_LENGTH];
	}			 date;
	struct buf		 work;		/* to build a response in */
};

#endif
