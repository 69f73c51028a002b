/*
 * client: one request at the control socket, and its answer.
 */
#ifndef AMPEDCTL_CLIENT_H
#define AMPEDCTL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/control.h"

/* Limits of one request with paths; more paths go into further requests. */
#define CLIENT_BYTES_MAX	(CONTROL_LINE_MAX - 256)
#define CLIENT_PATHS_MAX	200

/* Which server to ask. */
struct client_target {
	const char	*socket;	/* of -s, or of the conf; NULL: not
					 * looked up yet */
	const char	*conf;		/* of -f; NULL: the default */
};

/* Returns the path of the socket.  If it cannot be found out, prints why and
 * exits. */
const char	*client_socket(struct client_target *);
/*
 * Sends a command with its words and waits for the answer; returns the exit
 * status.  text gets the text of the first line, without its newline, or an
 * error; more gets the other lines.  Both are emptied before.  With stay, waits
 * until the server has closed the connection.
 */
int		 client_ask(struct client_target *, const char *const *words,
		    size_t n, bool stay, struct buf *text, struct buf *more);

#endif
