/*
 * date: HTTP dates (RFC 9110, section 5.6.7).  Pure; no locale, no time zone.
 */
#ifndef PROTO_DATE_H
#define PROTO_DATE_H

#include <stdbool.h>
#include <time.h>

#include "lib/str.h"

#define DATE_LENGTH	29	/* Sun, 06 Nov 1994 08:49:37 GMT */
#define DATE_LOG_LENGTH	26	/* 06/Nov/1994:08:49:37 +0000 */

/* Writes exactly DATE_LENGTH (DATE_LOG_LENGTH) bytes, no terminator. */
void	date_format(time_t, char *);
void	date_format_log(time_t, char *);	/* in UTC */
/*
 * Reads any of the three formats.  A two-digit year that would be more than 50
 * years after now is in the past.  False: not a date.
 */
bool	date_parse(struct str, time_t now, time_t *);

#endif
