/*
 * hand: a job given on the command line, its answer printed.
 */
#ifndef HELPERS_HAND_H
#define HELPERS_HAND_H

/*
 * The words, from the name of the kind on.  The exit status: 0, 1 when the
 * job failed, EX_USAGE when the words make no job.
 */
int	hand_perform(int n, char **words);

#endif
