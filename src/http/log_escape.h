/*
 * log_escape: who a client is and what it sent, fit for a line of a log.
 */
#ifndef HTTP_LOG_ESCAPE_H
#define HTTP_LOG_ESCAPE_H

#include "http/conn.h"

#define LOG_ADDR_MAX	46		/* bytes, with its end */
#define LOG_NUMBER_MAX 20		/* bytes */

/* Once the address of a peer is there, and it is an IPv4 one: of the others
 * the text is long, and would be kept for each that is idle. */
void	 log_escape_keep_addr(struct session *);
/* The address, "-" without; terminated, returns where it ends. */
char	*log_escape_addr(const struct conn *, char to[LOG_ADDR_MAX]);
/* Decimal digits, at most LOG_NUMBER_MAX; returns where they end, no
 * terminator. */
char	*log_escape_number(uint64_t, char *to);
/*
 * What could be mistaken, quotes and perhaps spaces become \xHH; so much of it
 * as there is room for before end.  Returns where it ends; no terminator.
 */
char	*log_escape_text(struct str, bool spaces, char *to, const char *end);
/*
 * The same for a string of JSON: what it says reads as what log_escape_text()
 * writes, but for quotes and what is UTF-8, which stay as they are, unless a
 * terminal would obey that.
 */
char	*log_escape_json(struct str, char *to, const char *end);

#endif
