/*
 * environment: the meta-variables of a request (RFC 3875, section 4.1).
 */
#ifndef HTTP_PROGRAMS_ENVIRONMENT_H
#define HTTP_PROGRAMS_ENVIRONMENT_H

#include "http/conn.h"
#include "lib/buf.h"

/* Adds texts NAME=VALUE, each terminated, to an empty buffer.  The program's
 * own variables are among them, in place of others of their names; if it is a
 * CGI program, its manager adds them. */
void	environment_add(const struct conn *, struct buf *);

#endif
