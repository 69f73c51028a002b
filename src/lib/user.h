/*
 * user: whom a process may become.  Which groups it is in may be known to a
 * service that is slow, or away: who may wait for it asks once, for all
 * children that it will have; without that each asks for itself.
 */
#ifndef LIB_USER_H
#define LIB_USER_H

#include <sys/types.h>

#include <stdbool.h>

struct user {
	char	*name;		/* owned; NULL: nobody, stay who we are */
	uid_t	 uid;
	gid_t	 gid;
	gid_t	*groups;	/* owned, gid is one; NULL: not known */
	int	 ngroups;
};

/* By name or by number, without its groups; false: there is none. */
bool	user_find_name(struct user *, const char *name);
bool	user_find_uid(struct user *, uid_t);
void	user_free(struct user *);
/* Asks for its groups; if they cannot be had, they are not known. */
void	user_load_groups(struct user *);

/* To this user for good: groups, gid, uid; of nobody, nothing.  0, or -1 with
 * errno. */
int	user_become(const struct user *);

#endif
