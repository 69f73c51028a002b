/*
 * transport: how the bytes of a connection are received and sent.
 *
 * No function blocks.  Results are those of recv(2) and sendmsg(2): bytes, 0 at
 * the end of input, -1 with errno; EAGAIN means to wait.
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
	/* more: another send or shutdown() follows at once, and the system may
	 * hold these bytes back for it; a close in its place may lose them. */
	ssize_t	(*send)(void *context, int fd, const struct iovec *, int n,
		    bool more);
	/* Sends a range of a file; 0: the file ends before.  NULL: only send()
	 * works, and cork is NULL. */
	ssize_t	(*send_file)(void *context, int fd, int file, off_t, size_t);
	/* On: the system sends full packets only, whatever the client
	 * acknowledges meanwhile. */
	void	(*cork)(void *context, int fd, bool on);
	void	(*shutdown)(void *context, int fd);	/* ends the output */
	/* Bytes of output that the client has not acknowledged.  NULL: 0. */
	size_t	(*unacked)(void *context, int fd);
	/* The next close() resets the connection and drops unsent output.
	 * NULL: a close does so already. */
	void	(*reset)(void *context, int fd);
	void	(*close)(void *context, int fd);
	/* Called at the end of a request that no client has made; the request
	 * is neither counted nor logged.  NULL: clients make the requests. */
	void	(*request_ended)(void *context, const struct conn *);
	bool	trusted;	/* the administrator's: no guards, no pace, any
				 * number of requests */
};

extern const struct transport transport_plain;	/* a socket */

#endif
