/*
 * syscall_filter: confines a process to the system calls of its roles
 * (seccomp(2)).
 *
 * A call that syscalls.tbl allows to none of the roles ends the process with a
 * log line that names the call: either amped has a bug, or an attacker runs the
 * process.  In the roles USERS and NAMES, such a call fails with EPERM instead:
 * libraries of the system make it, and their calls differ.
 */
#ifndef LIB_SYSCALL_FILTER_H
#define LIB_SYSCALL_FILTER_H

#include <stdbool.h>

/* The roles of a process, which may have several. */
#define SYSCALL_ROLES(X)						\
	X(MAIN, "main")			/* an event loop */		\
	X(FILES, "files")		/* opens and reads files */	\
	X(USERS, "users")		/* looks users up */		\
	X(LOG, "log")			/* writes to open descriptors */ \
	X(SYSLOG, "syslog")		/* connects to syslog's socket */ \
	X(NAMES, "names")		/* looks host names up */	\
	X(THREADS, "threads")		/* starts threads */		\
	X(FILTER, "filter")		/* changes what is open already */

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

/* The bits of roles named in a list with commas; 0: a name is unknown. */
unsigned	syscall_filter_roles(const char *names);
/* Whether amped was built with libseccomp, and the system has seccomp(2). */
bool		syscall_filter_available(void);
/* Confines all threads of this process for good.  Needs
 * proc_no_new_privileges().  0, or -1 with errno. */
int		syscall_filter_enter(unsigned roles);

#endif
