/*
 * control_child: a child process that answers one command of the control
 * socket.  check, explain and conf read files, so they may wait for a file
 * system; the monitor must not.
 */
#ifndef MONITOR_CONTROL_CHILD_H
#define MONITOR_CONTROL_CHILD_H

struct control_request;

/* Sends the answer to the client's descriptor, and ends the process.  manager:
 * of programs; see control_programs.h. */
_Noreturn void control_child_answer(const struct control_request *, int client,
		    int manager);

#endif
