/*
 * program_managers: the processes that start programs (src/programs).
 *
 * A manager belongs to the generations whose confs say the same of all that it
 * depends on: so the processes that it keeps outlive a reload.  It ends when
 * the mains and, as these drain, the monitor have closed its socket.  If it
 * dies, the next one gets its end of the socket, and mains notice nothing but
 * the end of its programs.
 */
#ifndef MONITOR_PROGRAM_MANAGERS_H
#define MONITOR_PROGRAM_MANAGERS_H

struct generation;
struct program_manager;

/* A generation's part of a manager. */
struct program_managers_share {
	struct program_manager	*manager;	/* NULL: none */
	int			 socket;	/* to it, of mains; -1: none */
};

/* Gives a generation whose conf has programs a manager, before its mains start:
 * that of the generation that serves, or a new one.  Another one is started
 * whenever it dies. */
void	program_managers_start(struct generation *);
/* The generation's mains have its manager; no other main will.  The manager
 * ends with the last main that has it. */
void	program_managers_leave(struct generation *);
/* The generation ends.  Its manager may live on, for another generation or
 * until programs have ended. */
void	program_managers_release(struct generation *);

#endif
