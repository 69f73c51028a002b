/*
 * filter: the filters of amped: what one is, and what they have in common.
 *
 * A filter reads standard input, a file, and writes standard output.  It is a
 * process of its own, with the limits of the conf, so it may take its input
 * into memory.  Variables of the environment say which file it is
 * (amped-filters(7)).
 */
#ifndef HELPERS_FILTERS_FILTER_H
#define HELPERS_FILTERS_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"
#include "lib/str.h"

/* Runs a filter by its name and arguments: an exit status, EX_USAGE: there is
 * no such filter.  Lines to standard error say what failed. */
int	filter_main(int n, char **words);

/* Reads all of standard input, or of a file: 0, or -1 with errno. */
int	filter_read(int fd, struct buf *);
/* Writes bytes to standard output, perhaps later; the process ends where that
 * fails. */
void	filter_write(const void *, size_t);
/* Writes what was not yet written. */
void	filter_flush(void);
/* Notes that the result depends on a file, by its absolute name; fd: the open
 * file, or -1: there is none.  Nothing happens where nobody reads notes. */
void	filter_note(const char *name, int fd);
/* The value of a variable; "": it is not set. */
const char *filter_variable(const char *name);

/* Each filter: an exit status. */
int	ssi_filter(struct str input);
int	replace_filter(struct str input, const char *from, const char *to);
int	charset_filter(struct str input, const char *from, const char *to);
int	markdown_filter(struct str input);
int	module_filter(struct str input, int n, char **words);

#endif
