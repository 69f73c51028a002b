/*
 * conditional: conditions and ranges of a request against what there is (RFC
 * 9110, sections 13 and 14).  Pure.
 */
#ifndef PROTO_CONDITIONAL_H
#define PROTO_CONDITIONAL_H

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

/* Parts of one response; who asks for more gets the whole. */
#define DECIDE_RANGES	16

struct decide_range {
	int64_t	first, length;
};

struct decide_answer {
	int			status;	/* 200, 206, 304, 412, 416 */
	unsigned		n;	/* 206: how many parts, at least 1 */
	struct decide_range	part[DECIDE_RANGES];
};

/*
 * In the order of RFC 9110, section 13.2.2.  Parts stand in the order asked
 * for; those that overlap or touch are one, in the place of the first.  What
 * is not a list of ranges is answered with the whole.
 */
void	decide(const struct decide_ask *, const struct decide_have *,
	    struct decide_answer *);

/* Weak comparison of one tag with a list of them or "*" (8.8.3.2). */
bool	decide_etag_weak(struct str list, struct str etag);
bool	decide_etag_strong(struct str list, struct str etag);

#endif
