/*
 * user: a user of the system, and how a process becomes that user.
 *
 * The lookups may block on a name service.  A process that forks many children
 * loads the groups once, for all of them.
 */
#ifndef LIB_USER_H
#define LIB_USER_H

#include <sys/types.h>

#include <stdbool.h>

struct user {
	char	*name;		/* owned; NULL: the process's own user */
	uid_t	 uid;
	gid_t	 gid;
	gid_t	*groups;	/* owned, gid included; NULL: not loaded */
	int	 ngroups;
};

/* Look a user up, without groups; false: there is no such user. */
bool	user_find_name(struct user *, const char *name);
bool	user_find_uid(struct user *, uid_t);
/* Gives the user another group than that of the user database; false: there is
 * no such group. */
bool	user_set_group(struct user *, const char *group);
void	user_free(struct user *);
/* Looks the groups up; groups stays NULL if that fails. */
void	user_load_groups(struct user *);

/* Sets groups, gid and uid of this process for good, unless name is NULL.  0,
 * or -1 with errno. */
int	user_become(const struct user *);

#endif
