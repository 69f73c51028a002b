/*
 * errors: what other programs than amped say about a mistyped word.
 */
#ifndef CONF_ERRORS_H
#define CONF_ERRORS_H

/* The nearer one of best, which may be NULL, and word; NULL: none is near. */
const char	*conf_error_nearer(const char *typed, const char *best,
		    const char *word);

#endif
