/*
 * log_names: which names an access log shows to be asked for most.
 *
 * Requests with GET that were answered with 200 or 304 count.  A line counts if
 * it has one of the formats of the conf, or one that amped has built in.  A
 * name is a URL, or a path of the first site if the format has no host; it has
 * no query.
 */
#ifndef AMPEDCTL_LOG_NAMES_H
#define AMPEDCTL_LOG_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"
#include "lib/str.h"

#define LOG_NAMES_MAX	1000000		/* names that are counted */

struct log_names;

/* conf NULL: there are only the formats that amped has built in. */
struct log_names *log_names_new(const struct conf *);
void		 log_names_free(struct log_names **);
/* Counts a line, which has no newline. */
void		 log_names_add(struct log_names *, struct str line);
/* Tells of so many names that were asked for most; the one that was asked for
 * most comes last.  To be called once, after all lines. */
void		 log_names_tell(struct log_names *, size_t most,
		    void (*tell)(void *, struct str name), void *);
/* Numbers so far: lines in no format; requests that were not counted as there
 * were too many names. */
uint64_t	 log_names_bad(const struct log_names *);
uint64_t	 log_names_left_out(const struct log_names *);

#endif
