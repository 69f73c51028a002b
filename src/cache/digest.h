/*
 * digest: a number that is made of all bytes of a file, slice by slice.
 *
 * Equal files have equal digests, on each machine.  Only files of
 * file_new_with_digest() have one.
 */
#ifndef CACHE_DIGEST_H
#define CACHE_DIGEST_H

#include "cache/file.h"

/* Bytes of a slice: one job of a helper reads so many. */
#define DIGEST_SLICE	(1024 * 1024)

/* As file_new(), with room for a digest; in file.c. */
struct file	*file_new_with_digest(struct file_cache *, int fd,
		    const struct job_version *, const struct job_facts *);
/* Whether all slices have been added; then the digest. */
bool		 digest_is_known(const struct file *);
uint64_t	 digest_get(const struct file *);
/* The next slice, of an open file whose digest is not known. */
int64_t		 digest_next(const struct file *, uint64_t *length);
/* Adds the sum of the slice at an offset, unless another thread has done so. */
void		 digest_add(struct file *, int64_t offset, uint64_t sum);
/* The errno of the last task, of an open file; 0: no error. */
int		 digest_error(const struct file *);
void		 digest_set_error(struct file *, int error);
/* http's task that reads the next slice of an open file, in caches of one
 * loop. */
struct task	**digest_task(const struct file *);
/* Takes over the digest of the same version. */
void		 digest_inherit(struct file *, const struct file *old);

#endif
