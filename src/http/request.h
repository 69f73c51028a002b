/*
 * request: one exchange on a connection; for the steps only.
 *
 * A pointer that is "held" keeps its entry in its cache until the request
 * releases it.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/path_info.h"
#include "cache/prefetch.h"
#include "http/output.h"
#include "proto/chunked.h"
#include "proto/multipart.h"
#include "proto/parse.h"

struct run;			/* programs/run.h */

/* Bits: what has named the user of a request. */
enum request_user {
	REQUEST_USER_PASSWORD	= 1 << 0,	/* a right one */
	REQUEST_USER_PROGRAM	= 1 << 1	/* an authorizer */
};

/* Groups are named after what they are about: steps use their own. */
struct request {
	struct parse		 parse;
	const struct conf_site	*site;
	struct path		*path;		/* held */
	struct path_info	 info;		/* copy of what path is */
	struct file		*file;		/* info's: referred to, held */
	struct {				/* of an internal redirect */
		const char		*name;	/* NULL: there was none */
		const struct conf_rules	*target_rules;	/* before it, or
						 * of a path never held */
		uint16_t		 status; /* error that it is for; 0 */
		int64_t			 size;	/* 416: of the target's file */
	}			 page;
	struct {				/* the request's own body */
		struct chunked		 chunked;	/* in chunks */
		int64_t			 left;		/* by length */
		int64_t			 deadline; /* clock ms; 0: none */
		uint8_t			 term;	/* of that */
		bool			 expect_continue; /* 100 is due */
		bool			 deferred; /* a program may take it */
	}			 discard;
	struct {
		struct auth_entry	*entry;	/* held: of its password */
		const struct conf_guard	*guard;	/* the one that refuses, or
						 * whose program is asked */
		size_t			 passed;	/* guards */
		uint32_t		 number; /* its first count */
		bool			 pending;	/* has waited for it */
		uint8_t			 user;	/* enum request_user */
		bool			 counted; /* by the rules' rate */
	}			 auth;
	struct {
		struct prefetch		 prefetch; /* of path */
		int64_t			 deadline; /* clock ms, of its
						 * refreshes; 0: none */
		bool			 done;	/* info is fresh enough */
		bool			 no_variants;	/* the file itself */
		bool			 unfiltered;	/* the same */
		bool			 digest_tried;	/* a job has */
		bool			 awaits_run;	/* of filters */
		uint32_t		 reloads;	/* of chains, before it
							 * came */
	}			 lookup;
	struct {				/* waits of several steps */
		int64_t			 deadline; /* clock ms; 0: none */
		uint8_t			 attempts;	/* lookups and reads */
		bool			 waited;	/* for one of these */
		uint16_t		 uses;	/* of path, before it waited */
	}			 disk;
	struct {
		struct head		*cached_head; /* held, until answered */
		struct piece		 head;		/* one made for it */
		uint32_t		 head_sent;	/* bytes put out */
		uint16_t		 status;
		uint8_t			 head_kind; /* of heads: Connection */
		uint8_t			 why;	/* enum why, of the status */
		bool			 answered; /* head is in the output */
		bool			 aborted;	/* ended before it */
	}			 response;
	struct {				/* of the response */
		int64_t			 next, end;	/* offsets to be sent */
		int64_t			 sent;	/* bytes put out so far */
		int64_t			 compared; /* sent at the last
						 * comparison of the file */
		struct chunk		*chunk;	/* held, the next to send */
		struct multipart	*multipart;	/* of several ranges */
		uint32_t		 window; /* bytes at a time; 0: full */
		bool			 file_open; /* descriptor is held */
		bool			 load_tried; /* waited for chunk */
		bool			 live;	/* by mapping or sendfile(2) */
		bool			 cork_end; /* hold the last packet until
						 * the version is compared */
		bool			 all_taken; /* no part of the window was
						 * taken back */
	}			 body;
	struct run		*run;	/* of the last program; NULL: none */
	uint8_t			 local_redirects;	/* by programs */
};

#endif
