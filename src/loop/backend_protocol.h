/*
 * backend_protocol: what the driver of programs (backends.c) says and hears
 * over the connection of one request, by the program's protocol.  With CGI the
 * connection is a pipe, and all that comes is output; a body may go over
 * another pipe.
 *
 * No function blocks.
 */
#ifndef LOOP_BACKEND_PROTOCOL_H
#define LOOP_BACKEND_PROTOCOL_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "proto/fastcgi.h"
#include "shared/error_lines.h"

struct backend_protocol {		/* private, except kind */
	uint8_t		 kind;		/* enum conf_protocol */
	/* The request. */
	struct buf	 piece;		/* made, and not sent yet */
	int		 body;		/* owned; what of it is not in a piece
					 * begins at offset; -1: nothing */
	off_t		 offset;
	bool		 comes;		/* more of the body is to be added */
	bool		 is_cut;	/* not all of it was taken */
	bool		 keeps;		/* asks to keep the connection */
	/* The answer. */
	struct fastcgi	 answer;
	bool		 has_begun;	/* something has come */
	bool		 has_output;
	bool		 is_last;	/* nothing has come behind it */
	struct error_lines errors;	/* rate is NULL: none come this way */
	const struct clock *clock;
	const char	*name;
};

/* Whether the request goes over the connection; else the program manager has
 * it. */
bool	backend_protocol_sends(const struct backend_protocol *);
/* Makes the begin of a request, and duplicates the body's descriptor.  rate:
 * that of the program's errors, of FASTCGI; id: the request's, not 0, and not
 * that of the request before on a connection, as records may be late.  -1 with
 * errno, and then there is nothing to be closed. */
int	backend_protocol_open(struct backend_protocol *,
	    const struct backend_start *, const struct clock *,
	    struct error_lines_rate *rate, uint16_t id);
/* Sends the begin over a kept connection.  False: the process has closed that,
 * and has got nothing. */
bool	backend_protocol_begin(struct backend_protocol *, int connection);
/* Sends a part of the request.  1: nothing is left to be sent now, as all was
 * sent or the server takes no more; 0: more is left; -1: the body cannot be
 * read. */
int	backend_protocol_send(struct backend_protocol *, int connection);
/* How many bytes of a body that is to be added may be added now. */
size_t	backend_protocol_room(const struct backend_protocol *);
/* Adds bytes to what is to be sent, which are dropped if the server takes no
 * more; says that the body ends. */
void	backend_protocol_add(struct backend_protocol *, const char *, size_t);
void	backend_protocol_finish(struct backend_protocol *);
/* Whether nothing will be sent any more. */
bool	backend_protocol_is_sent(const struct backend_protocol *);
/* Whether all that was added was sent. */
bool	backend_protocol_is_flushed(const struct backend_protocol *);
/* Whether the server has refused to take a part of it. */
bool	backend_protocol_is_cut(const struct backend_protocol *);
/* Reads what comes, as read(2). */
ssize_t	backend_protocol_recv(const struct backend_protocol *, int connection,
	    char *to, size_t room);
/* Takes *n bytes that have come; leaves of them the output, and its length in
 * *n.  Returns BACKEND_RUNS, or how the answer has ended with them; then status
 * and retry_after of the backend are set. */
enum backend_end backend_protocol_take(struct backend_protocol *, char *bytes,
	    size_t *n, struct backend *);
/* The server has closed the connection; error: an errno, or 0.  Returns
 * BACKEND_RUNS if that does not show that the answer is complete.  A server of
 * SCGI that closes without reading all of the body resets the connection. */
enum backend_end backend_protocol_end(const struct backend_protocol *,
	    int error);
/* After the end of what the server sends, or an errno: whether the server has
 * gone without reading all of the request, and without an answer. */
bool	backend_protocol_is_unread(const struct backend_protocol *,
	    int connection, int error);
/* After a complete answer: whether the connection may have another request.  A
 * connection that had a body may not: the part of the body that the program has
 * not read would begin the next request, in the client's words. */
bool	backend_protocol_is_reusable(const struct backend_protocol *);
/* Frees what there is; may be called again.  failed: the last lines of errors
 * are to be logged. */
void	backend_protocol_close(struct backend_protocol *, bool failed);

#endif
