/*
 * job: CONTRACT between whoever needs the disk and whoever does the disk.
 *
 * A job is a piece of work that may block, in the language of files: paths,
 * descriptors, offsets, errno.  Not a word of HTTP.  job_perform() does one;
 * an architecture chooses where: here, in a thread, in a helper (wire.h).
 *
 * Texts and data in a job are borrowed: they must outlive it, or the buffer
 * that they were received into.  Descriptors are owned: see each kind.
 */
#ifndef HELPERS_JOB_H
#define HELPERS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JOB_READAHEAD	(128 * 1024)	/* READ: bytes begun behind it */
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

/* Limits of what travels; a record beyond them is not a job. */
#define JOB_PATH_MAX	4096		/* root, path, names: bytes each */
#define JOB_USER_MAX	256		/* user: bytes */
#define JOB_DATA_MAX	(128 * 1024)	/* APPEND, form: bytes */
#define JOB_SIBLINGS_MAX	8		/* suffixes */

/* Which symbolic links are followed; those of proc only by the last. */
#define JOB_LINKS(X)							\
	X(BENEATH, "beneath")	/* those that stay beneath it */	\
	X(NONE, "none")							\
	X(OWNER, "owner")	/* those, and those that lead to what	\
				 * belongs to their owner */		\
	X(ALL, "all")

enum job_links {
#define X(id, name) JOB_LINKS_##id,
	JOB_LINKS(X)
#undef X
	JOB_LINKS_COUNT
};

/*
 * The form of a LIST: these texts in this order, each terminated, some empty;
 * what is filled in is in template.h.
 */
enum job_template {
	JOB_TEMPLATE_ORDER,		/* name, size, time; - in front: backwards */
	JOB_TEMPLATE_TITLE,		/* what %{title} is */
	JOB_TEMPLATE_HEAD,		/* comes first */
	JOB_TEMPLATE_DIRECTORY,	/* an entry that is one; before all files */
	JOB_TEMPLATE_FILE,		/* an entry that is a file */
	JOB_TEMPLATE_BETWEEN,	/* two entries, and the last and CUT */
	JOB_TEMPLATE_CUT,		/* where entries are left out for the limits */
	JOB_TEMPLATE_TAIL,		/* comes last */
	JOB_TEMPLATE_COUNT
};

/* One version of a file: equal means the same bytes, as far as stat knows. */
struct job_version {
	uint64_t	dev, ino;
	int64_t		size;			/* bytes */
	int64_t		mtime, ctime;		/* seconds since 1970 */
	uint32_t	mtime_ns, ctime_ns;
};

/* What else stat and statfs told about it. */
struct job_facts {
	uint32_t	mode, uid;		/* st_mode, st_uid */
	/*
	 * Changed so long ago that any further change would have got another
	 * time stamp: only then the version is a strong validator.
	 */
	bool		strong;
	bool		in_memory;	/* its file system is; READ: it was */
	bool		handle;		/* reading it may wait, and closing:
					 * the descriptor is only a handle
					 * (O_PATH), for COPY */
	struct job_version cached;	/* COMPRESS: of fd, if that is kept */
};

struct job {
	uint64_t	 id;	/* never used twice in the life of a process */
	enum job_kind	 kind;

	/*
	 * RESOLVE, LIST, COMPRESS: the directory (absolute), the path beneath
	 * it: no leading slash, no dot segments, "" is the root itself.  A
	 * path with a slash at its end must be a directory, and for LIST is;
	 * then names, if any, are tried in it one after the other: terminated,
	 * one behind the other, names_len bytes in all.  For LIST they are
	 * patterns (fnmatch) of the entries to leave out.
	 */
	const char	*root, *path, *names;	/* VERIFY: root is the file */
	size_t		 names_len;
	enum job_links	 links;
	bool		 same_mount;	/* on one mount, where the system sees to that,
				 * else EREMOTE; so many bytes of path lead */
	size_t		 mount_len;	/* to it, without links (0: root is on it) */
	/*
	 * If not NULL, a user, whose uid is at least that: root is beneath the
	 * user's home (no leading slash), and it, the file and all entries
	 * must be the user's.  Without such a user or root it is ENOENT.
	 */
	const char	*user;
	uint32_t	 min_uid;
	const char	*template;		/* LIST: its texts */
	size_t		 template_len;
	/*
	 * RESOLVE: suffixes, as names are, for names beside that of the file.
	 * Such a file counts if it is not empty, and not older than the file.
	 */
	const char	*siblings;
	size_t		 siblings_len;
	const char	*cache_dir;		/* COMPRESS: a directory for results,
					 * absolute; NULL: none */
	/*
	 * RESOLVE, LIST, COMPRESS: the version that the asker has, if any: when
	 * it still is that version, no descriptor travels (same is set).
	 */
	bool			 has_version;
	struct job_version	 version;	/* asked: known, of fd; then:
						 * found */

	/*
	 * READ, COPY: the range, of fd.  APPEND: offset is the number of the
	 * log, data the bytes.  LIST: length is how many entries it may have,
	 * offset after how many bytes no more are begun.  VERIFY: data is the
	 * user's name and the password, both terminated, length that of both.
	 * RESOLVE: length is which suffix to open the file with, 0: none.
	 * COMPRESS: length is the largest file to do it to.
	 */
	int64_t		 offset;
	uint64_t	 length;
	const char	*data;
	/*
	 * READ, COPY, asked: the file, stays the asker's.  CLOSE: the file, of
	 * that version; -1 once it is gone.  Answered, now the asker's, -1
	 * without.  RESOLVE: the file, opened read-only, or a handle.  COPY,
	 * without an error: a file without a name, with the range.  LIST: one
	 * with the text, whose version is of that alone, mode the directory's.
	 * COMPRESS: one with what gzip writes or, with type regular in its
	 * mode, one that is kept, or a handle of that.  Its version is the
	 * file's, but for the size, which is always less; see kept.
	 */
	int		 fd;

	/*
	 * The answer.  error is 0 or an errno: ENOENT, ENOTDIR, EACCES, EXDEV
	 * (leaves the root), ELOOP, ENAMETOOLONG, EISDIR (a directory: without
	 * slash, or with none of the names in it), ENOTSUP (neither file nor
	 * directory; it has not been opened; VERIFY: the user's hash is of a
	 * kind that is not known here), EREMOTE (see stay), EIO ...
	 * RESOLVE, with the suffix: ESTALE (does not count).  COMPRESS: EFBIG
	 * (too large, or no gain), EAGAIN (the file changed meanwhile).  When
	 * nobody did it: ECONNABORTED (whoever should have died), ETIMEDOUT
	 * (is stuck), EAGAIN (too many wait), ECANCELED (nobody wants it).
	 */
	int			 error;
	bool			 unchanged;	/* RESOLVE: still the known version */
	unsigned		 name_number;	/* RESOLVE: names tried up to success;
					 * 0: the path itself was the file */
	struct job_facts	 facts;	/* RESOLVE, LIST, COMPRESS */
	uint64_t		 done;	/* READ, COPY: bytes now in memory;
					 * short when the file is shorter.
					 * LIST: entries in it.  RESOLVE: a bit
					 * for each suffix that counts.
					 * VERIFY: 1 if it is the password */
};

const char	*job_kind_name(enum job_kind);

/* The links of that name; JOB_LINKS_COUNT if there are none. */
enum job_links	job_links_find(const char *name);

/* An empty job: fd is -1, all else zero. */
void	job_init(struct job *, enum job_kind);

/* Does it, whichever kind; fills the answer in.  Blocks. */
void	job_perform(struct job *);

/* APPEND writes to these, by log number; set once in a process that does it. */
void	job_set_logs(const int *fds, size_t n);

#endif
