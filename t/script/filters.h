/*
 * filters: the driver of filters in a scenario: a run is kept until the scenario
 * has said what comes of it.
 */
#ifndef T_SCRIPT_FILTERS_H
#define T_SCRIPT_FILTERS_H

#include <stddef.h>

#include "filter.h"

enum submitted	 filters_run(void *context, struct filter_run *);
/* A line of the scenario about the oldest run: its words behind "filters". */
void		 filters_run_line(char **words, size_t n);
/* Frees the runs that have not ended; returns how many there are. */
size_t		 filters_free(void);

#endif
