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
/* Goes to FIND for the same name in another namespace. */
enum go	find_in_namespace(struct conn *, uint32_t ns);
/* Starts over with a page of the conf in place of the target.  failure: the
 * status that the page is for; 0: the status is the page's own. */
enum go	find_internal_redirect(struct conn *, const char *page, int failure);

#endif
