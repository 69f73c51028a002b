/*
 * user: whom a process may become, with all groups, as they are when somebody
 * looks.  Groups may be known to a service that is slow, or away: so the
 * monitor asks once for all children that it will have.
 */
#ifndef LIB_USER_H
#define LIB_USER_H

#include <sys/types.h>

#include <stdbool.h>

struct user {
	char	*name;		/* owned; NULL: nobody, stay who we are */
	uid_t	 uid;
	gid_t	 gid;
	gid_t	*groups;	/* owned; gid is one of them */
	int	 ngroups;
};

/* By name or by number; false: there is none, or its groups cannot be had.
 * May wait for the service that knows. */
bool	user_named(struct user *, const char *name);
bool	user_numbered(struct user *, uid_t);
void	user_free(struct user *);

/* To this user for good: groups, gid, uid; of nobody, nothing.  Asks no
 * service.  0, or -1 with errno. */
int	user_become(const struct user *);

#endif
