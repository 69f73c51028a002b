/*
 * residency: is a range of a file in memory?  So that the loop never waits
 * for a page.
 *
 * The methods of design section 6.  What the answer is worth differs: nowait
 * proves it by reading; mincore asks the kernel, which answers strangers with
 * "all of it" (Linux since 5.2), so it is used for our own files only; predict
 * remembers what a helper has just read; never means that it cannot wait at
 * all (file systems in memory).  Where none of them is safe (the file is only a
 * handle), a helper makes a copy, and nothing is asked of the file any more.
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
 * ms that a prediction is good for, at first; and a proof, by nowait.  What has
 * just been read is the last that memory pressure takes, but under pressure
 * all of memory can be turned over in less than a second: a proof that was
 * good for one cost main 50 times as many major faults.
 */
#define RESIDENT_PREDICTED	1000
#define RESIDENT_VERIFIED	10

/*
 * ms for which memory counts as short once something that had been proved has
 * gone.  Then main looks before each sending; else a look, which is a system
 * call for some chunks, is as good as a proof.
 */
#define RESIDENT_SHORTAGE	1000

/* ms after which what is still in use must be read again, though it is there:
 * else the system would not know that it is in use. */
#define RESIDENT_REREAD	250

/* What follows uses scratch memory: only with the lock of the files. */
enum residency_result {
	RESIDENT_YES,
	RESIDENT_NO,		/* a helper must bring it in */
	RESIDENT_GONE		/* the file is shorter than that, or broken */
};

/* auto, or the method that the conf wants, in so far as it works here. */
enum residency_method	residency_choose(int64_t wanted, const struct file *,
			    const struct job_facts *);
const char		*residency_name(enum residency_method);

/* base: where the range is mapped. */
enum residency_result	residency_check(const struct file *, void *base,
			    off_t offset, size_t len);

/* Maps what is known to be in memory, for pagemap_present() to see it: which
 * costs a tenth of reading it, and counts as no use. */
bool			residency_populate(void *base, size_t len);

/*
 * Whether the file ends before its last byte, as far as can be told without
 * waiting: the rest of its last page would be zeros, and nobody would notice.
 */
bool			residency_shrunk(const struct file *);

/*
 * Reads what is in memory of a range into a buffer, never waiting: bytes read,
 * 0 when the next byte is not in memory, -1 at the end of the file or an
 * error.  For predict it trusts, and reads.
 */
ssize_t residency_read(const struct file *, void *, off_t offset, size_t len);

#endif
