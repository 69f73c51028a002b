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

#define LISTEN_FDS_FIRST	3
#define LISTEN_FDS_NAME_SIZE	256		/* bytes; no name is longer */
#define LISTEN_FDS_MAX	512

struct listen_fd {
	int	fd;
	char	name[LISTEN_FDS_NAME_SIZE];	/* "": it has none */
};

/*
 * What is for this process, into an array of its own; close-on-exec from here
 * on, and gone from the environment.  How many; 0 if there are none.
 */
size_t	listen_fds_take(struct listen_fd **);
/* Just before exec: puts them there, whatever was.  0, or -1 with errno. */
int	listen_fds_give(struct listen_fd *, size_t);

#endif
