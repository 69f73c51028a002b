/*
 * job_load: arithmetic alone.
 */
#include "disk/job_load.h"

#define INTERVAL_US	1000000

int64_t
job_load_measure(struct job_load *l, int64_t now, uint64_t jobs, uint64_t us,
    size_t queued)
{
	double	time = (double)(now - l->since);
	double	done = (double)(jobs - l->jobs);
	double	come = done + (double)queued - (double)l->queued;

	if (now - l->since < INTERVAL_US)
		return l->load;
	l->load = done <= 0 || come <= 0 ? 0 :
	    (int64_t)(come / time * (double)(us - l->us) / done * 1e6 + 0.5);
	l->since = now;
	l->jobs = jobs;
	l->us = us;
	l->queued = queued;
	return l->load;
}
