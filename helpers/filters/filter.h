/*
 * filter: the filters of amped: what one is, and what they have in common.
 *
 * A filter reads standard input, a file or a pipe, and writes standard output.
 * A filter is a process of its own, with the limits of the conf, so it may take
 * its input into memory; one that need not do so passes on what it has when a
 * pipe pauses.  Variables of the environment say which file it is
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

/* Reads all of a file: 0, or -1 with errno. */
int	filter_read(int fd, struct buf *);
/* Adds the next bytes of standard input; false: the input has ended.  Writes
 * all output before it waits for a pipe.  If that fails, the process ends. */
bool	filter_next(struct buf *);
/* Whether the input is a pipe that has nothing at present. */
bool	filter_is_pausing(void);
/* For a filter that collects its input: ends the process if the input has more
 * bytes than a result may have. */
void	filter_limit(size_t);
/* Writes bytes to standard output, perhaps later.  If that fails, the process
 * ends. */
void	filter_write(const void *, size_t);
/* Writes what was not yet written. */
void	filter_flush(void);
/* Notes that the result depends on a file, by its absolute name; fd: the open
 * file, or -1: there is none.  Nothing happens where nobody reads notes. */
void	filter_note(const char *name, int fd);
/*
 * Confines the process for good, if it may gain no privileges (confine off: it
 * may): from now on it reaches no file but those beneath a directory (NULL:
 * none), and makes no system call that reading and writing does not need.  To
 * be called before a filter looks at what may be an attacker's.
 */
void	filter_confine(const char *directory);
/* The value of a variable; "": it is not set. */
const char *filter_variable(const char *name);

/* Each filter: an exit status. */
int	ssi_filter(struct str input);
int	replace_filter(const char *from, const char *to);
int	charset_filter(const char *from, const char *to);
int	markdown_filter(struct str input);
int	module_filter(int n, char **words);
int	application_filter(void);

#endif
