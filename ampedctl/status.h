/*
 * status: what the server is doing, shown once, or live.
 */
#ifndef STATUS_H
#define STATUS_H

#include "ask.h"

/* Both return the exit status. */
int	status_show(struct ask *);
int	status_top(struct ask *, const char *seconds);	/* NULL: one */

#endif
