/*
 * conditional: the conditions and ranges of a request against the selected
 * representation (RFC 9110, sections 13 and 14).  Pure.
 */
#ifndef PROTO_CONDITIONAL_H
#define PROTO_CONDITIONAL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lib/str.h"

/* Fields as sent; at is NULL where the field is absent. */
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

/* Ranges of one response; a request for more gets the whole. */
#define COND_RANGES_MAX	16

struct byte_range {
	int64_t	first, length;
};

struct cond_result {
	int			status;	/* 200, 206, 304, 412, 416 */
	unsigned		n;	/* 206: number of ranges, at least 1 */
	struct byte_range	range[COND_RANGES_MAX];
};

/*
 * Evaluates in the order of RFC 9110, section 13.2.2.  Ranges stay in the order
 * asked for; ranges that overlap or touch become one, in the place of the
 * first. A Range field that is not a list of byte ranges is ignored.
 */
void	conditional_evaluate(const struct cond_request *,
	    const struct cond_selected *, struct cond_result *);

/* Compares a tag with a list of tags or "*", strongly or weakly (section
 * 8.8.3.2). */
bool	conditional_match(struct str list, struct str etag, bool strong);

#endif
