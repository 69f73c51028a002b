/*
 * terminal: takes over the whole terminal, and restores it however the program
 * ends.
 */
#ifndef AMPEDCTL_TERMINAL_H
#define AMPEDCTL_TERMINAL_H

#include <stddef.h>

#include "lib/buf.h"

enum terminal_event {
	TERMINAL_TIMEOUT,		/* nothing has happened */
	TERMINAL_REDRAW,		/* a key, another size, or continued */
	TERMINAL_QUIT
};

/* Switches to a screen of its own and to single keys.  Returns NULL, or why
 * that is impossible. */
const char	*terminal_enter(void);
/* Restores the terminal; may be called more than once. */
void		 terminal_leave(void);
void		 terminal_size(size_t *columns, size_t *lines);
/* Shows these lines and nothing else; cuts lines that are too wide. */
void		 terminal_show(const struct buf *);
enum terminal_event terminal_wait(int ms);

#endif
