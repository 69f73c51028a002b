/*
 * credentials: a name and a password as a client sends them (RFC 7617).  Pure.
 */
#ifndef PROTO_CREDENTIALS_H
#define PROTO_CREDENTIALS_H

#include <stdbool.h>

#include "lib/str.h"

#define CREDENTIALS_MAX	768	/* name and password: bytes */

struct credentials {
	struct str	user, password;		/* each terminated, adjacent */
	char		bytes[CREDENTIALS_MAX + 2];
};

/*
 * From the value of Authorization; false: it is of another scheme, malformed,
 * too long, without a name, or has a control character in it.
 */
bool	credentials_read(struct str value, struct credentials *);
/* Leaves nothing of them here; the field is still in the input. */
void	credentials_forget(struct credentials *);

#endif
