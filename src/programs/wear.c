/*
 * wear: each process has limits a bit below those of the conf.
 */
#include "conf/conf.h"
#include "programs/wear.h"

#define JITTER		8	/* one in so many requests or ms less, at most,
				 * so that not all processes end at once */

static int64_t
shorten(int64_t most, pid_t pid)
{
	return most - pid % (most / JITTER + 1);
}

int64_t
wear_requests(const struct conf_program *program, pid_t pid)
{
	return shorten(program->requests, pid);
}

int64_t
wear_life(const struct conf_program *program, pid_t pid)
{
	return shorten(program->life, pid);
}

bool
wear_is_over(const struct conf_program *program, pid_t pid, int64_t nanswered,
    int64_t age)
{
	return (program->requests > 0 &&
	    nanswered >= wear_requests(program, pid)) ||
	    (program->life > 0 && age >= wear_life(program, pid));
}
