/*
 * program_managers: the processes that start programs (src/programs).
 *
 * A manager belongs to the generations whose confs say the same of all that it
 * depends on: so the processes that it keeps outlive a reload.  It ends when
 * the mains and, as these drain, their generations have closed its socket.  If
 * it dies, the next manager gets its end of the socket, and mains notice only
 * the end of its programs.
 */
#ifndef MONITOR_PROGRAM_MANAGERS_H
#define MONITOR_PROGRAM_MANAGERS_H

struct conf;
struct generation;
struct program_stats;

/* Whether this process may become the users of programs, and confine them.
 * Returns 0, or -1 after lines in the log. */
int	program_managers_check(const struct conf *);
/* Gives a generation a manager for each user and confinement of its programs,
 * before its mains start: that of the generation that serves, or a new one.
 * Another one is started whenever one dies. */
void	program_managers_start(struct generation *);
/* Starts managers for this process alone, which is about to become the user of
 * main; they end when it has closed their sockets.  Returns the sockets by the
 * number of the manager, the caller's as the array is; -1: it cannot be had,
 * after a line in the log.  Blocks for the user database. */
int	*program_managers_lend(struct generation *);
/* The generation ends.  Its managers may live on, for another generation or
 * until programs have ended. */
void	program_managers_release(struct generation *);

#endif
