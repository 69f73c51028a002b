/*
 * transport: how a connection's bytes come and go.
 *
 * Non-blocking in every architecture.  Results are those of recv(2) and
 * sendmsg(2): bytes, 0 at the end of input, -1 with errno (EAGAIN: wait).
 */
#ifndef HTTP_TRANSPORT_H
#define HTTP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct conn;
struct iovec;

struct transport {
	ssize_t	(*recv)(void *context, int fd, void *, size_t);
	/* more: there is more to come at once, or finish: so it need not
	 * hurry, and goes with that.  To close before may destroy it. */
	ssize_t	(*send)(void *context, int fd, const struct iovec *, int n,
		    bool more);
	/* A range of a file; 0: it has none.  NULL: must come as memory, and
	 * then there is no cork. */
	ssize_t	(*send_file)(void *context, int fd, int file, off_t, size_t);
	/* As long as it is on, what fills no packet waits for more, whatever
	 * the client confirms meanwhile. */
	void	(*cork)(void *context, int fd, bool on);
	void	(*shutdown)(void *context, int fd);	/* no more output */
	/* Bytes of output that the client's system has not confirmed yet.
	 * NULL: none. */
	size_t	(*unacked)(void *context, int fd);
	/* The close behind it resets the connection, and throws away what has
	 * not been sent yet.  NULL: that makes no difference. */
	void	(*reset)(void *context, int fd);
	void	(*close)(void *context, int fd);
	/* At the end of a request that only asks how it would be answered, in
	 * place of counting and logging it; NULL: they are real. */
	void	(*request_ended)(void *context, const struct conn *);
	bool	trusted;	/* the administrator's: no guard, no pace, and
				 * any number of requests */
};

extern const struct transport transport_plain;	/* a socket */

#endif
