/*
 * cli: does a job given on the command line, and prints the result.
 */
#ifndef HELPERS_CLI_H
#define HELPERS_CLI_H

#include "helpers/job.h"

/*
 * links and user are members of the job; words are the kind of job and its
 * arguments.  Returns the exit status: 0, 1 if the job failed, EX_USAGE if the
 * words are no job.  Blocks.
 */
int	cli_perform(enum job_links, const char *user, int n, char **words);

#endif
