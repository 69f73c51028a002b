/*
 * amped: an event loop, and helper processes for the disk (Flash, section 3.4).
 * Nothing stalls the loop.
 */
#include <unistd.h>

#include "arch/service.h"
#include "disk/helper_pool.h"

static void
helper(void *crew, int fd)
{
	crew_join(crew, fd);
}

static int
run(const struct world *world)
{
	struct service	 s;
	struct crew	*crew;
	struct disk	 disk = { .submit = crew_start };

	service_open(&s, world);
	/* The helpers' only. */
	if (world->rules != -1)
		close(world->rules);
	crew = crew_new(s.loop, &s.clock, world);
	s.helper = helper;
	s.report = crew_report;
	s.measure = crew_measure;
	s.context = disk.context = crew;
	service_run(&s, &disk);
	crew_free(&crew);
	service_close(&s);
	return 0;
}

const struct arch arch_amped = {
	.name = "amped",
	.help = "one event loop, helpers for the disk",
	.worker = "main",
	.workers = 1,
	.helpers = true,
	.run = run,
};
