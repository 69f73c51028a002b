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
/* The generation ends.  Its managers may live on, for another generation or
 * until programs have ended. */
void	program_managers_release(struct generation *);

#endif
