/*
 * listener: listening sockets.
 */
#ifndef ARCH_LISTENER_H
#define ARCH_LISTENER_H

#include "arch/arch.h"

/*
 * Binds every address of a conf, all or none; NULL after one line for each that
 * could not be, which says why and what would help.
 */
struct listener	*listener_open(const struct conf *, size_t *n);
void		 listener_close(struct listener **, size_t n);
/* "http://127.0.0.1:8080/" of a socket as it is bound. */
void		 listener_url(const struct listener *, char *, size_t);

#endif
