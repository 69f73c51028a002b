/*
 * job: CONTRACT between main, which needs the disk, and the code that waits for
 * the disk.
 *
 * A job is a piece of work that may block, in terms of files, not of HTTP.
 * job_perform() does a job; an architecture decides where: in main, in a
 * thread, or in a helper (wire.h).
 *
 * Texts, each terminated, and bytes of a job are borrowed, and must outlive it;
 * a received job borrows from the buffer that it was received into.
 */
#ifndef HELPERS_JOB_H
#define HELPERS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "helpers/job_find.h"
#include "helpers/job_parts.h"
#include "helpers/store/job_store.h"
#include "lib/str.h"

#define JOB_READAHEAD	(128 * 1024)	/* READ: bytes behind the range */
#define JOB_KINDS(X)							\
	X(RESOLVE, "resolve", "find a file beneath a root and open it")	\
	X(READ,	   "read",    "bring a range of a file into memory")	\
	X(APPEND,  "append",  "add bytes to a log")			\
	X(LIST,	   "list",    "write down what is in a directory")	\
	X(VERIFY,  "verify",  "compare a password with a password file") \
	X(COMPRESS, "compress", "find a file beneath a root and compress it") \
	X(COPY,	   "copy",    "copy a range of a file into memory")	\
	X(CLOSE,   "close",   "close a file that main no longer needs")	\
	X(DIGEST,  "digest",  "make a digest of a range of a file")	\
	X(SPOOL,   "spool",   "put bytes into a file without a name")	\
	X(STORE,   "store",   "keep bytes in a directory, or find them there")

enum job_kind {
#define X(id, name, help) JOB_##id,
	JOB_KINDS(X)
#undef X
	JOB_KIND_COUNT
};

/* Descriptor: the file, open for reading; a handle; or, if the type in the mode
 * is not regular, an anonymous file with all bytes of the version.  ESTALE: the
 * sibling does not count. */
struct job_resolve {
	struct job_find	 find;
	/* Texts: suffixes, and language tags, which have no dot in front.  A
	 * sibling is a file with the file's name and a suffix; it counts if it
	 * is not empty and not older than the file.  A file in a language
	 * counts however old it is. */
	struct str	 siblings;
	uint64_t	 sibling;	/* suffix whose sibling to open; 0 */
	uint64_t	 counting;	/* a bit for each sibling that counts */
	/* The first regular file on the way to path, or to path with the name,
	 * is one of find.programs: no descriptor travels, and there are no
	 * siblings.  Any other file on the way is ENOTDIR. */
	bool		 program;
	bool		 executable;	/* may be run by this process's user */
	uint64_t	 split;		/* bytes of path that lead to it */
	int64_t		 copy_max;	/* bytes of a file that is copied in
					 * place of a handle; not if a sibling
					 * counts */
	bool		 for_reading;	/* no handle */
	bool		 references;	/* in place of the file an anonymous
					 * file: names in this page of HTML, one
					 * in each line (filters/) */
	struct str	 others;	/* texts: absolute names of files */
	uint64_t	 others_sum;	/* of their versions, job_sum_version();
					 * of one that is not there, zeros */
};

/* Descriptor: an anonymous file with the text.  The version is the text's, the
 * mode that of the directory. */
struct job_list {
	struct job_find	 find;
	struct str	 hidden;	/* texts: patterns (fnmatch(3)) of
					 * entries to leave out */
	struct str	 template;	/* texts, see enum job_template */
	uint64_t	 entries_max;
	int64_t		 bytes_max;	/* after these no entry is begun */
	uint64_t	 entries;	/* in the text */
};

/* Descriptor: an anonymous file with the file in that coding, or, if the type
 * in the mode is regular, a file in cache_dir or its handle; the version is the
 * source's, except the size, which is less.  EFBIG: too large, or no gain;
 * EAGAIN: the file changed meanwhile. */
struct job_compress {
	struct job_find	 find;
	const char	*cache_dir;	/* directory for results, absolute;
					 * NULL: none */
	uint64_t	 size_max;	/* of the file */
	uint32_t	 coding;	/* enum coding, of one that is built */
	uint32_t	 level;		/* of its library */
	bool		 has_file;	/* the caller's, of find.version */
	uint64_t	 unkept;	/* errno: why it is not in cache_dir; 0:
					 * no failure */
};

struct job_read {
	struct job_range range;
	bool		 was_in_memory;
};

/* Descriptor: an anonymous file with the range. */
struct job_copy {
	struct job_range range;
	bool		 has_version;	/* ESTALE if it has changed */
};

/* ESTALE: the file is shorter, or has changed. */
struct job_digest {
	struct job_range range;
	bool		 has_version;
	uint64_t	 sum;		/* of the bytes, on each machine */
};

struct job_append {
	struct str	 bytes;
	int64_t		 log;		/* its number */
	uint64_t	 done;		/* bytes */
};

/* ENOTSUP: the kind of hash is unknown. */
struct job_verify {
	const char	*file;		/* absolute */
	struct str	 both;		/* texts: user and password */
	uint64_t	 right;		/* 1: right password */
};

struct job {
	uint64_t	 id;	/* never used twice in the life of a process */
	enum job_kind	 kind;
	/*
	 * The descriptor that travels; -1: none.  With the request: of READ,
	 * COPY, DIGEST, COMPRESS with has_file: the caller's; of CLOSE: -1 once
	 * it is closed.  Else as the result: owned by the caller.
	 */
	int		 fd;
	/*
	 * 0 or an errno: ENOENT, ENOTDIR, EACCES, EPERM (another user's),
	 * EXDEV, ELOOP, ENAMETOOLONG, EISDIR (a directory: without a slash,
	 * or with none of the names), ENOTSUP (neither file nor directory),
	 * EREMOTE (see same_mount), EIO ...  Of a task: ECONNABORTED (the
	 * helper died), ETIMEDOUT (it is stuck), EAGAIN (too many tasks wait),
	 * ECANCELED (no connection waits).
	 */
	int		 error;
	union {				/* by kind */
		struct job_find		find;	/* the first member of three */
		struct job_range	range;	/* the first member of three,
						 * CLOSE */
		struct job_resolve	resolve;
		struct job_read		read;
		struct job_append	append;
		struct job_list		list;
		struct job_verify	verify;
		struct job_compress	compress;
		struct job_copy		copy;
		struct job_digest	digest;
		struct job_spool	spool;
		struct job_store	store;
	};
};

/* Whether a kind has a struct job_find; a struct job_range. */
bool		 job_finds(enum job_kind);
bool		 job_has_range(enum job_kind);
/* Whether a SPOOL or STORE makes a file, which the caller then owns. */
bool		 job_makes_file(const struct job *);
/* Whether a job that was done has found a program. */
bool		 job_found_program(const struct job *);
const char	*job_found_name(const struct job *);	/* of names, or "" */
#define JOB_LANGUAGE_FORMS	2	/* a.de.html, a.html.de */
/* Writes the name of a path's file in a language, in one of these forms.
 * False: the name is too long, or the file has no suffix for that form. */
bool		 job_language_name(char *to, size_t size, const char *path,
		    const char *tag, unsigned form);
const char	*job_kind_name(enum job_kind);
/* The policy of that name; JOB_LINKS_COUNT: there is none. */
enum job_links	 job_links_find(const char *name);
/* A sum of versions, behind that of those before (0: none). */
uint64_t	 job_sum_version(uint64_t sum, const struct job_version *);
/* Makes an empty job: fd is -1, all else zero. */
void		 job_init(struct job *, enum job_kind);
/* Does a job of any kind, and fills in the result.  Blocks. */
void		 job_perform(struct job *);

/* The descriptors that APPEND writes to, by log number; not owned. */
void		 job_set_logs(const int *fds, size_t n);

#endif
