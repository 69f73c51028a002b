/*
 * recent: what has been warned of lately, so that a warning of each thing comes
 * once a minute at most, and no more than a few of all things.
 */
#ifndef HTTP_LOG_RECENT_H
#define HTTP_LOG_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/str.h"

#define RECENT_MAX	64		/* things in a minute */
#define RECENT_INTERVAL	60000		/* ms between warnings of a thing */

struct recent;

/* Several threads may share it. */
struct recent	*recent_new(bool shared);
void		 recent_free(struct recent **);
/* Whether to warn of a thing: its site and a text that names it.  If so, it has
 * been warned of now, in clock ms. */
bool		 recent_is_due(struct recent *, uint64_t site, struct str thing,
		    int64_t now);

#endif
