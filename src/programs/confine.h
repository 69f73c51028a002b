/*
 * confine: takes files from a process that is to be a program.
 */
#ifndef PROGRAMS_CONFINE_H
#define PROGRAMS_CONFINE_H

#include "conf/conf.h"

/* Makes Landlock rules, a descriptor that the caller owns, as the program's
 * block says: a process that enters them may read and execute directories of
 * the system, its own and its command, read those of its sites, and change what
 * "writes" names.  -1: the block asks for none.  0, or -1 with errno.  May
 * block. */
int	confine_prepare(const struct conf *, const struct conf_program *,
	    int *rules);

#endif
