/*
 * cli: a job given on the command line, its answer printed.
 */
#ifndef HELPERS_CLI_H
#define HELPERS_CLI_H

#include "helpers/job.h"

/*
 * Which links are followed; whose directory it is about, NULL: nobody's; and
 * the words, from the name of the kind on.  The exit status: 0, 1 when the
 * job failed, EX_USAGE when the words make no job.
 */
int	cli_perform(enum job_links, const char *user, int n, char **words);

#endif
