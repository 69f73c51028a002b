/*
 * renewal: a number in a directory for each group of bytes that are kept there.
 * Bytes that were kept with another number are outdated.
 *
 * The number is the content of a file, which is replaced as a whole: a crash
 * leaves the old number or the new one.
 */
#ifndef HELPERS_RENEWAL_H
#define HELPERS_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

/* Opens a directory.  -1 with errno: EPERM if another user may write to it. */
int	renewal_open_directory(const char *);
/* Whether a file of that name has such a number. */
bool	renewal_is_name(const char *file);
/* The number of a group; 0: none was set.  0 or an errno. */
int	renewal_read(int directory, const char *group, uint64_t *number);
/* Sets another number, and returns when it is on disk.  Waits for another
 * process that sets one in the directory.  0 or an errno. */
int	renewal_set(int directory, const char *group);

#endif
