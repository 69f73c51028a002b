/*
 * client: one question at the control socket, and its answer.
 */
#ifndef AMPEDCTL_CLIENT_H
#define AMPEDCTL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/control.h"

struct client_target {
	const char	*socket;	/* -s, or what the conf says */
	const char	*conf;		/* -f */
};

/* Where the server is asked; after a line that says why not it is the end, with
 * the status for that. */
const char	*client_socket(struct client_target *);
/*
 * A command with its words; the exit status.  What there is to say about it
 * goes to text (one line, without its end), all other lines to more; both are
 * emptied first.  When stay is set, it returns once the server has ended the
 * connection.
 */
int client_ask(struct client_target *, const char *const *words, size_t n,
    bool stay, struct buf *text, struct buf *more);

#endif
