/*
 * amped: an event loop, and helper processes for the disk (Flash, section 3.4).
 * The disk never blocks the loop.
 */
#include <unistd.h>

#include "arch/service.h"
#include "disk/helper_pool.h"

static int
run_amped(const struct main_env *env)
{
	struct service		 s;
	struct helper_pool	*pool;
	struct disk		 disk = { .submit = helper_pool_submit,
				     .promote = helper_pool_promote,
				     .is_busy = helper_pool_is_busy };

	service_open(&s, env);
	/* Only the helpers need the rules. */
	if (env->rules != -1)
		close(env->rules);
	pool = helper_pool_new(s.loop, &s.clock, env, s.notify);
	s.on_helper = helper_pool_add;
	s.on_limits = helper_pool_set_limits;
	s.report = helper_pool_report;
	s.measure = helper_pool_measure;
	s.context = disk.context = pool;
	service_run(&s, &disk);
	helper_pool_free(&pool);
	service_close(&s);
	return 0;
}

const struct arch arch_amped = {
	.name = "amped",
	.help = "one event loop, helpers for the disk",
	.worker = "main",
	.workers = 1,
	.helpers = true,
	.run = run_amped,
};
