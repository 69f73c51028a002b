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

struct request {
	struct parse		 parse;
	const struct conf_site	*site;
	const char		*page;		/* of an internal redirect */
	const struct conf_rules	*target_rules;	/* ... the rules before it */
	struct prefetch		 prefetch;	/* of the path's entry */
	struct path		*path;		/* held */
	struct path_info	 info;		/* copy of what path is */
	struct auth_entry	*auth;		/* held: of its password */
	const struct conf_guard	*guard;		/* the one that refused it */
	uint32_t		 auth_number;	/* auth's count at the start */
	size_t			 guards_passed;
	bool			 auth_pending;	/* has waited for auth */
	bool			 auth_ok;	/* a password was right */
	struct file		*file;		/* info's: referred to, held */
	struct chunk		*chunk;		/* held, the next to send */
	bool			 file_open;	/* its descriptor is held */
	bool			 lookup_done;	/* info is fresh enough */
	bool			 answered;	/* its head is in the output */
	bool			 load_tried;	/* has waited for this chunk */
	bool			 live;		/* by mapping or sendfile(2) */
	bool			 cork_end;	/* hold the last packet until
						 * the version is compared */
	bool			 all_taken;	/* no part of the window was
						 * taken back */
	bool			 expect_continue; /* 100 is due */
	bool			 no_variants;	/* the file itself only */
	bool			 aborted;	/* ended before its response */
	uint8_t			 attempts;	/* lookups and reads so far */
	uint16_t		 page_status;	/* error that page is for; 0 */
	uint16_t		 status;
	uint8_t			 head_kind;	/* of heads, by Connection */
	uint8_t			 why;		/* enum why, of the status */
	struct head		*cached_head;	/* held, until answered */
	struct piece		 head;		/* a head made for it */
	int64_t			 disk_deadline;	/* clock ms; 0: none yet */
	int64_t			 body_deadline;	/* clock ms; 0: none yet */
	int64_t			 body_left;	/* of its body, by length */
	struct chunked		 chunked;	/* of its body, in chunks */
	struct multipart	*multipart;	/* of several ranges */
	int64_t			 next, end;	/* file offsets to be sent */
	int64_t			 body_sent;	/* bytes put out so far */
	uint32_t		 head_sent;	/* bytes of head put out */
	uint32_t		 window;	/* bytes at a time; 0: full */
};

#endif
