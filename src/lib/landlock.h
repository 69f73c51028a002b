/*
 * landlock: which files a process may still reach (Linux: landlock(7)), for a
 * library that does not know of it.
 *
 * Rules are a descriptor, so that who may open a directory can make them for
 * who enters them.  What they do not allow stays forbidden, for children and
 * other programs too; what is open already stays open.
 */
#ifndef LIB_LANDLOCK_H
#define LIB_LANDLOCK_H

#include <stdbool.h>

/* What rules may allow beneath a directory, or of a file. */
enum landlock_right {
	LANDLOCK_READ,			/* files and directories */
	LANDLOCK_READ_FILES,		/* no listing */
	LANDLOCK_WRITE			/* ... make, replace and delete files */
};

/* How much of it the system knows; 0: nothing. */
int	landlock_version(void);
/* Rules by which nothing is allowed, nor, if so said, TCP; -1 with errno. */
int	landlock_create(bool net);
/* 0, or -1 with errno: it may not be there. */
int	landlock_allow(int rules, const char *path, enum landlock_right);
/* For good; without new privileges (proc.h).  0, or -1 with errno. */
int	landlock_enter(int rules);

#endif
