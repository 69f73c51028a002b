/*
 * requests: what main is asked through the monitor, and answers from its loop.
 *
 * It never waits for who asks: an answer is put together first, and then goes
 * as it is taken.  Files are brought in as for any client; what takes long goes
 * a part in each turn.
 */
#ifndef ADMIN_REQUESTS_H
#define ADMIN_REQUESTS_H

#include "conf/conf.h"
#include "http/machine.h"
#include "lib/clock.h"
#include "loop/clients.h"
#include "loop/evloop.h"

struct requests;

/* Alone: there is no other main, so what it knows is all there is. */
struct requests *requests_new(struct evloop *, struct clock *,
    struct http_loop *, struct clients *, const struct conf *, bool alone);
void		 requests_free(struct requests **);	/* after the clients */
/* Takes a question: the pipe with its line, and who has asked. */
void		 requests_add(struct requests *, int pipe);

#endif
