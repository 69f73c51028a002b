/*
 * listener: listening sockets.
 */
#ifndef SHARED_LISTENER_H
#define SHARED_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

struct conf;

struct listener {
	int	fd;			/* listening, non-blocking */
	size_t	number;			/* the conf's listener */
};

/* Those that are there already, and the conf that has their addresses; and
 * sockets that somebody else has bound for us. */
struct listeners {
	const struct conf	*conf;		/* NULL: there are none */
	const struct listener	*at;
	size_t			 n;
	const int		*passed;
	size_t			 npassed;
};

/*
 * Binds every address of a conf, all or none; NULL after one line for each that
 * could not be, which says why and what would help.  Of one that there is
 * already, or that was passed, it is the same socket by another descriptor: so
 * they may be closed each by itself, and who has connected to it does not
 * notice.
 *
 * Port 0 takes a passed socket of any port that nobody else wants.  One for
 * IPv4 and IPv6 at once serves 0.0.0.0 as well.
 */
struct listener	*listener_open(const struct conf *,
		    const struct listeners *before, size_t *n);
void		 listener_close(struct listener **, size_t n);
/*
 * Whoever has not begun to connect by now cannot any more, by whichever
 * descriptor of that socket, and is refused when it has been closed: so nobody
 * comes between a last accept and that, to be reset.  Linux only; elsewhere it
 * does nothing.
 */
void		 listener_block_new(const struct listener *);
bool		 listener_is_blocked(const struct listener *);
/* Whether one that was passed is fit for listening at all. */
bool		 listener_is_fit(int fd);
/* Whether one of these is the same socket, or for the same address. */
bool		 listener_has(const struct listener *, size_t n, int fd);
/* "http://127.0.0.1:8080/" of a socket as it is bound. */
void		 listener_url(const struct listener *, char *, size_t);

#endif
