/*
 * source: a descriptor that the manager's loop watches.
 */
#ifndef PROGRAMS_SOURCE_H
#define PROGRAMS_SOURCE_H

#include "loop/evloop.h"

struct source {
	int		 fd;		/* owned; -1: closed */
	struct watch	*watch;
};

/* Takes a descriptor; the caller sets the event that the function is called
 * for. */
void	source_add(struct source *, struct evloop *, int fd,
	    void (*on_event)(void *), void *context);
/* The same, for input. */
void	source_watch(struct source *, struct evloop *, int fd,
	    void (*on_readable)(void *), void *context);
void	source_close(struct source *);

#endif
