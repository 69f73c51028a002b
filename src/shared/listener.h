/*
 * listener: listening sockets.
 */
#ifndef SHARED_LISTENER_H
#define SHARED_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/unix_socket.h"

struct conf;

struct listener {
	int	fd;			/* non-blocking */
	size_t	number;			/* of the conf's listener */
	struct unix_socket_id file;	/* of a socket in the file system */
	bool	made;			/* the file, by this process */
};

/* Sockets that listener_open() may use again. */
struct listeners {
	const struct conf	*conf;		/* of at; NULL: no sockets */
	const struct listener	*at;		/* of the generation before */
	size_t			 n;
	const int		*passed;	/* bound by another program */
	size_t			 npassed;
};

/*
 * Binds all addresses of a conf.  Returns an array, which the caller owns, or
 * NULL after a line in the log for each address that cannot be bound.
 *
 * An address that has a socket already, or a passed one, gets another
 * descriptor of that socket: each can be closed by itself, and clients that
 * have connected do not notice.  Port 0 takes any passed socket of its address
 * that no other listener wants.  A socket for IPv6 and IPv4 at once serves
 * 0.0.0.0 too.  May wait for half a second while an address is in use.
 */
struct listener	*listener_open(const struct conf *,
		    const struct listeners *before, size_t *n);
void		 listener_close(struct listener **, size_t n);
/*
 * Blocks new connections: a client that has not begun to connect is refused,
 * through any descriptor of the socket.  So no client connects between the last
 * accept(2) and close(2), to be reset.  Linux only; elsewhere does nothing.
 */
void		 listener_block_new(const struct listener *);
bool		 listener_is_blocked(const struct listener *);
/* The file of a listener, or NULL. */
const char	*listener_file(const struct conf *, const struct listener *);
/* Gives the file of a listener the mode and owner of its conf. */
void		 listener_set_access(const struct conf *,
		    const struct listener *);
/* Whether a passed descriptor is a listening socket, of TCP or in the file
 * system. */
bool		 listener_is_fit(int fd);
/* Whether one of n listeners has the address of this socket. */
bool		 listener_has(const struct listener *, size_t n, int fd);
/* Writes the URL of a socket, as "http://127.0.0.1:8080/", or "unix:/FILE". */
void		 listener_url(const struct listener *, char *, size_t);

#endif
