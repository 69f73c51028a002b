/*
 * scgi: the head of a request to an SCGI server.  The answer is that of a CGI
 * program, and ends with the connection.
 *
 * Pure.  Specification: https://python.ca/scgi/protocol.txt
 */
#ifndef PROTO_SCGI_H
#define PROTO_SCGI_H

#include "lib/buf.h"
#include "lib/str.h"

/* Adds the head, a netstring of names and values; the body follows as it is.
 * The environment is texts NAME=VALUE, each terminated; CONTENT_LENGTH, which
 * must be there, comes first, and SCGI behind it. */
void	scgi_add_head(struct buf *, struct str environment);

#endif
