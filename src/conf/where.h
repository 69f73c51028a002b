/*
 * where: finds the statement that is in force for a directive, and its place.
 * For amped -u, which explains an answer.
 */
#ifndef CONF_WHERE_H
#define CONF_WHERE_H

#include "conf/conf.h"

/*
 * conf_where_block() adds the place of the block that has these rules, as
 * " (file:line)".  conf_where() adds a directive as it is in force for these
 * rules, with one value or all, and its place or " (default)"; a directive of a
 * block such as limits is named "limits body".  False: it is not in force.
 */
#define CONF_WHERE_ALL	SIZE_MAX
void	conf_where_block(const struct conf *, const struct conf_rules *,
	    struct buf *);
bool	conf_where(const struct conf *, const struct conf_rules *,
	    const char *directive, size_t element, struct buf *);
/* Whether one statement of these rules has set a value of a directive and the
 * next one. */
bool	conf_where_is_one(const struct conf *, const struct conf_rules *,
	    const char *directive, size_t element);
/* Adds the block files that has this guard, and its place; false: no block
 * has it. */
bool	conf_where_files(const struct conf *, const struct conf_guard *,
	    struct buf *);

#endif
