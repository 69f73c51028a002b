/*
 * file_version: which version of a file stat tells of.
 */
#ifndef HELPERS_FILE_VERSION_H
#define HELPERS_FILE_VERSION_H

#include <sys/stat.h>

#include <stdbool.h>

#include "helpers/job.h"

struct job_version file_version_of(const struct stat *);
bool file_version_same(const struct job_version *, const struct job_version *);
/* Whether an open file has the bytes of that version still, whatever became of
 * its names; not if it cannot be asked. */
bool	file_version_holds(const struct job_version *, int fd);

#endif
