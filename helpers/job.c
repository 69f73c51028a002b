/*
 * job: names of kinds and policies, and an empty job; perform.c does jobs, and
 * wire.c sends them.
 */
#include <string.h>

#include "helpers/job.h"
#include "lib/hash.h"
#include "lib/need.h"

static const char *const kind_names[] = {
#define X(id, name, help) [JOB_##id] = name,
	JOB_KINDS(X)
#undef X
};

const char *
job_kind_name(enum job_kind kind)
{
	need(kind < JOB_KIND_COUNT);
	return kind_names[kind];
}

const char *
job_found_name(const struct job *job)
{
	const char	*name = job->find.names.at;

	if (job->find.name_number == 0)
		return "";
	for (unsigned i = 1; i < job->find.name_number; i++)
		name += strlen(name) + 1;
	return name;
}

enum job_links
job_links_find(const char *name)
{
	static const char *const words[] = {
#define X(id, word) [JOB_LINKS_##id] = word,
		JOB_LINKS(X)
#undef X
	};
	enum job_links		 links = 0;

	while (links < JOB_LINKS_COUNT && strcmp(words[links], name) != 0)
		links++;
	return links;
}

bool
job_finds(enum job_kind kind)
{
	return kind == JOB_RESOLVE || kind == JOB_LIST || kind == JOB_COMPRESS;
}

bool
job_has_range(enum job_kind kind)
{
	return kind == JOB_READ || kind == JOB_COPY || kind == JOB_DIGEST;
}

bool
job_makes_file(const struct job *job)
{
	return job->kind == JOB_SPOOL &&
	    (!job->spool.has_file || job->spool.directory != NULL);
}

bool
job_found_program(const struct job *job)
{
	return job->kind == JOB_RESOLVE && job->error == 0 &&
	    job->resolve.program;
}

uint64_t
job_sum_version(uint64_t sum, const struct job_version *v)
{
	/* The key is no secret: sums are the same after a restart. */
	static const struct hash_key	key = { 0, 0 };
	const uint64_t	all[] = { v->dev, v->ino, (uint64_t)v->size,
	    (uint64_t)v->mtime, v->mtime_ns, (uint64_t)v->ctime, v->ctime_ns };

	return hash_bytes(&key, sum, all, sizeof(all));
}

void
job_init(struct job *job, enum job_kind kind)
{
	memset(job, 0, sizeof(*job));
	job->kind = kind;
	job->fd = -1;
}
