/*
 * stored: keys of results, and jobs that find and keep them.
 *
 * Failures, empty results, and results that are not the same for each request
 * are not kept.  A result that is not kept costs another run at most.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/chain.h"
#include "conf/conf.h"
#include "http/tasks.h"
#include "http/variants/dependencies.h"
#include "http/variants/stored.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"

/* A task that keeps a result. */
struct keep {
	struct task		 task;	/* first member: casts rely on it */
	struct http_loop	*http;
	struct file		*file;	/* referred to; descriptor held */
	struct buf		 bytes;
};

static void
add_text(struct buf *to, const char *text)
{
	buf_add(to, text, strlen(text) + 1);
}

static void
add_words(struct buf *to, const struct conf_words *words)
{
	buf_addf(to, "%zu ", words->n);
	for (size_t i = 0; i < words->n; i++)
		add_text(to, words->at[i]);
}

static void
add_program(struct buf *to, const struct conf_program *p)
{
	add_text(to, conf_program_label(p));
	add_words(to, &p->command);
	add_words(to, &p->servers);
	buf_addf(to, "%" PRId64 " %zu ", p->result, p->variables.n);
	for (size_t i = 0; i < p->variables.n; i++) {
		add_text(to, p->variables.at[i].name);
		add_text(to, p->variables.at[i].value);
	}
	if (p->application != NULL)
		add_program(to, p->application);
}

void
stored_add_key(struct buf *to, const struct job_version *v,
    const struct conf_chain *chain, uint64_t sum, struct str environment)
{
	buf_addf(to, "%s %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64
	    ".%" PRIx32 " %" PRIx64 ".%" PRIx32 " %" PRIx64 " ",
	    PACKAGE_VERSION, v->dev, v->ino, (uint64_t)v->size,
	    (uint64_t)v->mtime, v->mtime_ns, (uint64_t)v->ctime, v->ctime_ns,
	    sum);
	add_text(to, chain->name);
	for (size_t i = 0; i < chain->n; i++)
		add_program(to, chain->list[i]);
	buf_add(to, environment.at, environment.len);
}

bool
stored_fill_job(struct job *job, const struct http_loop *http,
    const struct conf_chain *chain, struct str key)
{
	const struct conf	*conf = http->conf;

	if (conf->cache.results == NULL ||
	    key.len > JOB_DATA_MAX - JOB_NOTES_MAX)
		return false;
	job->store.directory = conf->cache.results;
	job->store.group = chain->name;
	job->store.bytes = key;
	job->store.key_size = key.len;
	job->store.max = conf->cache.results_max;
	return true;
}

void
stored_take(struct job *job, struct dependencies_made *made)
{
	size_t	n = (size_t)job->store.notes_size;
	ssize_t	got;

	buf_reserve(&made->notes, n);
	got = pread(job->fd, made->notes.at, n, (off_t)job->store.size);
	made->notes.len = got > 0 ? (size_t)got : 0;
	made->fd = job->fd;
	made->size = (int64_t)job->store.size;
	made->is_stored = true;
	job->fd = -1;
}

void
stored_log(const struct http_loop *http, const char *what, int error)
{
	if (error == 0 || error == ECANCELED || error == ENOENT ||
	    error == ESTALE)
		return;
	errno = error;
	log_warn("cache { results %s }: cannot %s a result of filters",
	    http->conf->cache.results, what);
}

static void
complete_keep(struct task *e)
{
	stored_log(((struct keep *)e)->http, "keep", e->job.error);
}

static void
free_keep(struct task *e)
{
	struct keep	*k = (struct keep *)e;

	file_release(k->file);
	file_drop(&k->file);
	buf_free(&k->bytes);
	free(k);
}

void
stored_keep(struct http_loop *http, const struct conf_chain *chain,
    struct file *f, const struct dependencies_made *made)
{
	struct keep	*k;
	struct job	*job;
	int		 fd = file_hold(f);

	if (fd == -1)
		return;
	k = mem_zero(sizeof(*k));
	job = &k->task.job;
	tasks_init(http, &k->task, JOB_STORE, complete_keep, free_keep);
	k->task.background = true;
	k->http = http;
	k->file = file_refer(f);
	buf_add(&k->bytes, made->key.at, made->key.len);
	buf_add(&k->bytes, made->notes.at, made->notes.len);
	(void)stored_fill_job(job, http, chain, (struct str){ k->bytes.at,
	    made->key.len });
	job->fd = fd;
	job->store.bytes.len = k->bytes.len;
	job->store.has_file = true;
	job->store.renewal = made->renewal;
	job->store.size = (uint64_t)f->version.size;
	(void)tasks_submit(http, &k->task);
}
