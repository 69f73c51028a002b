/*
 * listen_fds: open descriptors with names, from who starts a program to the
 * program (LISTEN_FDS of sd_listen_fds(3)).
 *
 * They are those from 3 on; how many there are, for which process, and their
 * names, is in the environment.
 */
#ifndef LIB_LISTEN_FDS_H
#define LIB_LISTEN_FDS_H

#include <stddef.h>

#define PASSED_FIRST	3
#define PASSED_NAME	256		/* bytes; no name is longer */
#define PASSED_MOST	512

struct passed {
	int	fd;
	char	name[PASSED_NAME];	/* "": it has none */
};

/*
 * What is for this process, into an array of its own; close-on-exec from here
 * on, and gone from the environment.  How many; 0 if there are none.
 */
size_t	passed_take(struct passed **);
/* Just before exec: puts them there, whatever was.  0, or -1 with errno. */
int	passed_give(struct passed *, size_t);

#endif
