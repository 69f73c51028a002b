/*
 * reply: responses that are not files: errors and redirects.
 */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include "http/conn.h"
#include "lib/compiler.h"
#include "proto/why.h"

/* The methods that work here, for route and for Allow. */
#define REPLY_METHODS(X, AND)	X(GET) AND X(HEAD) AND X(OPTIONS)

/* Notes the reason for what is answered; its status, for these: */
COLD int reply_why(struct conn *, enum why);
/* The reason for a status in words: "" when it needs none. */
const char *reply_reason(const struct request *, int status);
/* To OPTIONS, which asks about communication, not about a file. */
COLD enum go reply_options(struct conn *);
/* The page of the conf for this status, or a short one; the connection lives
 * on. */
COLD enum go reply_error(struct conn *, int status);
/* The same for bytes that are not a proper request: nothing behind them can be
 * understood, so the connection ends. */
COLD enum go reply_error_close(struct conn *, int status);
/* To where the path in hand leads. */
COLD enum go reply_redirect(struct conn *);
/* What is in http->work, so many bytes of it a body. */
COLD enum go reply_send_work(struct conn *, int status, size_t body);
/* Fields that belong to a status, to a head that is being made. */
void	reply_add_status_fields(struct conn *, int status);

#endif
