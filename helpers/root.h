/*
 * root: where a job looks: the directory that nothing may leave, and by which
 * rules links are obeyed beneath it; a user's, or one that the job names.
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
	bool		 same_mount;			/* on one mount */
	int		 mount;			/* that; -1: fd's own */
	const char	*mount_path;			/* to there, beneath it ... */
	size_t		 mount_path_len;		/* ... bytes */
	bool		 is_user;		/* then all must be theirs */
	uid_t		 uid;
};

/* 0, or an errno; root_close() in either case. */
int	root_open(struct root *, const struct job *);
void	root_close(struct root *);
/* A path beneath it: a descriptor, or -1 with errno (see beneath_open), which
 * is EREMOTE instead of EXDEV if it is to stay. */
int	root_open_path(const struct root *, const char *path, int flags);
/* Whether what belongs to somebody may be shown. */
bool	root_may_show(const struct root *, uid_t);

#endif
