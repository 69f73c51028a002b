/*
 * htpasswd: the text of a password file: a line for each user, the name, a
 * colon, and what crypt(3) made of the password.  Pure.
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
 * The user's hash, the first one; at NULL without.  *other is a usable one to
 * be verified in its place, so that it takes the time that a user's takes:
 * always the same for the same name and file; at NULL if none is usable.
 */
struct str htpasswd_find(struct str text, struct str user, struct str *other);

#endif
