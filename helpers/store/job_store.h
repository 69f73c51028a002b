/*
 * job_store: jobs that put bytes into files of their own: SPOOL and STORE.  A
 * part of the contract in job.h.
 */
#ifndef HELPERS_JOB_STORE_H
#define HELPERS_JOB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helpers/job_parts.h"
#include "lib/str.h"

/* Descriptor: the caller's, which it keeps, or that of a new file without a
 * name, whose offset is 0 (job_makes_file()).  The file has all bytes, or there
 * is an error. */
struct job_spool {
	struct str	 bytes;
	int64_t		 offset;	/* in the file */
	bool		 has_file;
	/* Absolute: a new file is made there, and begins with the bytes of the
	 * caller's, if there is one, up to the offset.  NULL: in memory. */
	const char	*directory;
	/* Of a file that was made in a directory, by the result and in further
	 * jobs for it; 0: in memory. */
	uint64_t	 device;
};

/*
 * With a file, which remains the caller's: keeps the bytes of the file in the
 * directory, by a key and a group.  Without a file: finds the bytes of the key,
 * unless a file has another version than its note says, or the group was
 * renewed after the bytes were made (store/renewal.h).  Descriptor: an
 * anonymous file with the bytes, and behind them the notes.  ENOENT: there are
 * no such bytes; EPERM: the directory belongs to another user, or others may
 * write to it; ESTALE: a file of the notes may still change without a trace.
 */
struct job_store {
	const char	*directory;	/* absolute */
	const char	*group;
	struct str	 bytes;		/* the key, and behind it the notes:
					 * lines for job_take_version() */
	uint64_t	 key_size;
	bool		 has_file;
	uint64_t	 renewal;	/* the group's, before the bytes were
					 * made; without a file, a result */
	int64_t		 max;		/* most bytes of the directory, or of
					 * the file to be found */
	uint64_t	 size;		/* of the bytes: the caller's, or the
					 * result */
	uint64_t	 notes_size;	/* the result */
};

#define JOB_NOTES_MAX	(64 * 1024)	/* of a STORE */

/* Takes the version off the front of a line: seven numbers in hexadecimal.
 * Leaves the absolute name of the file.  False: the line is malformed. */
bool		 job_take_version(struct str *line, struct job_version *);

#endif
