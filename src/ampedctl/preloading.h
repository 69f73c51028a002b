/*
 * preloading: the command preload: collects names, and asks for them in several
 * requests.
 */
#ifndef AMPEDCTL_PRELOADING_H
#define AMPEDCTL_PRELOADING_H

#include <stddef.h>

#include "ampedctl/client.h"

struct preloading_setup {
	struct client_target	*target;
	char			**words;	/* paths and patterns */
	size_t			 n;
	const char		*list;		/* a file; "-": standard input;
						 * NULL: none */
	size_t			 hottest;	/* so many names of a log, which
						 * the list is; 0: it is none */
};

/* Prints what comes of it, and returns the exit status. */
int	preloading_run(const struct preloading_setup *);

#endif
