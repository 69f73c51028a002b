/*
 * homes: directories of users, as the user database names them.
 *
 * Each process remembers those of its last users, since one user's many files
 * would ask a database that may be far away (LDAP) for each of them.
 */
#ifndef HELPERS_HOMES_H
#define HELPERS_HOMES_H

#include <sys/types.h>

#define HOMES_MS	5000		/* how long an answer is remembered */

struct home {
	char	*dir;		/* to be freed; may be no absolute path */
	uid_t	 uid;
};

/* Sets *home to that of the user with exactly this name.  Returns 0, or an
 * errno, ENOENT if there is no such user; then *home is as before.  Blocks
 * while the database is asked.  May be called by any thread. */
int	homes_find(const char *name, struct home *home);

#endif
