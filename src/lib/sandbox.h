/*
 * sandbox: what a process gives up as soon as it has all that it needs.
 */
#ifndef LIB_SANDBOX_H
#define LIB_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#define SANDBOX_NO_RULES	(-2)

struct sandbox {
	unsigned	 roles;		/* of enum syscall_role */
	int		 rules;		/* of landlock; -1: no file at all;
					 * SANDBOX_NO_RULES: as before */
	bool		 required;	/* else: as much of it as there is */
	/* Starts other threads, and returns when they run; or NULL.  They have
	 * no files by inheritance, and no calls since those are taken from all
	 * threads at once: so none is needed to start more. */
	void		(*start)(void *);
	void		*context;
};

/* What there is not of it here, in words for one line; NULL: nothing. */
const char	*sandbox_missing(void);
/* For good.  What fails though it is there is told; required, it is fatal. */
void		 sandbox_enter(const struct sandbox *);

#endif
