/*
 * authorizer: programs that say whether a request may go on, in FastCGI's role
 * of an authorizer (FastCGI 1.0, section 6.3).
 */
#ifndef HTTP_PROGRAMS_AUTHORIZER_H
#define HTTP_PROGRAMS_AUTHORIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "http/conn.h"
#include "lib/str.h"

/* The number of the first guard whose program has not let the request's path
 * pass. */
size_t	authorizer_next(const struct request *);
/* Asks the program of a guard, by START and ANSWER, which goes to AUTHORIZE if
 * it lets the request pass. */
enum go	authorizer_ask(struct conn *, const struct conf_guard *,
	    size_t number);
/* Whether an answer whose head is complete lets the request pass. */
bool	authorizer_admits(const struct run *);
/* Takes the variables of such an answer; false: *wrong is the name of a field
 * that names none. */
bool	authorizer_take(struct run *, struct str *wrong);
/* Goes on behind the end of such an answer, to AUTHORIZE. */
enum go	authorizer_pass(struct conn *);
/* Makes an answer that does not let the request pass the response. */
void	authorizer_refuse(struct conn *);
/* Whether a program has named the request's user. */
bool	authorizer_user(const struct request *, struct str *);

#endif
