/*
 * job_load: how many helpers the jobs keep busy, by Little's law: jobs a second
 * times their mean duration.
 *
 * Jobs that have come and wait count, so the figure may be larger than the
 * number of helpers; then more helpers would save the jobs their wait, unless
 * the disk itself is the limit.
 */
#ifndef DISK_JOB_LOAD_H
#define DISK_JOB_LOAD_H

#include <stddef.h>
#include <stdint.h>

struct job_load {
	int64_t		since;		/* us: time of the numbers below */
	uint64_t	jobs, us;	/* done so far, and their durations */
	size_t		queued;		/* jobs that waited then */
	int64_t		load;		/* of the time before, in millionths */
};

/* Returns the load since the last call, in millionths of a helper; within a
 * second the same again. */
int64_t	job_load_measure(struct job_load *, int64_t now, uint64_t jobs,
	    uint64_t us, size_t queued);

#endif
