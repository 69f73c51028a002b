/*
 * execute: what a new process does until it is the program.
 */
#ifndef PROGRAMS_EXECUTE_H
#define PROGRAMS_EXECUTE_H

#include <sys/types.h>

#include <stdbool.h>

#include "conf/conf.h"
#include "lib/str.h"

/* The program that is to be started.  All is borrowed, except what
 * execute_prepare() makes. */
struct execute {
	const struct conf_program	*program;
	struct str			 file;	/* see struct backend_start */
	struct str			 environment;	/* main's texts */
	int				 input;	/* standard input; -1: none */
	int				 connection;	/* to the application of
							 * a filter, or -1 */
	uint64_t			 expected;	/* 0, or its version */
	mode_t				 input_type;	/* S_IFREG, S_IFIFO:
							 * a body; S_IFSOCK */
	bool				 has_output;	/* a pipe of its own;
							 * else that of the
							 * errors */
	/* The rest is set by the reaper. */
	const struct conf		*conf;
	int				 output, errors;	/* pipes, or
							 * a file */
	int				 notes;	/* -1: none */
	/* Made by execute_prepare(). */
	char				**arguments, **variables, *directory;
	uint64_t			 version;	/* 0, or of the files of
							 * a FASTCGI */
	int				 rules;	/* of Landlock; -1: none */
	bool				 is_script;	/* the program has a
							 * directory */
};

/* Finds the file and makes arguments, variables and rules.  0, or -1 with errno
 * (ESTALE: the version is another one than expected); execute_clear() is due in
 * both cases.  May block. */
int		execute_prepare(struct execute *);
void		execute_clear(struct execute *);

/*
 * Makes this process, a new child of parent, the program: a process group of
 * its own, only the first three descriptors (and 3 for notes or the connection,
 * if there is one), default signals, the script's directory, the conf's limits.
 * May block.  If that fails, writes an errno, an int, to the pipe failure,
 * which is otherwise closed as the program begins, and exits.
 * The child may share the parent's memory (vfork(2)): it changes only its stack
 * and errno.
 */
_Noreturn void	execute_program(const struct execute *, pid_t parent,
		    int failure);

#endif
