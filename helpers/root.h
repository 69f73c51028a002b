/*
 * root: the root directory of a job, which no path may leave, with the policy
 * on links beneath it.  It is in a user's home, or a path of the job.
 */
#ifndef HELPERS_ROOT_H
#define HELPERS_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "helpers/job.h"

struct root {
	const char	*name;			/* the job's, for the log */
	int		 fd;			/* -1: not open */
	enum job_links	 links;
	bool		 same_mount;		/* no path leaves the mount */
	int		 mount;			/* where mount_path leads to;
						 * -1: no mount_path */
	const char	*mount_path;		/* beneath fd; not terminated */
	size_t		 mount_path_len;	/* bytes */
	bool		 is_user;		/* files must belong to uid */
	uid_t		 uid;
};

/* Opens the root of a job: 0, or an errno; root_close() in either case. */
int	root_open(struct root *, const struct job *);
void	root_close(struct root *);
/* Opens a path beneath the root: a descriptor, or -1 with errno, which is that
 * of beneath_open(), or EREMOTE in place of EXDEV with same_mount. */
int	root_open_path(const struct root *, const char *path, int flags);
/* As access(2), of an open file; ENOENT: there is no proc(5). */
int	root_access(int fd, int mode);
/* Whether a file of that owner may be served. */
bool	root_may_show(const struct root *, uid_t);

#endif
