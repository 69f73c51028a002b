/*
 * status: the status codes, from status.tbl.
 */
#ifndef PROTO_STATUS_H
#define PROTO_STATUS_H

#include <stdbool.h>

bool		 status_known(int code);
const char	*status_reason(int code);	/* "" when unknown */
const char	*status_sentence(int code);	/* "" when unknown */

#endif
