/*
 * job_find: what jobs find beneath a root.  A part of the contract in job.h.
 */
#ifndef HELPERS_JOB_FIND_H
#define HELPERS_JOB_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "helpers/job_parts.h"
#include "lib/str.h"

/* RESOLVE, LIST, COMPRESS: what to find beneath a root, and what was found. */
struct job_find {
	/*
	 * The directory (absolute), and the path beneath it: without a leading
	 * slash or dot segments; "" is the root itself.  A path with a slash at
	 * its end must be a directory; the path of a LIST always is one.
	 */
	const char	*root, *path;
	struct str	 names;		/* not of LIST: texts, tried in turn:
					 * index names or suffixes of path */
	/* Not of LIST: texts: patterns (fnmatch(3)) of names of programs.
	 * RESOLVE opens no such file, see struct job_resolve; to COMPRESS it is
	 * none (ESTALE). */
	struct str	 programs;
	enum job_links	 links;
	bool		 same_mount;	/* EREMOTE in place of leaving one
					 * mount, where the system can tell */
	uint32_t	 mount_len;	/* bytes of path that lead to that
					 * mount, without links; 0: root's */
	/*
	 * If not NULL: root is a path beneath this user's home (no leading
	 * slash), and root, the file and all entries must belong to the user.
	 * ENOENT: there is no such user or root; ERANGE: too low a uid.
	 */
	const char	*user;
	uint32_t	 min_uid;
	/* The caller has this version.  If the file still has it, unchanged is
	 * set and no descriptor travels.  Result: the version found. */
	bool			 has_version;
	struct job_version	 version;

	uint32_t		 watch;		/* enum job_watch */
	uint32_t		 watched;	/* enum job_watched */
	struct job_waypoints	 waypoints;	/* from / on */
	bool			 unchanged;	/* the version holds */
	uint32_t		 name_number;	/* of names, from 1; 0: path */
	uint32_t		 denied;	/* RESOLVE: see job_parts.h */
	struct job_facts	 facts;
};

#endif
