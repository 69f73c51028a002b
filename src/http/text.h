/*
 * text: who a client is and what it sent, fit for a line of a log.
 */
#ifndef HTTP_TEXT_H
#define HTTP_TEXT_H

#include "http/conn.h"

#define TEXT_PEER_MOST	46		/* bytes, with its end */

/* The address, "-" without; terminated, returns where it ends. */
char	*text_peer(const struct conn *, char to[TEXT_PEER_MOST]);
/*
 * What could be mistaken, and the characters of also, become \xHH; so much of
 * it as there is room for before end.  Returns where it ends; no terminator.
 */
char	*text_escape(struct str, const char *also, char *to, char *end);

#endif
