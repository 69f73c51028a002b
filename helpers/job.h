/*
 * job: CONTRACT between whoever needs the disk and whoever does the disk.
 *
 * A job is a piece of work that may block, in the language of files: paths,
 * descriptors, offsets, errno.  Not a word of HTTP.  job_perform() does one,
 * here and now, blocking; an architecture chooses where "here" is: in place,
 * in a thread, or in a helper process behind a stream pipe, for which the
 * other functions carry a job there and its answer back.
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

#define JOB_KINDS(X)							\
	X(RESOLVE, "resolve", "find a name beneath a root, open the file") \
	X(READ,	   "read",    "bring a range of a file into memory")	\
	X(APPEND,  "append",  "add bytes to a log")			\
	X(LIST,	   "list",    "write down what is in a directory")

enum job_kind {
#define X(id, name, help) JOB_##id,
	JOB_KINDS(X)
#undef X
	JOB_KIND_COUNT
};

/* Limits of what travels; a record beyond them is not a job. */
#define JOB_PATH_MAX	4096		/* root, path, names: bytes each */
#define JOB_DATA_MAX	(128 * 1024)	/* APPEND, form: bytes */

/*
 * The form of a LIST: these texts in this order, each terminated, some empty;
 * what is filled in is in form.h.
 */
#define JOB_TEXTS(X)							\
	X(ORDER)	/* name, size, time; with - in front: backwards */ \
	X(TITLE)	/* what %{title} is */				\
	X(HEAD)		/* comes first */				\
	X(DIRECTORY)	/* an entry that is one; they come before files */ \
	X(FILE)		/* an entry that is a file */			\
	X(BETWEEN)	/* two entries, and the last and CUT */		\
	X(CUT)		/* where entries are left out for the limits */	\
	X(TAIL)		/* comes last */

enum job_text {
#define X(id) JOB_TEXT_##id,
	JOB_TEXTS(X)
#undef X
	JOB_TEXT_COUNT
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
	uint32_t	mode;			/* st_mode */
	uint32_t	uid;			/* st_uid */
	/*
	 * Changed so long ago that any further change would have got another
	 * time stamp: only then the version is a strong validator.
	 */
	bool		settled;
	bool		in_memory;	/* its file system lives in memory */
};

struct job {
	uint64_t	 id;	/* never used twice in the life of a process */
	enum job_kind	 kind;

	/*
	 * RESOLVE, LIST: the directory (absolute) and the path beneath it:
	 * no leading slash, no dot segments, "" is the root itself.  A path
	 * with a slash at its end must be a directory, and for LIST is; then
	 * names, if any, are tried in it one after the other: NUL-terminated,
	 * one behind the other, names_len bytes in all.  For LIST they are
	 * patterns (fnmatch) of the entries to leave out.
	 */
	const char	*root, *path, *names;
	size_t		 names_len;
	const char	*form;		/* LIST: its texts */
	size_t		 form_len;
	/*
	 * RESOLVE, LIST: the version that the asker has, if any: when the
	 * file still is that version, no descriptor travels (same is set).
	 */
	bool			 known;
	struct job_version	 version;	/* asked: known; then: found */

	/*
	 * READ: the range to bring in, of fd.  APPEND: offset is the number
	 * of the log, data the bytes.  LIST: length is how many entries it
	 * may have, offset after how many bytes no more are begun.
	 */
	int64_t		 offset;
	uint64_t	 length;
	const char	*data;
	/*
	 * READ, asked: the file, stays the asker's.  RESOLVE, answered: the
	 * file, opened read-only, now the asker's; -1 without.  LIST: a file
	 * without a name, with the text; it goes when nobody has it open.
	 * Its version is made of the text alone, its mode the directory's.
	 */
	int		 fd;

	/*
	 * The answer.  error is 0 or an errno: ENOENT, ENOTDIR, EACCES, EXDEV
	 * (leaves the root), ELOOP, ENAMETOOLONG, EISDIR (a directory: without
	 * slash, or with none of the names in it), ENOTSUP (neither file nor
	 * directory; it has not been opened), EIO ...; ECONNABORTED when
	 * whoever did it died.
	 */
	int			 error;
	bool			 same;	/* RESOLVE: still the known version */
	unsigned		 which;	/* RESOLVE: names tried up to success;
					 * 0: the path itself was the file */
	struct job_facts	 facts;	/* RESOLVE, LIST */
	uint64_t		 done;	/* READ: bytes now in memory; short when
					 * the file is shorter than asked.
					 * LIST: entries in it */
};

const char	*job_kind_name(enum job_kind);

/* An empty job: fd is -1, all else zero. */
void	job_init(struct job *, enum job_kind);

/* Does it, whichever kind; fills the answer in.  Blocks. */
void	job_perform(struct job *);

/*
 * Over a stream pipe.  Sending: 0, or -1 with errno (see io_send_record).
 * Receiving an order blocks; texts point into the buffer, which must hold
 * JOB_RECORD_MAX bytes; an fd that came along is the receiver's to close.  1,
 * 0 when the pipe was closed, -1 with errno (EBADMSG: not a job).
 * Receiving an answer never blocks: fills in the answer of the job with that
 * id; EBADMSG if it is for another one.
 */
#define JOB_RECORD_MAX	(3 * JOB_PATH_MAX + JOB_DATA_MAX + 256)
int	job_send_order(int sock, const struct job *);
int	job_recv_order(int sock, struct job *, char *buffer);
int	job_send_answer(int sock, const struct job *);
int	job_recv_answer(int sock, struct job *);

/*
 * APPEND writes to these descriptors, by log number.  Set once in the process
 * that performs such jobs.
 */
void	job_logs(const int *fds, size_t n);

#endif
