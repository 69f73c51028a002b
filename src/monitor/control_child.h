/*
 * control_child: a child process that answers one command of the control
 * socket.  check, explain and conf read files, so they may wait for a file
 * system; the monitor must not.
 */
#ifndef MONITOR_CONTROL_CHILD_H
#define MONITOR_CONTROL_CHILD_H

#include <sys/types.h>

struct control_request;

/* Starts a child that sends the answer to the client's descriptor.  Returns its
 * process id, or 0 if there can be none.  *pipe becomes the caller's; its end
 * tells that the child has ended. */
pid_t	control_child_start(const struct control_request *, int client,
	    int *pipe);

#endif
