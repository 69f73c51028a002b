/*
 * check_roots: warns when the server's user may not enter a directory that the
 * conf names.  A closed directory is the usual reason for a site that answers
 * 403 to everything.
 */
#ifndef MONITOR_CHECK_ROOTS_H
#define MONITOR_CHECK_ROOTS_H

struct generation;

/* Logs a warning for each root and alias whose path has a directory that the
 * generation's user may not enter.  The mode may be changed later, so the
 * result is a warning only.  May wait for a file system. */
void	check_roots(const struct generation *);

#endif
