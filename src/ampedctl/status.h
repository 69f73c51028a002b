/*
 * status: the commands status and top.
 */
#ifndef AMPEDCTL_STATUS_H
#define AMPEDCTL_STATUS_H

#include "ampedctl/client.h"

/* Prints the screen once; returns the exit status. */
int	status_show(struct client_target *);
/* Shows the screen every so many seconds (NULL: one) until q is pressed;
 * returns the exit status. */
int	status_top(struct client_target *, const char *seconds);

#endif
