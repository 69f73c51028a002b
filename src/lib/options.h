/*
 * options: the options of a program, and the help about them, out of one table.
 *
 * An option has a letter; some have a long name too.
 */
#ifndef LIB_OPTIONS_H
#define LIB_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

struct options_row {
	char		 letter;		/* 0: end of the table */
	const char	*name;			/* "help" for --help, or NULL */
	const char	*argument;		/* its name, or NULL */
	const char	*help;
};

/* The rows that all programs have, at the end of each table. */
#define OPTIONS_COMMON							\
	{ 'h', "help", NULL, "Prints this." },				\
	{ 'V', "version", NULL, "Prints the version." },		\
	{ 0, NULL, NULL, NULL }

/*
 * Returns the letter of the next option, -1 when there are no more, or ? for a
 * wrong one, after a message; optarg and optind are as of getopt(3).
 * all_first: the first other argument ends the options.
 */
int	options_next(int argc, char **argv, const struct options_row *,
	    bool all_first);

/* Prints a line for each option. */
void	options_print(FILE *, const struct options_row *);

#endif
