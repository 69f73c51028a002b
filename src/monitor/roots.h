/*
 * roots: the directories and files that a conf names: whether the server's user
 * may enter them, and the Landlock rules that let helpers reach them.
 */
#ifndef MONITOR_ROOTS_H
#define MONITOR_ROOTS_H

#include <stdbool.h>

struct conf;
struct generation;

/* Logs a warning for each root and alias whose path has a directory that the
 * generation's user may not enter, and for all else that serving lacks
 * (admin/needs.h).  What is on disk may change later, so the result is warnings
 * only.  May wait for a file system. */
void	roots_check(const struct generation *);
/* amped -t: as roots_check(), and logs what the architecture lacks and what a
 * start needs.  Returns false after a line in the log if amped could not
 * start. */
bool	roots_check_start(const struct generation *);
/* Makes a ruleset (lib/landlock.h) of the files and directories that the conf
 * names.  Returns its descriptor, or -1 if helpers run without.  May wait for a
 * file system. */
int	roots_open_rules(const struct conf *);
/* Returns -1 after a line in the log if the conf requires a sandbox that this
 * system does not have; else 0. */
int	roots_check_sandbox(const struct conf *);

#endif
