/*
 * find: what other steps need of the step find.
 */
#ifndef HTTP_FIND_H
#define HTTP_FIND_H

#include "http/conn.h"

/* Expires the request's version in the pathname cache: the file has changed,
 * and the next request looks it up again. */
void	find_expire(struct conn *);
/* Goes back to FIND: the file has changed before a byte of it was sent. */
enum go	find_retry(struct conn *);
/* Goes back to FIND for the file itself in place of its variant. */
enum go	find_identity(struct conn *);

#endif
