/*
 * anon_file: anonymous files for the results of jobs; the system frees such a
 * file when no process has it open.
 */
#ifndef HELPERS_ANON_FILE_H
#define HELPERS_ANON_FILE_H

#include <stdbool.h>

/* An empty file, or -1 with errno. */
int	anon_file_open(bool *in_memory);
/* The same in a directory: the file has no name there. */
int	anon_file_open_in(const char *directory);

#endif
