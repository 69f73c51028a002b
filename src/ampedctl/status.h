/*
 * status: what the server is doing, shown once, or live.
 */
#ifndef AMPEDCTL_STATUS_H
#define AMPEDCTL_STATUS_H

#include "ampedctl/client.h"

/* Both return the exit status. */
int	status_show(struct ask *);
int	status_top(struct ask *, const char *seconds);	/* NULL: one */

#endif
