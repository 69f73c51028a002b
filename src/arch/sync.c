/*
 * sync: a task is complete when it has been submitted.
 */
#include "arch/sync.h"
#include "conf/strategies.h"
#include "helpers/notify.h"
#include "lib/syscall_filter.h"
#include "loop/blocking.h"
#include "loop/clients.h"
#include "stats/stats.h"

static enum submitted
submit_task(void *context, struct task *e)
{
	int64_t	started_at = clock_us();

	(void)context;
	job_perform(&e->job);
	stats_time(STATS_HISTOGRAM_JOB_DURATION_RESOLVE + (int)e->job.kind,
	    clock_us() - started_at);
	clients_finish_task(e);
	return SUBMITTED_COMPLETED;
}

const struct disk	sync_disk = { .submit = submit_task };

void
sync_open(struct service *s, const struct main_env *env)
{
	service_open(s, env);
	if (env->conf->io == IO_SYNCHRONOUS)
		blocking_prepare(env->listeners, env->nlisteners);
	notify_use(s->notify);
	/* Where helpers do disk work, these rights are the helpers'. */
	s->sandbox.rules = env->rules != -1 ? env->rules :
	    SANDBOX_NO_RULES;
	s->sandbox.roles |= SYSCALL_ROLE_FILES;
	if (conf_find_users(env->conf))
		s->sandbox.roles |= SYSCALL_ROLE_USERS;
}

int
sync_run(const struct main_env *env)
{
	struct service	s;

	sync_open(&s, env);
	service_run(&s, &sync_disk);
	service_close(&s);
	return 0;
}
