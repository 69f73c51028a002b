/*
 * explain_url: one invented request, answered in place and explained; nothing
 * is bound, nobody is served.
 */
#ifndef ADMIN_EXPLAIN_URL_H
#define ADMIN_EXPLAIN_URL_H

#include <stddef.h>
#include <stdio.h>

#include "conf/conf.h"

struct explain_request {
	const char	*url;
	char		**fields;	/* "Name: value", added as they are */
	size_t		 nfields;
	const char	*client;	/* its address; NULL: this machine */
};

/*
 * Explains how the URL would be answered to this process's user.  NULL, or
 * what is wrong with the question, in the buffer.
 */
const char *explain_url_answer(const struct explain_request *,
    const struct conf *, struct buf *wrong, FILE *);

#endif
