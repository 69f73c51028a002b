/*
 * terminal: a screen of our own, given back as it was, whatever happens.
 */
#ifndef AMPEDCTL_TERMINAL_H
#define AMPEDCTL_TERMINAL_H

#include <stddef.h>

#include "lib/buf.h"

enum terminal_event {
	TERMINAL_TIMEOUT,			/* nothing happened in that time */
	TERMINAL_REDRAW,			/* a key, another size, we are back */
	TERMINAL_QUIT
};

/* NULL, or why there can be none. */
const char	*terminal_enter(void);
void		 terminal_leave(void);		/* any number of times */
void		 terminal_size(size_t *columns, size_t *lines);
/* These lines, and nothing else; what is too wide is cut off. */
void		 terminal_show(const struct buf *);
enum terminal_event terminal_wait(int ms);

#endif
