/*
 * reload: reads the conf again, starts a generation with it, and puts that in
 * force.
 */
#ifndef MONITOR_RELOAD_H
#define MONITOR_RELOAD_H

#include <stdbool.h>

/* Begins a reload.  A child, the conf checker, reads the conf before the
 * monitor does, since reading may wait for a file system. */
void	reload_begin(void);
/* Whether the conf checker reads. */
bool	reload_is_busy(void);

#endif
