/*
 * sped: an event loop that does disk work itself (Flash, section 3.3).  While
 * the loop waits for a disk, all clients wait.
 */
#include "arch/sync.h"

const struct arch arch_sped = {
	.name = "sped",
	.help = "one event loop, which does disk work: all clients wait",
	.worker = "main",
	.workers = 1,
	.limitations = { [ARCH_LIMITED_DISK] = true },
	.run = sync_run,
};
