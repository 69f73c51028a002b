/*
 * refusal: why a request does not get its file, for the error log and for who
 * explains a request.
 */
#ifndef HTTP_REFUSAL_H
#define HTTP_REFUSAL_H

#include "http/conn.h"

/* The reason for the response as a sentence; "" if the status needs none. */
const char *refusal_reason(const struct request *, int status);
/* Logs a refusal: at level warn, once a minute, if it is one of a file or a
 * directory that the server's user may not read, else at info. */
void	refusal_log(const struct conn *, int status);
/* Logs that a program's answer cannot be sent to its end. */
void	refusal_log_cut(const struct conn *);
/* Logs that a program has named a file, and that the conf lets it name none. */
void	refusal_log_sendfile(const struct conn *);
/* The name of the request's program, or its directory. */
const char *refusal_program(const struct request *);
/* Logs that the conf's page, for which the target was left, cannot be had. */
void	refusal_log_page(const struct conn *);
/* Adds the statement of the conf that a refusal comes from, if there is one. */
void	refusal_add_where(const struct conn *, struct buf *);
/* Adds the statement that names the page. */
void	refusal_add_page(const struct conn *, struct buf *);

#endif
