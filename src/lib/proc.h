/*
 * proc: titles, privileges, signals and lifetime of processes.
 */
#ifndef LIB_PROC_H
#define LIB_PROC_H

#include <stdbool.h>
#include <sys/types.h>

struct user;

/* Remembers where the title goes; to be called first in main(). */
void	proc_title_init(int argc, char **argv);
void	proc_title(const char *title);		/* "amped: main" */
/* With a file or directory behind the title: "amped: monitor /etc/a.conf". */
void	proc_title_of(const char *title, const char *subject);

/*
 * Returns the absolute path of the running program as it was found by argv0,
 * for the caller to free; NULL: unknown.  Links are not resolved, so an upgrade
 * starts the program that has the path by then.
 */
char	*proc_path(const char *argv0);

/*
 * On Linux, has the system kill this process when its parent dies.  Exits if
 * the parent is dead already.  To be called in the child with its parent's id,
 * after user_become(), which resets the setting.
 */
void	proc_die_with_parent(pid_t parent);

/*
 * On Linux, lets this process outlive its parent by at most some seconds, even
 * while it is blocked.
 */
void	proc_survive_parent(pid_t parent);

/* How many processors this process may run on; 1 where the system does not
 * tell. */
unsigned proc_processors(void);

/*
 * Starts a session, and on Linux gives all of it a nice value: where the system
 * divides processors among sessions (sched(7), autogroup), a process's
 * own nice value counts within its session only.  May block for a fifth of a
 * second: only CAP_SYS_ADMIN may make such changes at any time.
 */
void	proc_start_session(int nice);

/* Sets no_new_privs: no exec grants privileges.  Linux only. */
void	proc_no_new_privileges(void);
bool	proc_has_no_new_privileges(void);

/*
 * Drops all capabilities of this process; to be called after user_become(),
 * which needs them.  0, or -1 with errno.
 */
int	proc_drop_capabilities(void);
/* Drops the capabilities that programs may ever get, if the process may do so;
 * to be called before proc_drop_capabilities(). */
void	proc_drop_bounding_set(void);

/* Whether a user may read a directory.  Forks a child, and waits for it. */
bool	proc_may_read(const struct user *, const char *directory);
/* The same of a program, by a descriptor; false: it surely may not. */
bool	proc_may_execute(const struct user *, int program);

/* Calls a function in a child, as that user (name NULL: as this one), and waits
 * for it. */
void	proc_run_as(const struct user *, void (*)(const void *), const void *);

/*
 * Goes into the background: forks, starts a session, changes to / and closes
 * the terminal; returns in the child, 0, or -1 with errno.  Call with all
 * signals blocked, so that none is lost.  The parent stays until the child
 * calls proc_daemon_ready() with *waiting, calls ready() with the child's id,
 * and exits with 0; or until the child ends, and exits with its status, or
 * EX_SOFTWARE where that is 0.
 */
int	proc_daemon(int *waiting, void (*ready)(pid_t));
void	proc_daemon_ready(int *waiting);	/* -1: no parent waits */

/* Raises the soft limit of open descriptors to the hard one, and returns it. */
size_t	proc_raise_fd_limit(void);

/*
 * For a fork.  Block all signals before, so that none runs the parent's handler
 * in the child; reset the handlers in the child; unblock in both.
 */
void	proc_signals_block(void);
void	proc_signals_reset(void);
void	proc_signals_unblock(void);

/* Closes all descriptors from first on. */
void	proc_close_from(int first);
/* Opens /dev/null for those of 0 to 2 that are closed, so that no file gets
 * one of these numbers. */
void	proc_open_standard_fds(void);

#endif
