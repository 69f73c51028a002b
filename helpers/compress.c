/*
 * compress: finds a name beneath a root and compresses the file.
 *
 * The result is of one version: a file that changes meanwhile has none.  With a
 * cache directory, an intact result of our user that is there already is used
 * again.  If the directory cannot be written to, the result is anonymous.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/filters/coding.h"
#include "helpers/file_version.h"
#include "helpers/handle.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"

#define NAME_MAX_BYTES	(JOB_PATH_MAX + 256)

struct result {
	int			 fd;
	int64_t			 size;
	bool			 in_memory;
	mode_t			 type;		/* S_IFREG in cache_dir, or 0 */
	struct job_version	 cached;	/* of fd in cache_dir */
};

static int
find_source(struct job *job, struct job *source)
{
	job_init(source, JOB_RESOLVE);
	source->find = job->find;
	source->find.has_version = false;
	resolve_open(source);
	job->find.name_number = source->find.name_number;
	return source->resolve.program ? ESTALE : source->error;
}

/* Compares versions without the size, which is that of the result in one. */
static bool
same_source(struct job_version made, const struct job_version *source)
{
	made.size = source->size;
	return file_version_same(&made, source);
}

/* A result as large as the file is of no use. */
static int
compress_source(const struct job *job, const struct job *source,
    struct result *r)
{
	const struct job_version	*v = &source->find.version;
	int	error = coding_compress(job->compress.coding,
		    (int)job->compress.level, source->fd, v->size, r->fd,
		    v->size, &r->size);

	/* The caller's file has no name, and does not change. */
	return error == 0 && !job->compress.has_file &&
	    !file_version_holds(v, source->fd) ? EAGAIN : error;
}

/*
 * Results in the cache directory
 */

/* The name has all members of the version, and what it is compressed by. */
static void
cached_name(const struct job *job, const struct job_version *v,
    char name[NAME_MAX_BYTES])
{

	snprintf(name, NAME_MAX_BYTES,
	    "%s/%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".%" PRIx32
	    "-%" PRIx64 ".%" PRIx32 "-%" PRIu32 "%s",
	    job->compress.cache_dir, v->dev, v->ino, (uint64_t)v->size,
	    (uint64_t)v->mtime, v->mtime_ns, (uint64_t)v->ctime, v->ctime_ns,
	    job->compress.level, coding_suffix(job->compress.coding));
}

/* Opens a result that is there already; only intact ones of our user count. */
static bool
open_cached(const struct job *job, const struct job *source, const char *name,
    struct result *r)
{
	int64_t		size = source->find.version.size;
	struct stat	st;

	r->fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC);
	if (r->fd == -1)
		return false;
	r->type = S_IFREG;
	if (fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && (st.st_mode & 022) == 0 &&
	    st.st_size < size &&
	    coding_is_intact(job->compress.coding, r->fd, source->fd, size)) {
		r->size = st.st_size;
		r->cached = file_version_of(&st);
		return true;
	}
	io_close(&r->fd);
	return false;
}

/* Renames the result only when it is complete.  0 or an errno. */
static int
make_cached(const struct job *job, const struct job *source, const char *name,
    struct result *r)
{
	char		temporary[NAME_MAX_BYTES];
	struct stat	st;
	int		error;

	snprintf(temporary, sizeof(temporary), "%s/.new-XXXXXX",
	    job->compress.cache_dir);
	r->fd = mkstemp(temporary);
	if (r->fd == -1)
		return errno;
	error = compress_source(job, source, r);
	if (error == 0 && (io_cloexec(r->fd, true) == -1 ||
	    rename(temporary, name) == -1 || fstat(r->fd, &st) == -1))
		error = errno;
	if (error != 0) {
		unlink(temporary);
		io_close(&r->fd);
		return error;
	}
	r->type = S_IFREG;
	r->cached = file_version_of(&st);
	return 0;
}

static int
make_anonymous(const struct job *job, const struct job *source,
    struct result *r)
{
	int	error;

	r->type = 0;
	r->cached = (struct job_version){ 0 };
	r->fd = anon_file_open(&r->in_memory);
	if (r->fd == -1)
		return errno;
	error = compress_source(job, source, r);
	if (error != 0)
		io_close(&r->fd);
	return error;
}

static int
make_result(struct job *job, const struct job *source, struct result *r)
{
	char	name[NAME_MAX_BYTES];
	int	error;

	/* A version that is not strong may stand for other bytes later. */
	if (job->compress.cache_dir == NULL || !source->find.facts.strong)
		return make_anonymous(job, source, r);
	cached_name(job, &source->find.version, name);
	if (open_cached(job, source, name, r))
		return 0;
	error = make_cached(job, source, name, r);
	if (error == 0 || error == EFBIG || error == EAGAIN)
		return error;
	job->compress.unkept = (uint64_t)error;
	return make_anonymous(job, source, r);
}

static void
fill_answer(struct job *job, const struct job *source, const struct result *r)
{
	job->fd = r->fd;
	job->find.version = source->find.version;
	job->find.version.size = r->size;
	job->find.facts = (struct job_facts){
		.mode = r->type | (source->find.facts.mode & 0777),
		.uid = geteuid(), .strong = source->find.facts.strong,
		.in_memory = r->in_memory, .cached = r->cached
	};
	handle_convert(job);
}

/* Compresses the caller's file. */
static void
compress_file(struct job *job)
{
	struct job	source;
	struct result	r = { .fd = -1 };

	job_init(&source, JOB_RESOLVE);
	source.fd = job->fd;
	source.find.version = job->find.version;
	job->fd = -1;
	job->error = make_anonymous(job, &source, &r);
	if (job->error == 0)
		fill_answer(job, &source, &r);
}

void
compress_perform(struct job *job)
{
	struct job_find	*find = &job->find;
	struct job	source;
	struct result	r = { .fd = -1 };
	uint64_t	size;

	if (job->compress.has_file) {
		compress_file(job);
		return;
	}
	job->fd = -1;
	job->error = find_source(job, &source);
	if (job->error != 0)
		return;
	find->unchanged = find->has_version &&
	    same_source(find->version, &source.find.version);
	find->facts = source.find.facts;
	if (!find->unchanged) {
		size = (uint64_t)source.find.version.size;
		job->error = size > job->compress.size_max ? EFBIG :
		    make_result(job, &source, &r);
		if (job->error == 0)
			fill_answer(job, &source, &r);
	}
	io_close(&source.fd);
}
