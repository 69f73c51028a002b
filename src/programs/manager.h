/*
 * manager: the process that starts programs for mains.
 */
#ifndef PROGRAMS_MANAGER_H
#define PROGRAMS_MANAGER_H

#include "conf/conf.h"

/* Serves the socket of shared/program_message.h, which it takes, until all
 * mains have closed it and all programs have ended; then returns.  Ignores
 * SIGTERM: the programs of a manager that dies end, too, but their last lines
 * are lost. */
void	manager_run(const struct conf *, int socket);

#endif
