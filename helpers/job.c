/*
 * job: names of kinds and policies, versions as text, and an empty job;
 * perform.c does jobs, and wire.c sends them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers/job.h"
#include "lib/hash.h"
#include "lib/need.h"

static const char *const kind_names[] = {
#define X(id, name, help) [JOB_##id] = name,
	JOB_KINDS(X)
#undef X
};

bool
job_language_name(char *to, size_t size, const char *path, const char *tag,
    unsigned form)
{
	const char	*slash = strrchr(path, '/');
	const char	*name = slash != NULL ? slash + 1 : path;
	const char	*suffix = strrchr(name, '.');
	int		 n;

	if (form == 1)
		suffix = path + strlen(path);
	else if (suffix == NULL || suffix == name)
		return false;
	n = snprintf(to, size, "%.*s.%s%s", (int)(suffix - path), path, tag,
	    suffix);
	return n > 0 && (size_t)n < size;
}

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
	return kind == JOB_READ || kind == JOB_COPY || kind == JOB_DIGEST ||
	    kind == JOB_CLOSE;
}

bool
job_makes_file(const struct job *job)
{
	return (job->kind == JOB_STORE && !job->store.has_file) ||
	    (job->kind == JOB_SPOOL &&
	    (!job->spool.has_file || job->spool.directory != NULL));
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

/* Parses a number and the space behind it; false: there is none. */
static bool
take_number(struct str *line, uint64_t *number)
{
	struct str	word = str_cut(line, ' ');
	char		text[20], *end;

	if (word.len == 0 || word.len >= sizeof(text))
		return false;
	memcpy(text, word.at, word.len);
	text[word.len] = '\0';
	*number = strtoull(text, &end, 16);
	return *end == '\0';
}

bool
job_take_version(struct str *line, struct job_version *v)
{
	uint64_t	n[7];

	for (size_t i = 0; i < 7; i++)
		if (!take_number(line, &n[i]))
			return false;
	*v = (struct job_version){ .dev = n[0], .ino = n[1],
	    .size = (int64_t)n[2], .mtime = (int64_t)n[3],
	    .ctime = (int64_t)n[4], .mtime_ns = (uint32_t)n[5],
	    .ctime_ns = (uint32_t)n[6] };
	return line->len > 0 && line->at[0] == '/' &&
	    memchr(line->at, '\0', line->len) == NULL;
}

void
job_init(struct job *job, enum job_kind kind)
{
	memset(job, 0, sizeof(*job));
	job->kind = kind;
	job->fd = -1;
}
