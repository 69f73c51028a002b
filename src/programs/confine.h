/*
 * confine: takes files from a process that is to be a program.
 */
#ifndef PROGRAMS_CONFINE_H
#define PROGRAMS_CONFINE_H

#include "conf/conf.h"

/* Confines this process for good, as the program's block says: from then on
 * it may read and execute directories of the system, its own and its command,
 * read those of its sites, and change what "writes" names.  Needs
 * proc_no_new_privileges().  0, or -1 with errno.  May block. */
int	confine_program(const struct conf *, const struct conf_program *);

#endif
