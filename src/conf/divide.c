/*
 * divide: what each of several mains has of what the conf gives to the
 * server.
 *
 * Only what can be used up is divided.  What is said of one client, one request
 * or one file holds for every main as it is.
 */
#include <sched.h>

#include "conf/divide.h"
#include "conf/origin.h"

#define AUTO_MAX	256	/* as directives.tbl has it for all others */

/* Member, the least that a main can live with. */
#define DIVIDED(X)							\
	X(cache.paths,		1)					\
	X(cache.heads,		1)					\
	X(cache.logins,		1)					\
	X(cache.chunks,		1)					\
	X(limits.connections,	1)					\
	X(limits.verify,	1)					\
	X(limits.verify_queue,	1)					\
	X(helpers,		0)					\
	X(helpers_max,		1)					\
	X(helpers_share,	1)					\
	X(helpers_queue,	1)

int64_t
conf_divide_number(int64_t all, unsigned number, unsigned of, int64_t least)
{
	int64_t	n = all / of + (number < all % of);

	return n < least ? least : n;
}

void
conf_divide(struct conf *conf, unsigned number, unsigned of)
{
	/* 0 says something else than a number. */
#define X(member, least)						\
	if (conf->member != 0)						\
		conf->member = conf_divide_number(conf->member, number, of, \
		    least);
	DIVIDED(X)
#undef X
}

/* Those that we may run on. */
static unsigned
count_processors(void)
{
#ifdef CPU_COUNT
	cpu_set_t	set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 &&
	    CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
#endif
	return 1;
}

unsigned
conf_workers(const struct conf *conf)
{
	int64_t	n = conf->workers, most = conf->limits.connections;

	if (n != 0)
		return (unsigned)n;
	n = count_processors();
	if (n > AUTO_MAX)
		n = AUTO_MAX;
	return (unsigned)(most != 0 && most < n ? most : n);
}

void
conf_workers_default(struct conf *conf, unsigned n)
{
	const struct conf_row	*row = conf_row_find(BLOCK_TOP,
				    offsetof(struct conf, workers));
	int64_t			 most = conf->limits.connections;

	if (conf_origin(conf_object(conf), row, 0) == NULL)
		conf->workers = most != 0 && most < n ? most : n;
}
