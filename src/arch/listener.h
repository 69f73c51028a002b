/*
 * listener: listening sockets.
 */
#ifndef ARCH_LISTENER_H
#define ARCH_LISTENER_H

#include "arch/arch.h"

/* Those that are there already, and the conf that has their addresses. */
struct listeners {
	const struct conf	*conf;		/* NULL: there are none */
	const struct listener	*at;
	size_t			 n;
};

/*
 * Binds every address of a conf, all or none; NULL after one line for each that
 * could not be, which says why and what would help.  Of one that there is
 * already, it is the same socket by another descriptor: so they may be closed
 * each by itself, and who has connected to it does not notice.
 */
struct listener	*listener_open(const struct conf *,
		    const struct listeners *before, size_t *n);
void		 listener_close(struct listener **, size_t n);
/* "http://127.0.0.1:8080/" of a socket as it is bound. */
void		 listener_url(const struct listener *, char *, size_t);

#endif
