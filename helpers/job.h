/*
 * job: CONTRACT between main, which needs the disk, and the code that waits for
 * the disk.
 *
 * A job is a piece of work that may block, in terms of files, not of HTTP.
 * job_perform() does a job; an architecture decides where: in main, in a
 * thread, or in a helper (wire.h).
 *
 * Texts and data of a job are borrowed, and must outlive it; a received job
 * borrows from the buffer that it was received into.  Descriptors are owned:
 * see fd.
 */
#ifndef HELPERS_JOB_H
#define HELPERS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JOB_READAHEAD	(128 * 1024)	/* READ: bytes begun behind the range */
#define JOB_KINDS(X)							\
	X(RESOLVE, "resolve", "find a name beneath a root, open the file") \
	X(READ,	   "read",    "bring a range of a file into memory")	\
	X(APPEND,  "append",  "add bytes to a log")			\
	X(LIST,	   "list",    "write down what is in a directory")	\
	X(VERIFY,  "verify",  "compare a password with a password file") \
	X(COMPRESS, "compress", "find a name beneath a root, compress it") \
	X(COPY,	   "copy",    "copy a range of a file into memory")	\
	X(CLOSE,   "close",   "close a file, as the last who has it")

enum job_kind {
#define X(id, name, help) JOB_##id,
	JOB_KINDS(X)
#undef X
	JOB_KIND_COUNT
};

/* Limits of what travels; a message beyond them is refused. */
#define JOB_PATH_MAX		4096	/* root, path, names: bytes each */
#define JOB_USER_MAX		256	/* user: bytes */
#define JOB_DATA_MAX		(128 * 1024)	/* APPEND, template: bytes */
#define JOB_SIBLINGS_MAX	8	/* suffixes */

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

/* Other facts about a file, from stat(2) and statfs(2). */
struct job_facts {
	uint32_t	mode, uid;		/* st_mode, st_uid */
	/* The version is a strong validator (RFC 9110, section 8.8.1): a
	 * further change of the file gets other time stamps. */
	bool		strong;
	bool		in_memory;	/* the file system is; READ: the range
					 * was before */
	bool		handle;		/* fd is one (O_PATH), for COPY only */
	struct job_version cached;	/* COMPRESS: of fd, in cache_dir */
};

struct job {
	uint64_t	 id;	/* never used twice in the life of a process */
	enum job_kind	 kind;

	/*
	 * RESOLVE, LIST, COMPRESS: the directory (absolute; VERIFY: the file),
	 * and the path beneath it: without a leading slash or dot segments; ""
	 * is the root itself.  A path with a slash at its end must be a
	 * directory; the path of a LIST always is one.
	 * RESOLVE, COMPRESS: names are tried in that directory in turn: each
	 * terminated, names_len bytes in all.  LIST: names are patterns
	 * (fnmatch(3)) of entries to leave out.
	 */
	const char	*root, *path, *names;
	size_t		 names_len;
	enum job_links	 links;
	bool		 same_mount;	/* EREMOTE in place of leaving one
					 * mount, where the system can tell */
	size_t		 mount_len;	/* bytes of path that lead to that
					 * mount, without links; 0: root's */
	/*
	 * If not NULL: root is a path beneath this user's home (no leading
	 * slash), and root, the file and all entries must belong to the user.
	 * ENOENT if there is no such user or root, or the uid is too low.
	 */
	const char	*user;
	uint32_t	 min_uid;
	const char	*template;	/* LIST: texts, see enum job_template */
	size_t		 template_len;
	/*
	 * RESOLVE: suffixes, as names are.  A sibling is a file with the file's
	 * name and a suffix; it counts if it is not empty and not older than
	 * the file.
	 */
	const char	*siblings;
	size_t		 siblings_len;
	const char	*cache_dir;	/* COMPRESS: directory for results,
					 * absolute; NULL: none */
	/*
	 * RESOLVE, LIST, COMPRESS: the caller has this version.  If the file
	 * still has it, unchanged is set and no descriptor travels.  COPY: fd
	 * must have this version.  Result: the version that was found.
	 */
	bool			 has_version;
	struct job_version	 version;

	/*
	 * READ, COPY: the range of fd.  APPEND: offset is the number of the
	 * log, data the bytes.  LIST: length is the maximum of entries, offset
	 * the number of bytes after which no entry is begun.  VERIFY: data is
	 * user and password, both terminated, length that of both.  RESOLVE:
	 * length is the number of the suffix whose sibling to open, from 1; 0:
	 * none.  COMPRESS: length is the maximum size of the file.
	 */
	int64_t		 offset;
	uint64_t	 length;
	const char	*data;
	/*
	 * Request.  READ, COPY: the file; stays the caller's.  CLOSE: the file,
	 * of that version; -1 once it is closed.
	 * Result, owned by the caller, -1: none.  RESOLVE: the file, open for
	 * reading, or a handle.  COPY: an anonymous file with the range.  LIST:
	 * one with the text; the version is the text's, the mode that of the
	 * directory.  COMPRESS: one with the output of gzip, or, if the type in
	 * the mode is regular, a file in cache_dir or its handle; the version
	 * is the source's, but for the size, which is less.
	 */
	int		 fd;

	/*
	 * 0 or an errno: ENOENT, ENOTDIR, EACCES, EXDEV (leaves the root),
	 * ELOOP, ENAMETOOLONG, EISDIR (a directory: without a slash, or with
	 * none of the names in it), ENOTSUP (neither file nor directory;
	 * VERIFY: the kind of hash is unknown), EREMOTE (see same_mount), EIO
	 * ...  RESOLVE: ESTALE (the sibling does not count).  COPY: ESTALE (the
	 * version has changed).  COMPRESS: EFBIG (too large, or no gain),
	 * EAGAIN (the file changed meanwhile).  Of a task: ECONNABORTED (the
	 * helper died), ETIMEDOUT (it is stuck), EAGAIN (too many tasks wait),
	 * ECANCELED (no connection waits).
	 */
	int			 error;
	bool			 unchanged;	/* the version holds */
	unsigned		 name_number;	/* of names, from 1; 0: path */
	struct job_facts	 facts;	/* RESOLVE, LIST, COMPRESS */
	uint64_t		 done;	/* READ, COPY: bytes in memory; less
					 * than length: the file is shorter.
					 * APPEND: bytes.  LIST: entries.
					 * RESOLVE: a bit for each sibling that
					 * counts.  VERIFY: 1: right password */
};

const char	*job_kind_name(enum job_kind);

/* The policy of that name; JOB_LINKS_COUNT: there is none. */
enum job_links	 job_links_find(const char *name);

/* Makes an empty job: fd is -1, all else zero. */
void		 job_init(struct job *, enum job_kind);

/* Does a job of any kind, and fills in the result.  Blocks. */
void		 job_perform(struct job *);

/* Sets the descriptors that APPEND writes to, by log number; not owned. */
void		 job_set_logs(const int *fds, size_t n);

#endif
