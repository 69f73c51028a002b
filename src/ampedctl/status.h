/*
 * status: what the server is doing, shown once, or live.
 */
#ifndef AMPEDCTL_STATUS_H
#define AMPEDCTL_STATUS_H

#include "ampedctl/client.h"

/* Both return the exit status. */
int	status_show(struct client_target *);
int	status_top(struct client_target *, const char *seconds);	/* NULL: one */

#endif
