/*
 * divide: divides the server-wide limits among mains.
 *
 * Limits on a resource that all mains use up together are divided.  Limits on
 * a client, a request or a file apply in each main as they are.
 */
#include <sys/param.h>

#include "conf/divide.h"
#include "conf/origin.h"
#include "lib/proc.h"

#define AUTO_MAX	256	/* the maximum of "workers" in directives.tbl */

/* Member, and the minimum that a main needs. */
#define DIVIDED(X)							\
	X(cache.paths,		1)					\
	X(cache.watches,	1)					\
	X(cache.heads,		1)					\
	X(cache.logins,		1)					\
	X(cache.chunks,		1)					\
	X(limits.connections,	1)					\
	X(limits.bodies,	find_largest_in_memory(conf))		\
	X(limits.spool_max,	find_largest_body(conf))		\
	X(limits.held,		find_largest_held(conf))		\
	X(limits.verify,	1)					\
	X(limits.verify_queue,	1)					\
	X(helpers,		0)					\
	X(helpers_max,		1)					\
	X(helpers_share,	1)					\
	X(helpers_queue,	1)

int64_t
conf_divide_number(int64_t all, unsigned number, unsigned mains, int64_t min)
{
	int64_t	n = all / mains + (number < all % mains);

	return n < min ? min : n;
}

/* Bytes of a body that is kept by these rules. */
static int64_t
get_body(const struct conf_rules *rules)
{
	return conf_program_all_stream(rules) ? 0 : rules->run.body;
}

/* Bytes of a body that some program may have: no main may refuse it always. */
static int64_t
find_largest_body(const struct conf *conf)
{
	const struct conf_site	*site;
	int64_t			 most = 0;

	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		most = MAX(most, get_body(&site->rules));
		for (size_t j = 0; j < site->npaths; j++)
			most = MAX(most, get_body(&site->paths[j].rules));
	}
	return most;
}

/* The same of a body in memory. */
static int64_t
find_largest_in_memory(const struct conf *conf)
{
	int64_t	most = find_largest_body(conf);

	return conf->limits.spool != NULL ?
	    MIN(most, conf->limits.spool_from) : most;
}

/* Bytes of output that some program may have held, in a buffer that doubles: a
 * main with a smaller share would never do for it what "hold" says.  No share
 * is more than all. */
static int64_t
find_largest_held(const struct conf *conf)
{
	int64_t	most = 1;

	for (size_t i = 0; i < conf->nprograms; i++)
		while (most < conf->programs[i].hold)
			most *= 2;
	return MIN(most, conf->limits.held);
}

void
conf_divide(struct conf *own, const struct conf *conf, unsigned number,
    unsigned mains)
{
	/* 0 is no number but stands for a default. */
#define X(member, min)							\
	if (conf->member != 0)						\
		own->member = conf_divide_number(conf->member, number, mains, \
		    min);
	DIVIDED(X)
#undef X
}

/* A number of the conf, where auto means a number of processors. */
static int64_t
count_workers(const struct conf *conf, int64_t n)
{
	int64_t	max = conf->limits.connections;

	if (n != CONF_WORKERS_AUTO)
		return n;
	n = MIN(proc_processors(), AUTO_MAX);
	return max != 0 ? MIN(n, max) : n;
}

unsigned
conf_workers(const struct conf *conf)
{
	return (unsigned)count_workers(conf, conf->workers);
}

unsigned
conf_workers_max(const struct conf *conf)
{
	int64_t	n = count_workers(conf, conf->workers);

	return (unsigned)(conf->workers_max == CONF_WORKERS_FIXED ? n :
	    MAX(n, count_workers(conf, conf->workers_max)));
}

void
conf_workers_default(struct conf *conf, unsigned n)
{
	const struct conf_row	*row = conf_row_find(BLOCK_TOP,
				    offsetof(struct conf, workers));
	int64_t			 max = conf->limits.connections;

	if (conf_origin(conf_object(conf), row, 0) == NULL)
		conf->workers = max != 0 && max < n ? max : n;
}
