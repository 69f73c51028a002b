/*
 * fields: writes response heads into http->work.
 */
#ifndef HTTP_FIELDS_H
#define HTTP_FIELDS_H

#include "http/conn.h"
#include "proto/conditional.h"

#define FIELDS_DATE_AT	23	/* where Date's value begins, of status 200 */

/* The methods that are served; X() makes something of each, AND joins them. */
#define FIELDS_METHODS(X, AND)	X(GET) AND X(HEAD) AND X(OPTIONS)

/* Begins a head with status line, Date, Server, Connection, and the fields that
 * belong to the status. */
void	fields_begin(struct conn *, int status);
/* Begins the head of a program's answer, whose status and fields are its
 * own. */
void	fields_begin_answer(struct conn *, int status, struct str reason);
/* Ends it with an empty line. */
void	fields_end(struct conn *);
/* Pads a head that has ended to whole cache lines. */
void	fields_pad(struct conn *);
/* Adds Content-Type and fields that go with it; rules may be NULL. */
void	fields_add_type(struct conn *, const struct conf_rules *,
	    const char *type);
/* Adds the conf's fields that responses without a file have, too. */
void	fields_add_always(struct conn *);
/* Adds the field Allow. */
void	fields_add_allow(struct conn *);

/*
 * Of the request's file
 */

/* Adds fields that every response about the file has, 304 included. */
void	fields_add_validators(struct conn *);
/* Adds type, coding and length of a body. */
void	fields_add_content(struct conn *, int64_t length);
/* The same of the range that the request has. */
void	fields_add_range(struct conn *);
/* The same of several ranges; sets r->body.multipart. */
void	fields_add_ranges(struct conn *, const struct cond_result *);

#endif
