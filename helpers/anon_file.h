/*
 * anon_file: files without a name, for what a job has made: they go when nobody
 * has them open.
 */
#ifndef HELPERS_ANON_FILE_H
#define HELPERS_ANON_FILE_H

#include <stdbool.h>

/* An empty one, or -1 with errno. */
int	anon_file_open(bool *in_memory);

#endif
