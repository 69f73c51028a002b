/*
 * listen_fds: descriptors with names that a program gets from its parent
 * (sd_listen_fds(3)).
 *
 * The descriptors are numbered from 3 on.  Their number, the id of the process
 * and their names stand in LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES.
 */
#ifndef LIB_LISTEN_FDS_H
#define LIB_LISTEN_FDS_H

#include <stddef.h>

#define LISTEN_FDS_FIRST	3
#define LISTEN_FDS_NAME_SIZE	256		/* bytes; no name is longer */
#define LISTEN_FDS_MAX	512

struct listen_fd {
	int	fd;
	char	name[LISTEN_FDS_NAME_SIZE];	/* "": without a name */
};

/*
 * Returns how many descriptors this process was passed, and sets *list to an
 * array of them, which is the caller's to free; NULL for none.  Makes them
 * close-on-exec, and removes the three variables from the environment.
 */
size_t	listen_fds_take(struct listen_fd **);
/*
 * Moves descriptors to the numbers from 3 on, whatever these were, and sets the
 * three variables; to be called just before exec.  0, or -1 with errno.
 */
int	listen_fds_give(struct listen_fd *, size_t);

#endif
