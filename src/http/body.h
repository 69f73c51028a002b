/*
 * body: what send needs of it.
 */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/conn.h"

/* Whether the file that a response was sent from, live, is still the version
 * that has been put out; asked when all of it has gone. */
bool	body_was_current(const struct conn *);
/* The client does not take more now: pieces of the body are not to wait in the
 * output.  They are put out again when it does. */
void	body_unsend(struct conn *);

#endif
