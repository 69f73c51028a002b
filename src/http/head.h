/*
 * head: makes response heads.
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include "http/conn.h"

#define HEAD_ETAG_MAX	16		/* bytes with quotes, W/ and the NUL */

/* Writes the entity tag of a file version, terminated; returns its length. */
size_t	head_etag(const struct file *, char etag[HEAD_ETAG_MAX]);
/* Begins a head in http->work with status line, Date, Server and Connection. */
void	head_begin(struct conn *, int status);
/* Ends it with an empty line. */
void	head_end(struct conn *);
/* Adds Content-Type and fields that go with it; rules may be NULL. */
void	head_add_type(struct conn *, const struct conf_rules *,
	    const char *type);
/* The value of a field that is a list.  Several lines of it are joined behind
 * http->work. */
struct str head_list(struct conn *, enum parse_field);

#endif
