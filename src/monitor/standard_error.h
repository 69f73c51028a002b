/*
 * standard_error: standard error of who has started us.
 *
 * In the foreground it is ours to keep.  In the background it is kept for as
 * long as a log of the conf in force goes there, and then given up, for good:
 * who has started us may wait for its end (a pipe, ssh).
 */
#ifndef MONITOR_STANDARD_ERROR_H
#define MONITOR_STANDARD_ERROR_H

#include <stdbool.h>

struct conf;
struct monitor;
struct monitor_setup;

struct standard_error {
	int	fd;		/* it; /dev/null when it was given up */
	bool	background;	/* that is where we are */
	bool	given_up;		/* it was given up */
};

/* What the one before has passed, or our own. */
void	standard_error_open(struct monitor_setup *);
/* Whether those who are started for this conf are to write there. */
bool standard_error_is_for(const struct standard_error *, const struct conf *);
/* False after a line: the conf has a log go there, and it was given up. */
bool standard_error_is_allowed(
    const struct standard_error *, const struct conf *);
/* We serve by a conf, and nobody waits for what we have to say any more. */
void	standard_error_settle(struct monitor *);

#endif
