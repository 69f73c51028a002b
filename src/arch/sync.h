/*
 * sync: disk work done in place, by a main that waits for it.
 */
#ifndef ARCH_SYNC_H
#define ARCH_SYNC_H

#include "arch/service.h"

/* Who is to do tasks; any thread may be told. */
extern const struct disk	sync_disk;

/* As service_open(), with what whoever does disk work must be allowed. */
void	sync_open(struct service *, const struct main_env *);
/* Serves by a loop that has its disk work done like that, with room for so many
 * clients at once; 0: for as many as the conf and the system allow. */
int	sync_run(const struct main_env *, size_t room);

#endif
