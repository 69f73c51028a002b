/*
 * request: one exchange on a connection; for the steps only.
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

struct request {
	struct parse		 parse;
	const struct conf_site	*site;
	const char		*page;	/* of the target: a page */
	const struct conf_rules	*target_rules;		/* then: the target's */
	struct prefetch		 prefetch;		/* to look for that */
	struct path		*path;		/* held */
	struct path_info		 info;		/* what that was, then */
	struct auth_entry		*auth;		/* held: its password's */
	const struct conf_guard	*guard;		/* that refused it */
	uint32_t		 auth_number;	/* before so many answers */
	size_t			 guards_passed;	/* passed so far */
	bool			 auth_pending;		/* has waited for its auth entry */
	bool			 auth_ok;		/* has a right password */
	struct file		*file;		/* this version: the reference
						 * and the hold of found */
	struct chunk		*chunk;		/* held, the next to send */
	bool			 file_open;	/* its descriptor is held */
	bool			 lookup_done;	/* has waited for a look */
	bool			 answered;	/* its head is in the output */
	bool			 load_tried;	/* has waited for this chunk */
	bool			 live;		/* what was put out was mapped
						 * or is the file itself */
	bool			 cork_end;	/* and its last packet waits
						 * until it has been compared */
	bool			 all_taken;	/* a portion, and none of it
						 * taken back so far */
	bool			 expect_continue;	/* 100, before its body comes */
	bool			 no_variants;		/* without variants */
	bool			 aborted;	/* ended before its response */
	uint8_t			 attempts;		/* looks and reads so far */
	uint16_t		 page_status;	/* that it is for, or 0 */
	uint16_t		 status;
	uint8_t			 head_kind;	/* of heads, by Connection */
	uint8_t			 why;		/* enum why, of the status */
	struct head		*cached_head;		/* held, until answered */
	struct piece		 head;		/* the same, if made for it */
	int64_t			 disk_deadline;	/* clock ms; 0: not yet */
	int64_t			 body_deadline;	/* the same, for its own body */
	int64_t			 body_left;	/* of that, by its length */
	struct chunked		 chunked;	/* of that, in chunks */
	struct multipart		*multipart;		/* of several ranges */
	int64_t			 next, end;	/* of the body, file offsets */
	int64_t			 body_sent;		/* bytes of body put out */
	uint32_t		 head_sent;	/* the same of its head */
	uint32_t		 window;	/* at once; 0: a turn's */
};

#endif
