/*
 * renewal: a number in a directory for each group of what is kept there; what
 * was kept with another number does not count any more.
 *
 * The number is the content of a file, which is replaced as a whole: a crash
 * leaves the old number or the new one.
 */
#ifndef HELPERS_RENEWAL_H
#define HELPERS_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

/* Opens a directory that only this user may change; -1 with errno, EPERM for
 * another one. */
int	renewal_open_directory(const char *);
/* Whether a file of that name is one of these. */
bool	renewal_is_name(const char *file);
/* The number of a group; 0: none was set.  0 or an errno. */
int	renewal_read(int directory, const char *group, uint64_t *number);
/* Sets another one, which is on disk then; 0 or an errno. */
int	renewal_set(int directory, const char *group);

#endif
