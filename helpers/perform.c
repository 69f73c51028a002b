/*
 * perform: does a job of any kind in this process.
 */
#include "helpers/job.h"
#include "helpers/perform.h"
#include "helpers/way.h"
#include "lib/need.h"

static void	(*const performers[JOB_KIND_COUNT])(struct job *) = {
	[JOB_RESOLVE] = resolve_perform,
	[JOB_READ] = read_perform,
	[JOB_APPEND] = append_perform,
	[JOB_LIST] = list_perform,
	[JOB_VERIFY] = verify_perform,
	[JOB_COMPRESS] = compress_perform,
	[JOB_COPY] = copy_perform,
	[JOB_CLOSE] = close_perform,
	[JOB_DIGEST] = digest_perform,
	[JOB_SPOOL] = spool_perform,
	[JOB_STORE] = store_perform
};

void
job_perform(struct job *job)
{
	need(job->kind < JOB_KIND_COUNT && performers[job->kind] != NULL);
	job->error = 0;
	if (job_finds(job->kind)) {
		job->find.unchanged = false;
		job->find.name_number = 0;
		job->find.denied = 0;
		way_watch(job);
	}
	performers[job->kind](job);
}
