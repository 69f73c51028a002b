/*
 * authorize: the guards of a path whose programs authorize.
 */
#ifndef HTTP_AUTHORIZE_H
#define HTTP_AUTHORIZE_H

#include <stddef.h>

#include "http/conn.h"

/* The next guard of the request's path, from a number on, whose program is to
 * be asked; sets *number to the guard's; NULL: there are no more.  Each program
 * is asked once.  The path is held, and decoded is its decoded name. */
const struct conf_guard *authorize_find_program(const struct request *,
	    const char *decoded, size_t *number);

#endif
