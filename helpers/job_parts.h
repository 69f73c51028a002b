/*
 * job_parts: what jobs are made of: limits, policies on links, templates, and
 * versions and facts of files.  A part of the contract in job.h.
 */
#ifndef HELPERS_JOB_PARTS_H
#define HELPERS_JOB_PARTS_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of what travels; a message beyond them is refused. */
#define JOB_PATH_MAX		4096	/* root, path, names: bytes each */
#define JOB_USER_MAX		256	/* user: bytes */
#define JOB_DATA_MAX		(128 * 1024)	/* APPEND, SPOOL, LIST: bytes */
#define JOB_SIBLINGS_MAX	16	/* suffixes and languages */

/* Which symbolic links are followed; links of proc(5) only by ALL. */
#define JOB_LINKS(X)							\
	X(BENEATH, "beneath")	/* links that stay beneath the root */	\
	X(NONE, "none")							\
	X(OWNER, "owner")	/* as BENEATH, and links whose target	\
				 * belongs to the owner of the link */	\
	X(ALL, "all")

enum job_links {
#define X(id, name) JOB_LINKS_##id,
	JOB_LINKS(X)
#undef X
	JOB_LINKS_COUNT
};

/* The template of a LIST: these texts in this order, each terminated, some
 * empty; template.h has their fields. */
enum job_template {
	JOB_TEMPLATE_ORDER,	/* name, size, time; - in front: reversed */
	JOB_TEMPLATE_TITLE,	/* the value of %{title} */
	JOB_TEMPLATE_HEAD,	/* before all entries */
	JOB_TEMPLATE_DIRECTORY,	/* for a directory; these precede all files */
	JOB_TEMPLATE_FILE,	/* for a regular file */
	JOB_TEMPLATE_BETWEEN,	/* between two entries, and before CUT */
	JOB_TEMPLATE_CUT,	/* for entries left out because of the limits */
	JOB_TEMPLATE_TAIL,	/* after all entries */
	JOB_TEMPLATE_COUNT
};

/* A version of a file: if equal, the bytes are, as far as stat(2) tells. */
struct job_version {
	uint64_t	dev, ino;
	int64_t		size;			/* bytes */
	int64_t		mtime, ctime;		/* seconds since 1970 */
	uint32_t	mtime_ns, ctime_ns;
};
#define JOB_CTIME_ANY	0	/* COPY: a ctime that is not compared */

/* A range of the job's file; of CLOSE: which the system is to drop. */
struct job_range {
	int64_t		 offset;
	uint64_t	 length;
	struct job_version version;	/* of the file */
	uint64_t	 done;		/* bytes in memory; less than length:
					 * the file is shorter; CLOSE: 0 */
};

/*
 * Waypoints: all that can change the answer of a job that finds a path, in
 * watched directories (helpers/notify.h) on the way from / to the file.  There
 * the entry with that hash of its name counts, or all entries.
 */
#define JOB_WAYPOINTS_MAX	32

enum job_waypoint_kind {
	JOB_WAYPOINT_DIRECTORY,	/* all entries: the path's first bytes lead to
				 * the directory */
	JOB_WAYPOINT_BENEATH,	/* the entry leads to the path's first bytes,
				 * and all that is beneath */
	JOB_WAYPOINT_FILE	/* the entry leads to the end of the path */
};

struct job_waypoint {
	int32_t		number;			/* of the directory */
	uint32_t	kind;			/* enum job_waypoint_kind */
	uint32_t	bytes;			/* of the path */
	uint32_t	name;			/* DIRECTORY: 0 */
};

struct job_waypoints {
	uint32_t		n, reserved;
	struct job_waypoint	at[JOB_WAYPOINTS_MAX];
};

/* Directories that a job is to watch. */
enum job_watch {
	JOB_WATCH_NONE,
	JOB_WATCH_WAY,		/* each directory on the way */
	JOB_WATCH_END,		/* all but links at the end is watched */
	JOB_WATCH_COUNT
};

enum job_watched {
	JOB_WATCHED_NOT,	/* something may change without an event */
	JOB_WATCHED_ALL,
	JOB_WATCHED_FULL,	/* not all: the system's limit is reached */
	JOB_WATCHED_COUNT
};

/* Denied (EACCES): bytes of the path that lead to the part that may not be read
 * or entered; 0: root or above; more than the path has: a name, by number. */

/* Other facts about a file, from stat(2) and statfs(2). */
struct job_facts {
	uint32_t	mode, uid;		/* st_mode, st_uid */
	/* A strong validator (RFC 9110, 8.8.1): a change gets a new time. */
	bool		strong;
	bool		in_memory;	/* the file system of fd is */
	bool		handle;		/* fd is one (O_PATH), for COPY only */
	bool		copy;		/* RESOLVE: fd has all bytes */
	struct job_version cached;	/* COMPRESS: of fd, in cache_dir */
};

#endif
