/*
 * piped_log: log programs ("|program" in the conf), which read a log from a
 * pipe and are started again when they end.
 *
 * The pipe outlives the program: lines that one program has not read are for
 * the next one.  Writers never wait for a program.  A program whose log is no
 * longer in use finds the end of its input, and its end is not waited for.
 */
#ifndef MONITOR_PIPED_LOG_H
#define MONITOR_PIPED_LOG_H

struct generation;

/* Returns a descriptor that writes to a program, or -1 with errno.  Starts the
 * program, as the generation's user, unless it is there already. */
int	piped_log_open(struct generation *, const char *command);
/* Closes logs that no conf names. */
void	piped_log_close_unused(void);
/* Closes the logs of running programs, so that piped_log_open() starts others.
 * A program that waits to be started is started at once. */
void	piped_log_renew(void);

#endif
