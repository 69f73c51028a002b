/*
 * sped: an event loop that does its disk work in place (Flash, section 3.3):
 * while it waits for a disk, everybody waits.
 */
#include "arch/service.h"
#include "lib/calls.h"
#include "stats.h"

static void
start(void *context, struct errand *e)
{
	int64_t	begun = clock_us();

	(void)context;
	job_perform(&e->job);
	stats_time(STATS_HISTOGRAM_SERVICE_RESOLVE + (int)e->job.kind,
	    clock_us() - begun);
	e->done(e);
	e->free(e);
}

static int
run(const struct world *world)
{
	struct service	 s;
	struct disk	 disk = { .start = start };

	service_open(&s, world);
	/* What is a helper's elsewhere. */
	s.sandbox.rules = world->rules != -1 ? world->rules :
	    SANDBOX_NO_RULES;
	s.sandbox.calls |= CALLS_FILES;
	if (conf_asks_users(world->conf))
		s.sandbox.calls |= CALLS_USERS;
	service_run(&s, &disk);
	service_close(&s);
	return 0;
}

const struct arch arch_sped = {
	.name = "sped",
	.help = "one event loop, disk work in place: all stall together",
	.run = run,
};
