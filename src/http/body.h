/*
 * body: what the step send needs of the step body.
 */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/conn.h"

/* Whether the file of a response that was sent live is still the version that
 * the head names; called when all of it has been sent. */
bool	body_was_current(const struct conn *);
/* Takes pieces of the body that the client does not accept now out of the
 * output; body_step() puts them out again later. */
void	body_unsend(struct conn *);

#endif
