/*
 * homes: directories of users, as the user database names them.
 *
 * Each process remembers the directories of the last users that it has looked
 * up.  Otherwise it would ask the database, which may be far away (LDAP), for
 * each of the many files of one user.
 */
#ifndef HELPERS_HOMES_H
#define HELPERS_HOMES_H

#include <sys/types.h>

#define HOMES_MS	5000		/* how long an answer is remembered */

struct home {
	char	*dir;		/* to be freed; may be no absolute path */
	uid_t	 uid;
};

/* Sets *home to the home of the user with exactly this name.  Returns 0, or an
 * errno (ENOENT: there is no such user), and then leaves *home as it was.
 * Blocks while the database is asked.  May be called by any thread. */
int	homes_find(const char *name, struct home *home);

#endif
