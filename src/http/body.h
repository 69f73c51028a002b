/*
 * body: what send needs of it.
 */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/conn.h"

/* Whether pieces of the body have waited for longer than they can be trusted
 * to be in memory. */
bool	body_stale(const struct conn *);
/* Takes them back and gets them again. */
enum go	body_again(struct conn *);

#endif
