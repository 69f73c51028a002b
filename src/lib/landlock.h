/*
 * landlock: rulesets of Linux's landlock(7), without a wrapper of the C
 * library.
 *
 * A ruleset is a descriptor: the process that may open a directory makes the
 * rule, another process enters the ruleset.  All that the ruleset does not
 * allow is forbidden from then on, to children and programs too.  Descriptors
 * that are open already are not affected.
 */
#ifndef LIB_LANDLOCK_H
#define LIB_LANDLOCK_H

#include <stdbool.h>

/* The access that a rule allows to a file, or to all beneath a directory. */
enum landlock_right {
	LANDLOCK_READ,			/* read files, list directories */
	LANDLOCK_READ_FILES,		/* read files */
	LANDLOCK_EXECUTE,		/* LANDLOCK_READ, and execute files */
	LANDLOCK_WRITE,			/* LANDLOCK_READ, and make, replace
					 * and delete files */
	LANDLOCK_CHANGE			/* LANDLOCK_WRITE, also directories,
					 * links, sockets and FIFOs */
};

/* The version of the system's Landlock; 0: the system has none. */
int	landlock_version(void);
/* Returns a ruleset that allows no file, and no TCP if net; -1 with errno. */
int	landlock_create(bool net);
/* Adds a rule; 0, or -1 with errno, as when there is no such file. */
int	landlock_allow(int ruleset, const char *path, enum landlock_right);
/* Confines this process for good.  Needs proc_no_new_privileges().  0, or -1
 * with errno. */
int	landlock_enter(int ruleset);

#endif
