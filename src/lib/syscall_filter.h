/*
 * syscall_filter: which system calls a process may still make (seccomp(2)).
 *
 * One that is not in syscalls.tbl for any of its roles ends the process, after
 * a line that says which it was: it is a bug of ours, or somebody has taken the
 * process over, and neither is to go on.  Only who asks for users, or names, is
 * told EPERM instead: that is done by libraries of others, who know why.
 */
#ifndef LIB_SYSCALL_FILTER_H
#define LIB_SYSCALL_FILTER_H

#include <stdbool.h>

/* What a process is for; a process may have several. */
#define SYSCALL_ROLES(X)							\
	X(MAIN, "main")			/* an event loop */		\
	X(FILES, "files")		/* opens and reads files */	\
	X(USERS, "users")		/* asks for users */		\
	X(LOG, "log")			/* writes what it has open */	\
	X(SYSLOG, "syslog")		/* ... or to a socket of the system */ \
	X(NAMES, "names")		/* asks for names of hosts */

enum syscall_role_number {
#define X(id, name) SYSCALL_ROLE_NUMBER_##id,
	SYSCALL_ROLES(X)
#undef X
	SYSCALL_ROLE_COUNT
};

enum syscall_role {
#define X(id, name) SYSCALL_ROLE_##id = 1 << SYSCALL_ROLE_NUMBER_##id,
	SYSCALL_ROLES(X)
#undef X
};

/* The roles named, separated by commas; 0: one of them does not exist. */
unsigned	syscall_filter_roles(const char *names);
/* Whether this program was built with it, and the system can do it. */
bool		syscall_filter_available(void);
/* For good, of all threads that there are; without new privileges (proc.h).  0,
 * or -1 with errno. */
int		syscall_filter_enter(unsigned roles);

#endif
