/*
 * proc: processes: titles, privileges, children that do not stay behind.
 */
#ifndef LIB_PROC_H
#define LIB_PROC_H

#include <stdbool.h>
#include <sys/types.h>

struct user;

/* First thing in main(): remembers where the title's room is. */
void	proc_title_init(int argc, char **argv);
void	proc_title(const char *title);		/* "amped: main" */

/*
 * Where the program that runs was found by that name, as a path from / on that
 * is not followed further: what stands there may be another one by now.  NULL:
 * unknown.
 */
char	*proc_path(const char *argv0);

/*
 * Signals a child as soon as its parent is gone, where the system can; to
 * be called in the child, after it has changed its user, with its parent's
 * id.  Ends the child if the parent has gone already.
 */
void	proc_die_with_parent(pid_t parent);

/*
 * The other way: a child that may stay behind its parent, but only for some
 * seconds, where the system can see to that; whatever it waits for.
 */
void	proc_survive_parent(pid_t parent);

/* No new privileges through exec, where the system can. */
void	proc_no_new_privileges(void);

/*
 * None of root's powers (capabilities) for this process, nor for any program
 * that it runs; where it is not allowed to deny these, proc_no_new_privileges()
 * does.  After user_become(), which needs them.  0, or -1 with errno.
 */
int	proc_drop_capabilities(void);
/* ... before that: what no program may ever get, if it may say so. */
void	proc_drop_bounding_set(void);

/* Whether that user could read a directory, asked as that user. */
bool	proc_may_read(const struct user *, const char *directory);

/* Has something done as that user, by a child that is waited for; nobody: by
 * us, as we are. */
void	proc_run_as(const struct user *, void (*)(const void *), const void *);

/*
 * Into the background: fork, new session, / as directory, no terminal.  It
 * returns in the child; with all signals blocked, none is lost on the way.  Who
 * has started us waits in the parent until the child says so (waiting is for
 * that), or has ended: then it gets that status, but none of success.  0, or -1
 * with errno.
 */
int	proc_daemon(int *waiting);
void	proc_daemon_ready(int *waiting);		/* -1: nobody waits */

/* Soft limit of open descriptors up to the hard one; what it is now. */
size_t	proc_raise_fd_limit(void);

/*
 * Around a fork: all signals blocked, so that none meets the child with its
 * parent's handlers; default ones for the child; none blocked.
 */
void	proc_signals_block(void);
void	proc_signals_reset(void);
void	proc_signals_unblock(void);

/* That one and all behind it are closed. */
void	proc_close_from(int first);
/* Descriptors 0 to 2 exist from here on; else the next ones would be them. */
void	proc_open_standard_fds(void);

#endif
