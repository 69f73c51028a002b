/*
 * sped: an event loop that does its disk work in place (Flash, section 3.3):
 * while it waits for a disk, everybody waits.
 */
#include "arch/sync.h"

static int
run_sped(const struct main_env *env)
{
	return sync_run(env, 0);
}

const struct arch arch_sped = {
	.name = "sped",
	.help = "one event loop, disk work in place: all stall together",
	.worker = "main",
	.workers = 1,
	.limitations = { [ARCH_LIMITED_DISK] = true },
	.run = run_sped,
};
