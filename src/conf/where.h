/*
 * where: which statement of a conf has a say in something, and where it
 * stands; for who explains what comes of it.
 */
#ifndef CONF_WHERE_H
#define CONF_WHERE_H

#include "conf/conf.h"

/*
 * Where something was said: " (file:line)" or " (default)" is added.  Of the
 * block that has these rules; or of a directive as it is in force there, with
 * one of its values or all: "limits body" names the block too, unless that is
 * a site or a path.  False: it is not in force.
 */
#define CONF_WHERE_ALL	SIZE_MAX
void	conf_where_block(const struct conf *, const struct conf_rules *,
	    struct buf *);
bool	conf_where(const struct conf *, const struct conf_rules *,
	    const char *directive, size_t element, struct buf *);
/* Of the block files that has this guard; false: it is of none. */
bool	conf_where_files(const struct conf *, const struct conf_guard *,
	    struct buf *);

#endif
