/*
 * check_roots: whether those who look for files may enter the directories that
 * the conf names.  It is the usual reason for a site full of refusals.
 */
#ifndef MONITOR_CHECK_ROOTS_H
#define MONITOR_CHECK_ROOTS_H

struct generation;

/* A line for each directory that is in the way; it may be opened later.  They
 * are looked at, as when the conf was read, and so it may wait. */
void	check_roots(const struct generation *);

#endif
