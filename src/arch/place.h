/*
 * place: disk work done in place, by a main that waits for it.
 */
#ifndef ARCH_PLACE_H
#define ARCH_PLACE_H

#include "arch/service.h"

/* Serves by a loop that has its disk work done like that, with room for so many
 * clients at once; 0: for as many as the conf and the system allow. */
int	place_run(const struct world *, size_t room);

#endif
