/*
 * sync: disk work by the thread that wants it, which waits for the disk.
 */
#ifndef ARCH_SYNC_H
#define ARCH_SYNC_H

#include "arch/service.h"

/* Performs each task in the thread that submits it. */
extern const struct disk	sync_disk;

/* As service_open(), with a sandbox that allows disk work. */
void	sync_open(struct service *, const struct main_env *);
/* The run() of architectures with one loop and sync_disk. */
int	sync_run(const struct main_env *);

#endif
