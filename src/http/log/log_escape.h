/*
 * log_escape: addresses, numbers and text of clients, for a line of a log.
 */
#ifndef HTTP_LOG_ESCAPE_H
#define HTTP_LOG_ESCAPE_H

#include "http/conn.h"

#define LOG_ADDR_MAX	46		/* bytes, with the NUL */
#define LOG_NUMBER_MAX	20		/* bytes */

/* Writes the text of an IPv4 address into the session.  The text of an IPv6
 * address is long, and idle sessions would all pay for it. */
void	 log_escape_keep_addr(struct session *);
/* Writes the client's address, "unix:" for a socket in the file system, "-" if
 * it is unknown; terminated.  Returns where
 * it ends. */
char	*log_escape_addr(const struct session *, char to[LOG_ADDR_MAX]);
/* Writes decimal digits, not terminated; returns where they end. */
char	*log_escape_number(uint64_t, char *to);
/* Writes text, not terminated, as far as there is room before end; returns
 * where it ends.  Bytes that a reader could mistake, quotes and, if asked for,
 * spaces become \xHH. */
char	*log_escape_text(struct str, bool spaces, char *to, const char *end);
/* The same for a string of JSON.  A reader of the JSON gets the text of
 * log_escape_text(), but with quotes and printable UTF-8 as they are. */
char	*log_escape_json(struct str, char *to, const char *end);

#endif
