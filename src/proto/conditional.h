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
struct cond_request {
	struct str	if_match, if_none_match;
	struct str	if_modified_since, if_unmodified_since;
	struct str	if_range, range;
};

struct cond_selected {
	struct str	etag;		/* with quotes, W/ in front if weak */
	time_t		modified;
	time_t		now;
	int64_t		size;		/* bytes */
};

/* Parts of one response; who asks for more gets the whole. */
#define COND_RANGES_MAX	16

struct byte_range {
	int64_t	first, length;
};

struct cond_result {
	int			status;	/* 200, 206, 304, 412, 416 */
	unsigned		n;	/* 206: how many parts, at least 1 */
	struct byte_range	range[COND_RANGES_MAX];
};

/*
 * In the order of RFC 9110, section 13.2.2.  Parts stand in the order asked
 * for; those that overlap or touch are one, in the place of the first.  What
 * is not a list of ranges is answered with the whole.
 */
void conditional_evaluate(const struct cond_request *,
    const struct cond_selected *, struct cond_result *);

/* Weak comparison of one tag with a list of them or "*" (8.8.3.2). */
bool	conditional_match_weak(struct str list, struct str etag);
bool	conditional_match_strong(struct str list, struct str etag);

#endif
