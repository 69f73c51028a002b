/*
 * head: making response heads.
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include "http/conn.h"

#define HEAD_ETAG_MAX	16		/* bytes, quotes and W/ included */

/* A file version's tag, terminated; its length. */
size_t	head_etag(const struct file *, char etag[HEAD_ETAG_MAX]);
/*
 * Begins a head in http->work: status line, Date, Server, Connection as the
 * request wants it.  head_end closes it.
 */
void	head_begin(struct conn *, int status);
void	head_end(struct conn *);
/* Content-Type and what goes with it; rules NULL: none are known. */
void	head_add_type(struct conn *, const struct conf_rules *,
	    const char *type);
/* A field that is a list, whole: its lines are joined behind http->work. */
struct str head_list(struct conn *, enum parse_field);

#endif
