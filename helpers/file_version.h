/*
 * file_version: versions of files, and whether a file still has one.
 */
#ifndef HELPERS_FILE_VERSION_H
#define HELPERS_FILE_VERSION_H

#include <sys/stat.h>

#include <stdbool.h>

#include "helpers/job.h"

struct job_version file_version_of(const struct stat *);
bool	file_version_same(const struct job_version *,
	    const struct job_version *);
/* Whether an open file still has the bytes of that version.  The ctime shows a
 * program that wrote and put the mtime back; JOB_CTIME_ANY is not compared.
 * False if fstat() fails. */
bool	file_version_holds(const struct job_version *, int fd);

#endif
