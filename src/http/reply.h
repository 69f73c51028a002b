/*
 * reply: responses that are not files: errors and redirects.
 */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include "http/conn.h"
#include "lib/compiler.h"
#include "proto/why.h"

/* Notes the reason for a refusal; returns its status. */
COLD int reply_why(struct conn *, enum why);
/* Answers OPTIONS: 204 and the field Allow. */
COLD enum go reply_options(struct conn *);
/* Sets a page of the conf as what is to be found in place of the target, and
 * goes to AUTHORIZE.  failure: the status that the page is for; 0: the status
 * is the page's own. */
enum go	reply_internal_redirect(struct conn *, const char *page, int failure);
/* To be called before a response to a request whose deferred body is not read:
 * the connection ends with that response. */
COLD void reply_leave_body(struct conn *);
/* Answers with the conf's page for the status, or with a short one.  The
 * connection stays open. */
COLD enum go reply_error(struct conn *, int status);
/* The same, and closes the connection: the input cannot be understood, so the
 * next request cannot be found in it. */
COLD enum go reply_error_close(struct conn *, int status);
/* Redirects to where the request's path leads. */
COLD enum go reply_redirect(struct conn *);
/* Answers a balancer: 200, or 503 if the server is about to end. */
enum go	reply_ready(struct conn *);
/* Sends http->work; its last bytes, so many, are the body. */
COLD enum go reply_send_work(struct conn *, int status, size_t body);

#endif
