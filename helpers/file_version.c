/*
 * file_version: the members of stat that differ between two versions.
 */
#include "helpers/file_version.h"

struct job_version
file_version_of(const struct stat *st)
{
	return (struct job_version){
		.dev = st->st_dev, .ino = st->st_ino, .size = st->st_size,
		.mtime = st->st_mtim.tv_sec, .ctime = st->st_ctim.tv_sec,
		.mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
		.ctime_ns = (uint32_t)st->st_ctim.tv_nsec
	};
}

bool
file_version_same(const struct job_version *a, const struct job_version *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	    a->mtime == b->mtime && a->mtime_ns == b->mtime_ns &&
	    a->ctime == b->ctime && a->ctime_ns == b->ctime_ns;
}

bool
file_version_holds(const struct job_version *version, int fd)
{
	struct stat	st;

	if (fstat(fd, &st) == -1)
		return false;
	/* A file that has been replaced keeps its bytes, not its ctime. */
	return st.st_size == version->size &&
	    st.st_mtim.tv_sec == version->mtime &&
	    (uint32_t)st.st_mtim.tv_nsec == version->mtime_ns &&
	    (version->ctime == JOB_CTIME_ANY || st.st_nlink == 0 ||
	    (st.st_ctim.tv_sec == version->ctime &&
	    (uint32_t)st.st_ctim.tv_nsec == version->ctime_ns));
}
