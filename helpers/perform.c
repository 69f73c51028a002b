/*
 * perform: does a job, here and now, whichever kind it is.
 */
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/need.h"

static void	(*const kinds[JOB_KIND_COUNT])(struct job *) = {
	[JOB_RESOLVE] = resolve_perform,
	[JOB_READ] = read_perform,
	[JOB_APPEND] = append_perform,
	[JOB_LIST] = list_perform,
	[JOB_VERIFY] = verify_perform,
	[JOB_COMPRESS] = compress_perform,
	[JOB_COPY] = copy_perform,
	[JOB_CLOSE] = close_perform
};

void
job_perform(struct job *job)
{
	need(job->kind < JOB_KIND_COUNT && kinds[job->kind] != NULL);
	job->error = 0;
	job->same = false;
	job->which = 0;
	job->done = 0;
	kinds[job->kind](job);
}
