/*
 * find: what other steps need of the finder.
 */
#ifndef HTTP_FIND_H
#define HTTP_FIND_H

#include "http/conn.h"

/* The version in hand is known to be gone: the next request looks anew. */
void	find_expire(struct conn *);
/* The version in hand has vanished before anything was sent: look again. */
enum go	find_retry(struct conn *);
/* The variant in hand cannot be had: the file itself in its place. */
enum go	find_identity(struct conn *);
/* Looks for what is in another space under the same name. */
enum go	find_in_namespace(struct conn *, uint32_t ns);
/*
 * Looks for a page of the conf in place of the target: with a status for its
 * failure, else for itself.
 */
enum go	find_internal_redirect(struct conn *, const char *page, int failure);

#endif
