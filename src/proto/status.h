/*
 * status: the status codes that amped sends, from status.tbl.
 */
#ifndef PROTO_STATUS_H
#define PROTO_STATUS_H

#include <stdbool.h>

bool		 status_known(int code);
/* The reason phrase; "": unknown code. */
const char	*status_reason(int code);
/* A sentence for people; "": unknown code, or none is needed. */
const char	*status_sentence(int code);

#endif
