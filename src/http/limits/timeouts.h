/*
 * timeouts: how long waits may be that are about a target, by its rules.
 */
#ifndef HTTP_LIMITS_TIMEOUTS_H
#define HTTP_LIMITS_TIMEOUTS_H

#include "http/conn.h"

/* For the client to take output. */
struct conf_timeout	timeouts_send(const struct conn *);
/* For the whole body of a request, whose path is not known yet. */
struct conf_timeout	timeouts_body(const struct conn *);
/* For the next request, behind one whose rules timeouts_note_idle() has noted,
 * if some rules have times of their own. */
struct conf_timeout	timeouts_idle(const struct session *);
COLD void		timeouts_note_idle(struct conn *);

#endif
