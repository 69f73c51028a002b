/*
 * log_escape: who a client is and what it sent, fit for a line of a log.
 */
#ifndef HTTP_LOG_ESCAPE_H
#define HTTP_LOG_ESCAPE_H

#include "http/conn.h"

#define TEXT_PEER_MOST	46		/* bytes, with its end */
#define TEXT_NUMBER_MOST 20		/* bytes */

/* Once the address of a peer is there, and it is an IPv4 one: of the others
 * the text is long, and would be kept for each that is idle. */
void	 text_keep_peer(struct peer *);
/* The address, "-" without; terminated, returns where it ends. */
char	*text_peer(const struct conn *, char to[TEXT_PEER_MOST]);
/* Decimal digits, at most TEXT_NUMBER_MOST; returns where they end, no
 * terminator. */
char	*text_number(uint64_t, char *to);
/*
 * What could be mistaken, quotes and perhaps spaces become \xHH; so much of it
 * as there is room for before end.  Returns where it ends; no terminator.
 */
char	*text_escape(struct str, bool spaces, char *to, const char *end);
/*
 * The same for a string of JSON: what it says reads as what text_escape()
 * writes, but for quotes and what is UTF-8, which stay as they are, unless a
 * terminal would obey that.
 */
char	*text_escape_json(struct str, char *to, const char *end);

#endif
