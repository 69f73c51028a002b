/*
 * residency: is a range of a file in memory, so that it can be sent without
 * waiting for a page?
 *
 * The methods differ in what their result is worth.  nowait reads, and so
 * verifies.  mincore asks the kernel, which since Linux 5.2 tells strangers
 * "all of it", so it is used for files of our own user only.  predict remembers
 * what a helper has just read.  never is for file systems in memory, which
 * cannot wait.  Where no method is safe (the file is only a handle), a helper
 * makes a copy, and the file is not read again.
 */
#ifndef CACHE_RESIDENCY_H
#define CACHE_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file;
struct job_facts;

#define RESIDENT_METHODS(X)						\
	X(NOWAIT,	"nowait")					\
	X(MINCORE,	"mincore")					\
	X(PREDICT,	"predict")					\
	X(NEVER,	"never")					\
	X(COPY,		"copy")

enum residency_method {
#define X(id, name) RESIDENT_##id,
	RESIDENT_METHODS(X)
#undef X
	RESIDENT_METHOD_COUNT
};

/*
 * How long a chunk counts as resident, ms: when predicted the first time, and
 * when verified by nowait.  Pages that have just been read are the last that
 * memory pressure takes, but pressure can turn over all of memory in less than
 * a second, so the time after a verification is short.
 */
#define RESIDENT_PREDICTED	1000
#define RESIDENT_VERIFIED	10

/*
 * ms for which memory counts as short after a verified chunk has gone.
 * Meanwhile main looks before each sending; else a look, which is a system call
 * for several chunks, is as good as a verification.
 */
#define RESIDENT_SHORTAGE	1000

/* ms after which a chunk in use is read again although it is in memory: the
 * kernel counts that as use. */
#define RESIDENT_REREAD	250

/* The functions below use shared scratch memory: call them under the lock of
 * the files. */
enum residency_result {
	RESIDENT_YES,
	RESIDENT_NO,		/* a helper must read it */
	RESIDENT_GONE		/* the file is shorter, or cannot be read */
};

/* The method for a file: the conf's, or the next best that works here. */
enum residency_method	residency_choose(int64_t wanted, const struct file *,
			    const struct job_facts *);
const char		*residency_name(enum residency_method);

/* Whether a range is resident; base: where it is mapped. */
enum residency_result	residency_check(const struct file *, void *base,
			    off_t offset, size_t len);

/* Maps pages that are in memory, so that pagemap_present() sees them.  This
 * costs a tenth of reading them, and does not count as use. */
bool			residency_populate(void *base, size_t len);

/*
 * Whether the file has lost its last byte, as far as that is known without
 * waiting: the rest of the last page would be sent as zeros.
 */
bool			residency_shrunk(const struct file *);

/*
 * Reads into a buffer what is in memory of a range, without waiting.  Returns
 * the number of bytes, 0 if the next byte is not in memory, -1 at the end of
 * the file or for an error.  The method predict reads without a check.
 */
ssize_t			residency_read(const struct file *, void *,
			    off_t offset, size_t len);

#endif
