/*
 * mp: processes with one client at a time each (Flash, section 3.1).  While one
 * process waits for its client or for a disk, the others go on.
 *
 * A process is sped in one-client mode (loop/accept_one_client.c).
 */
#include "arch/sync.h"

const struct arch arch_mp = {
	.name = "mp",
	.help = "a process for each client, which does its own disk work",
	.worker = "process",
	.workers = 32,
	.limitations = { [ARCH_LIMITED_CLIENTS] = true },
	.run = sync_run,
};
