/*
 * htpasswd: the text of a password file, which has a line for each user: the
 * name, a colon, and the hash of the password by crypt(3).  Pure.
 */
#ifndef HELPERS_HTPASSWD_H
#define HELPERS_HTPASSWD_H

#include <stdbool.h>

#include "lib/str.h"

struct htpasswd_entry {
	struct str	user, hash;
};

/* The next entry, cut off the front of *rest; false at the end. */
bool	htpasswd_next(struct str *rest, struct htpasswd_entry *);
/* Whether crypt(3) can verify it: $6$..., $2y$..., but not $apr1$.... */
bool	htpasswd_usable(struct str hash);
/*
 * The user's first hash; its `at` is NULL if there is none.  Sets *other to a
 * usable hash of another user, to be verified in its place so that the time
 * does not tell whether the user exists: the same one for the same name and
 * file; `at` is NULL if no hash is usable.
 */
struct str htpasswd_find(struct str text, struct str user, struct str *other);

#endif
