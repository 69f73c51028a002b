/*
 * control_programs: the command program of ampedctl.
 */
#ifndef MONITOR_CONTROL_PROGRAMS_H
#define MONITOR_CONTROL_PROGRAMS_H

#include <stdbool.h>

struct buf;
struct control_request;

/* Writes the answer, without its last line, about programs of the generation
 * that serves, and has one restarted if that is asked for.  manager: the socket
 * of its program manager; -1: there is none.  In a control child; does not
 * block. */
void	control_programs_answer(const struct control_request *, int manager,
	    struct buf *answer);
/* The socket of the manager that such a request is for, which stays the
 * monitor's; -1: none. */
int	control_programs_manager(const struct control_request *);
/* Whether a request is to restart a program, and so changes something. */
bool	control_programs_restarts(const struct control_request *);

#endif
