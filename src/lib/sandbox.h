/*
 * sandbox: confines a process to the files and system calls of its roles, once
 * it has opened what it needs.
 */
#ifndef LIB_SANDBOX_H
#define LIB_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#define SANDBOX_NO_RULES	(-2)

struct sandbox {
	unsigned	 roles;		/* bits of enum syscall_role */
	int		 rules;		/* Landlock's ruleset; -1: no file is
					 * allowed; SANDBOX_NO_RULES: Landlock
					 * is not entered */
	bool		 required;	/* a confinement that fails is fatal */
	/* Starts the process's other threads, and returns when all run; or
	 * NULL.  sandbox_enter() calls it after Landlock, which threads
	 * inherit, and before the filter, which the system puts on all threads
	 * at once: so the filter need not allow clone(2). */
	void		(*start)(void *);
	void		*context;	/* of start */
};

/* Names what the system lacks, for a log line; NULL: nothing is missing. */
const char	*sandbox_missing(void);
/* Confines this process for good.  A part that the system has but that fails is
 * a warning, or fatal if required; the process logs it. */
void		 sandbox_enter(const struct sandbox *);

#endif
