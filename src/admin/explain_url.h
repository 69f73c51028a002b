/*
 * explain_url: amped -u: makes one request of its own, answers it without a
 * server, and explains the response.
 */
#ifndef ADMIN_EXPLAIN_URL_H
#define ADMIN_EXPLAIN_URL_H

#include <stddef.h>
#include <stdio.h>

#include "conf/conf.h"

struct explain_request {
	const char	*url;
	char		**fields;	/* "Name: value", put in unchanged */
	size_t		 nfields;
	const char	*client;	/* address; NULL: 127.0.0.1 */
	/* Sockets to the program managers of the conf, closed by the answer;
	 * NULL: no filter runs. */
	int		*managers;
};

/* Explains how this process would answer the URL.  Returns NULL, or an error
 * text, which is kept in the buffer.  Blocks for disk, names and filters. */
const char	*explain_url_answer(const struct explain_request *,
		    const struct conf *, struct buf *error, FILE *);
/* Whether a page that the conf of a site names, by its decoded path, is a file
 * that can be sent or, if may_be_program, a program.  False: adds the reason.
 * Networks and passwords do not count. */
bool	explain_url_page(const struct conf *, const struct conf_site *,
	    const char *path, bool may_be_program, struct buf *fault);

#endif
