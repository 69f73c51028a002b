/*
 * credentials: name and password of an Authorization field, scheme Basic (RFC
 * 7617).  Pure.
 */
#ifndef PROTO_CREDENTIALS_H
#define PROTO_CREDENTIALS_H

#include <stdbool.h>

#include "lib/str.h"

#define CREDENTIALS_MAX	768	/* name and password: bytes */

struct credentials {
	struct str	user, password;		/* in bytes, both terminated */
	char		bytes[CREDENTIALS_MAX + 2];
};

/*
 * Reads the value of an Authorization field.  False: it is of another scheme,
 * malformed, too long, without a name, or has a control character in it.
 */
bool	credentials_read(struct str value, struct credentials *);
/* Wipes the memory; the field itself is still in the input. */
void	credentials_forget(struct credentials *);

#endif
