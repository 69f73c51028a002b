/*
 * why: the reasons for which a request does not get its file, from why.tbl.
 * The status follows from the reason.
 */
#ifndef PROTO_WHY_H
#define PROTO_WHY_H

#include <stdbool.h>

enum why {
#define WHY(id, status, directive, sentence) WHY_##id,
#include "proto/why.tbl"
#undef WHY
	WHY_COUNT
};

/* The status of a refusal for this reason; 0: it varies. */
int		 why_status(enum why);
/* The directive that the reason depends on; "": none. */
const char	*why_directive(enum why);
/* A clause about the request, without a full stop. */
const char	*why_sentence(enum why);
/* The reason for a refusal that follows from an errno of the disk. */
enum why	 why_of_error(int error);
/* The reason that follows from the error of a run of filters (src/filter.h);
 * too few descriptors are a want of places. */
enum why	 why_of_filters(int error);
/* Whether a later attempt may succeed: the status is 503. */
bool		 why_is_transient(int error);

#endif
