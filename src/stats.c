/*
 * stats: the counters themselves.
 */
#include "stats.h"

uint64_t	stats[STATS_COUNT];

static const struct {
	const char	*name, *help;
} counters[] = {
#define COUNTER(id, name, help) [STATS_##id] = { name, help },
#include "stats.tbl"
#undef COUNTER
};

const char *
stats_name(enum stats_counter counter)
{
	return counters[counter].name;
}

void
stats_list(FILE *out)
{
	for (int i = 0; i < STATS_COUNT; i++)
		fprintf(out, "%s\t%s\n", counters[i].name, counters[i].help);
}
