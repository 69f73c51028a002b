/*
 * requests: an administrator's requests, which the monitor passes to main and
 * main answers in its event loop.
 *
 * Main never waits for an administrator: an answer is completed in memory,
 * then sent as the socket takes it.  Files are preloaded as for any client.  A
 * long request does a part of its work in each iteration.
 */
#ifndef ADMIN_REQUESTS_H
#define ADMIN_REQUESTS_H

#include "conf/conf.h"
#include "http/machine.h"
#include "lib/clock.h"
#include "loop/clients.h"
#include "loop/evloop.h"

struct requests;

/* alone: this main is the only one, so its counts are those of the server. */
struct requests	*requests_new(struct evloop *, struct clock *,
		    struct http_loop *, struct clients *, const struct conf *,
		    bool alone);
/* To be called after the clients have been freed. */
void		 requests_free(struct requests **);
/* Takes a request: a pipe that holds its line and the administrator's socket.
 * Owns the pipe; -1 is ignored. */
void		 requests_add(struct requests *, int pipe);

#endif
