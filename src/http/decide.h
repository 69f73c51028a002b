/*
 * decide: conditions and ranges of a request against what there is (RFC
 * 9110, sections 13 and 14).  Pure.
 */
#ifndef HTTP_DECIDE_H
#define HTTP_DECIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lib/str.h"

/* Fields as sent; at is NULL where there is none. */
struct decide_ask {
	struct str	if_match, if_none_match;
	struct str	if_modified_since, if_unmodified_since;
	struct str	if_range, range;
};

struct decide_have {
	struct str	etag;		/* with quotes, W/ in front if weak */
	time_t		modified;
	time_t		now;
	int64_t		size;		/* bytes */
};

struct decide_answer {
	int		status;		/* 200, 206, 304, 412, 416 */
	int64_t		first, length;	/* 206: the part to send */
};

/* In the order of RFC 9110, section 13.2.2.  One range only: a list of
 * several, and anything that is not a range, is answered with the whole. */
struct decide_answer	decide(const struct decide_ask *,
			    const struct decide_have *);

/* Weak comparison of one tag with a list of them or "*" (8.8.3.2). */
bool	decide_etag_weak(struct str list, struct str etag);
bool	decide_etag_strong(struct str list, struct str etag);

#endif
