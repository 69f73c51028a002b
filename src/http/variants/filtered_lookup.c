/*
 * filtered_lookup: has filters run over files, and their results compressed.
 *
 * A run, the search for its result in a directory, and a compression are
 * pending lookups of their paths, so those who want the same wait for one of
 * them.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/chunk.h"
#include "cache/digest.h"
#include "cache/guests.h"
#include "conf/chain.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/tag.h"
#include "http/tasks.h"
#include "http/variants/dependencies.h"
#include "http/variants/filtered.h"
#include "http/variants/filtered_lookup.h"
#include "http/variants/stored.h"
#include "http/variants/variant.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "stats/chain_stats.h"

/*
 * Filters
 */

/* The time of a result for which filters were left out: it is made anew soon,
 * though the conf has others used for longer. */
static int64_t
get_renewal_time(const struct lookup *l)
{
	int64_t	used = l->http->conf->cache.revalidate;

	return lookup_result_time(l) - (used > FILTERED_RENEW_MS ?
	    used - FILTERED_RENEW_MS : 0);
}

static void
note_run_failure(struct lookup *l, enum why why)
{
	if (l->run.error == ENODATA)
		why = WHY_FILTER_LEFT_OUT;
	else if (l->chain->onfail == ONFAIL_PASS)
		why = WHY_FILTER_PASSED;
	lookup_result_set(l, PATHNAME_REFUSED, why_status(why), why);
}

/* Adds the files that filters have noted to the version of a result. */
static void
note_version(const struct lookup *l, struct dependencies_made *made)
{
	struct buf	names = { 0 };
	uint64_t	sum = l->sum;

	made->too_much = !dependencies_sum((struct str){ made->notes.at,
	    made->notes.len }, &sum, &names);
	made->version = filtered_version(l->path, &l->source, l->chain, sum);
	dependencies_add(l->http->caches->dependencies, made->version.ino,
	    (struct str){ names.at, names.len });
	buf_free(&names);
}

/* Takes the result of a run over. */
static struct dependencies_made
take_made(struct lookup *l)
{
	struct dependencies_made	made = {
		.fd = l->run.result, .notes = l->run.notes,
		.has_left_out = l->run.has_left_out, .reloads = l->reloads,
		.key = l->key, .renewal = l->renewal
	};

	l->key = (struct buf){ 0 };
	l->run.result = -1;
	l->run.notes = (struct buf){ 0 };
	note_version(l, &made);
	return made;
}

/* Keeps a result until the lookup that follows, which may find that something
 * has changed meanwhile. */
static void
keep_result(struct lookup *l, struct dependencies_made made)
{
	dependencies_keep(l->http->caches->dependencies, l->path->namespace,
	    lookup_result_name(l->path), &made);
}

/* Makes a version that no other result has, because the result may come from an
 * older or a newer file or filter. */
static void
make_unique(struct job_version *v, int result, const struct clock *clock)
{
	/* The key is no secret. */
	static const struct hash_key	key = { 0, 0 };
	const uint64_t	all[] = { v->ino, io_inode(result),
	    (uint64_t)clock->ms };

	v->ino = hash_bytes(&key, (uint64_t)clock->wall, all, sizeof(all));
}

/* Makes a file, with room for a digest if its tag is made of that. */
static struct file *
new_file(const struct lookup *l, struct path_info *a, int fd,
    const struct job_version *v, const struct job_facts *facts)
{
	struct file_cache	*files = &l->http->caches->files;
	bool			 has_digest = tag_needs_digest(l->http->conf,
				    l->path, v);
	struct file		*f = has_digest ? file_new_with_digest(files,
				    fd, v, facts) : file_new(files, fd, v,
				    facts);

	if (has_digest)
		a->variants |= PATHNAME_BY_CONTENT;
	if (filtered_has_query(l->path))
		guests_take_file(f);
	return f;
}

/* Notes a result that a run has made.  A result for which filters were left out
 * is treated like one of a file that may still change: it is made again soon.
 * A result that is not current, or that depends on more than a lookup can tell,
 * is only for the requests that have waited for it. */
static void
note_result(const struct lookup *l, struct path_info *a,
    const struct conf_chain *chain, struct dependencies_made *made)
{
	struct caches		*caches = l->http->caches;
	struct job_version	 v = made->version;
	struct job_facts	 facts = { .mode = 0644, .in_memory = true,
				    .strong = made->is_current &&
				    l->task.job.find.facts.strong &&
				    !made->has_left_out };
	struct stat		 st;

	v.ino += made->has_left_out;
	v.ctime = filtered_mark(chain, made->reloads);
	if (made->has_left_out)
		a->checked_at = get_renewal_time(l);
	if (!made->is_current) {
		make_unique(&v, made->fd, l->http->clock);
		a->checked_at = PATHNAME_EXPIRED;
	}
	v.size = made->is_stored ? made->size :
	    io_stat(made->fd, &st) == 0 ? st.st_size : 0;
	if (file_fits(&caches->files, &v)) {
		a->variants = variant_of_filtered(l->http->conf,
		    l->path->rules, v.size, a->type);
		a->file = new_file(l, a, made->fd, &v, &facts);
		made->fd = -1;		/* the file owns it */
		if (facts.strong && v.size > 0 && made->key.len > 0)
			stored_keep(l->http, chain, a->file, made);
		path_info_found(&caches->paths, l->path, a, 0);
	} else
		lookup_result_set(l, PATHNAME_REFUSED, 500, WHY_FILTER_FAILED);
}

static void
leave_file(struct path_info *info)
{
	if (info->file != NULL && info->source == FILE_OPEN)
		file_release(info->file);
	file_drop(&info->file);
}

/* Whether the path has got a result that counts meanwhile, by a lookup that
 * has begun after that time. */
static bool
has_newer_result(const struct lookup *l, int64_t since)
{
	struct path_info	a;
	bool			has;

	path_info_get(&l->http->caches->paths, l->path, 0, &a);
	has = a.file != NULL && a.checked_at > since &&
	    filtered_counts(a.file->version.ctime);
	if (a.chunk != NULL)
		chunk_release(&l->http->caches->chunks, &a.chunk);
	leave_file(&a);
	return has;
}

bool
filtered_lookup_counts(const struct lookup *l)
{
	return chain_stats_reloaded(l->chain->number) <= l->reloads;
}

/* Notes the result of a run from before a reload of its chain, for the requests
 * that have waited for it.  If the run has failed, they begin another run. */
static void
note_outdated(struct lookup *l)
{
	struct path_info	 a = l->info;
	struct dependencies_made made;

	if (l->run.error != 0 || has_newer_result(l, INT64_MIN))
		return;
	made = take_made(l);
	note_result(l, &a, l->chain, &made);
	dependencies_drop_made(&made);
}

/* Whether another thread has got the result since the run's lookup. */
static bool
is_made(const struct filter_run *run)
{
	const struct lookup	*l = (const struct lookup *)run;

	return has_newer_result(l, l->started_at);
}

static void
count_run(const struct lookup *l)
{
	size_t	chain = l->chain->number;

	chain_stats_time(chain, CHAIN_STATS_HISTOGRAM_TIME,
	    clock_us() - l->began_at);
	if (why_of_filters(l->run.error) == WHY_FILTER_BUSY)
		chain_stats_add(chain, CHAIN_STATS_REFUSED);
	else if (l->run.error == ENODATA || l->run.has_left_out)
		chain_stats_add(chain, CHAIN_STATS_LEFT_OUT);
	else if (l->run.error != 0 && l->run.error != ECANCELED)
		chain_stats_add(chain, CHAIN_STATS_FAILED);
}

static void
complete_run(struct task *e)
{
	struct lookup	*l = (struct lookup *)e;

	count_run(l);
	lookup_result_withdraw(l);
	if (is_made(&l->run))
		return;
	if (!filtered_lookup_counts(l))
		note_outdated(l);
	else if (l->run.error == 0)
		keep_result(l, take_made(l));
	else if (l->run.error != ECANCELED)
		note_run_failure(l, why_of_filters(l->run.error));
}

static void
free_run(struct task *e)
{
	struct lookup	*l = (struct lookup *)e;

	pathname_release(&l->http->caches->paths, &l->path);
	io_close(&l->run.result);
	buf_free(&l->run.notes);
	buf_free(&l->key);
	buf_free(&l->text);
	free(l);
}

/* Makes a run of filters over the file that a lookup has found. */
static struct lookup *
new_run(struct lookup *of, const struct path_info *a,
    const struct conf_chain *chain)
{
	struct http_loop	*http = of->http;
	struct job		*job = &of->task.job;
	struct lookup		*l = mem_zero(sizeof(*l));
	struct rules_place	 place;
	char			 text[JOB_PATH_MAX];

	l->http = http;
	l->path = of->path;
	l->started_at = http->clock->ms;
	l->reloads = chain_stats_reloads();
	l->info = *a;
	l->chain = chain;
	l->source = job->find.version;
	l->sum = job->resolve.others_sum;
	rules_locate(l->path, text, &place);
	filtered_add_environment(&l->text, l->path, &place, a->type, job);
	l->run.programs = chain->list;
	l->run.n = chain->n;
	l->run.name = lookup_result_name(l->path);
	l->run.environment = (struct str){ l->text.at, l->text.len };
	l->run.source = job->fd;
	l->run.result = -1;
	job->fd = -1;
	pathname_hold_again(&http->caches->paths, l->path);
	return l;
}

/* Begins a run.  Requests that have waited for the lookup wait for the run. */
static void
begin_run(struct lookup *l)
{
	struct http_loop	*http = l->http;

	tasks_init(http, &l->task, JOB_RESOLVE, complete_run, free_run);
	l->began_at = clock_us();
	l->reloads = chain_stats_reloads();
	if (http->caches->shared)
		l->run.is_made = is_made;
	lookup_result_publish(l);
	chain_stats_add(l->chain->number, CHAIN_STATS_RUNS);
	if (http->backends.filter != NULL)
		http->backends.filter(http->backends.context, &l->run);
	else {				/* a check of the conf runs none */
		io_close(&l->run.source);
		l->run.error = ENODATA;
		complete_run(&l->task);
		free_run(&l->task);
	}
}

/* Begins the run whose result is not in the directory. */
static void
begin_run_of(struct lookup *recall)
{
	struct lookup	*l = mem_get(sizeof(*l));

	*l = *recall;
	recall->run.source = -1;
	recall->text = recall->key = (struct buf){ 0 };
	l->task = (struct task){ .job.fd = -1 };
	l->recalls = false;
	pathname_hold_again(&l->http->caches->paths, l->path);
	begin_run(l);
}

static void
complete_recall(struct task *e)
{
	struct lookup			*l = (struct lookup *)e;
	int				 error = e->job.error;
	struct dependencies_made	 made = { .fd = -1,
					    .reloads = l->reloads };

	lookup_result_withdraw(l);
	stored_log(l->http, "look for", error);
	if (error == 0 && filtered_lookup_counts(l)) {
		chain_stats_add(l->chain->number, CHAIN_STATS_RECALLED);
		stored_take(&e->job, &made);
		note_version(l, &made);
		keep_result(l, made);
	} else if (error != 0 && error != ECANCELED) {
		l->renewal = e->job.store.renewal;
		if (error != ENOENT)
			l->key.len = 0;
		begin_run_of(l);
	}
}

static void
free_recall(struct task *e)
{
	io_close(&((struct lookup *)e)->run.source);
	io_close(&e->job.fd);
	free_run(e);
}

/* Looks for a result in the directory, before a run begins; false: it cannot be
 * there. */
static bool
begin_recall(struct lookup *l)
{
	struct http_loop	*http = l->http;

	if (http->conf->cache.results == NULL ||
	    http->backends.filter == NULL ||
	    http->clock->ms < http->results_from)
		return false;
	stored_add_key(&l->key, &l->source, l->chain, l->sum,
	    l->run.environment);
	tasks_init(http, &l->task, JOB_STORE, complete_recall, free_recall);
	if (!stored_fill_job(&l->task.job, http, l->chain, (struct str){
	    l->key.at, l->key.len })) {
		l->key.len = 0;
		return false;
	}
	l->recalls = true;
	lookup_result_publish(l);
	(void)tasks_submit(http, &l->task);
	return true;
}

/* Whether the present result has that version, apart from the size and the
 * number of reloads.  If so, sets these two in the version. */
static bool
is_present(const struct lookup *l, const struct conf_chain *chain,
    struct job_version *v)
{
	struct job_version	present, wanted = *v;

	if (!path_info_version(&l->http->caches->paths, l->path, &present) ||
	    !filtered_counts(present.ctime))
		return false;
	wanted.size = present.size;
	wanted.ctime = filtered_mark(chain, (uint64_t)present.ctime);
	if (memcmp(&present, &wanted, sizeof(present)) != 0)
		return false;
	*v = present;
	return true;
}

/* Takes the kept result, if the lookup has looked at all that it depends on.
 * If that has changed, only those who have waited for the run get the result;
 * false: they have not. */
static bool
take_kept(struct lookup *l, struct path_info *a,
    const struct conf_chain *chain, const struct job_version *v)
{
	struct dependencies_made made;
	bool			 wanted;

	if (!dependencies_take(l->http->caches->dependencies,
	    l->path->namespace, lookup_result_name(l->path), v, l->noted,
	    &made))
		return false;
	made.is_current = made.is_current &&
	    chain_stats_reloaded(chain->number) <= made.reloads;
	wanted = made.is_current || l->follows_run;
	if (wanted)
		note_result(l, a, chain, &made);
	dependencies_drop_made(&made);
	return wanted;
}

/* Handles a file that filters change: its result may still be the present one.
 * Otherwise nobody gets the present one any more.  The lookup comes too late if
 * it has summed up files that a result has noted, or if there is a result whose
 * files it has not looked at. */
void
filtered_lookup_handle_source(struct lookup *l)
{
	const struct job	*job = &l->task.job;
	struct path_info	 a = { .kind = PATHNAME_FILE,
				    .checked_at = lookup_result_time(l) };
	const struct conf_chain	*chain;
	struct job_version	 v;
	struct lookup		*run;

	lookup_result_set_type(l, &a);
	chain = filtered_chain(l->path, job, a.type);
	if (chain == NULL) {		/* another file has the name now */
		lookup_result_set(l, PATHNAME_REFUSED, 200, WHY_FILTER_PASSED);
		return;
	}
	v = filtered_version(l->path, &job->find.version, chain,
	    job->resolve.others_sum);
	if (is_present(l, chain, &v)) {
		path_info_confirm(&l->http->caches->paths, l->path, &v, &a,
		    NAMESPACE_MADE_BITS | PATHNAME_BY_CONTENT);
		return;
	}
	if (take_kept(l, &a, chain, &v))
		return;
	if (has_newer_result(l, l->started_at))
		return;
	lookup_result_set(l, PATHNAME_UNKNOWN, 0, WHY_NONE);
	if (l->has_notes || dependencies_kept(l->http->caches->dependencies,
	    l->path->namespace, lookup_result_name(l->path)) != 0)
		return;
	run = new_run(l, &a, chain);
	/* A version that is not strong may stand for other bytes later. */
	if (!job->find.facts.strong || !begin_recall(run))
		begin_run(run);
}

/*
 * Variants of filtered files
 */

void
filtered_lookup_release(struct file **fp)
{
	if (*fp == NULL)
		return;
	file_release(*fp);
	file_drop(fp);
}

/* Refers to the filtered file that a path is a variant of, and holds its
 * descriptor, if that is open; false: there is none. */
static bool
refer_to_filtered(struct http_loop *http, const struct path *p,
    struct path_info *info)
{
	struct pathname_cache	*paths = &http->caches->paths;
	struct path		*of = pathname_hold(paths,
				    variant_base(p->namespace),
				    lookup_result_name(p));

	*info = (struct path_info){ .file = NULL };
	if (of == NULL)
		return false;
	path_info_get(paths, of, 0, info);
	pathname_release(paths, &of);
	if (info->chunk != NULL)
		chunk_release(&http->caches->chunks, &info->chunk);
	return info->file != NULL;
}

/* Has a filtered file made anew whose descriptor is closed. */
static void
forget_filtered(struct http_loop *http, const struct path *p)
{
	struct pathname_cache	*paths = &http->caches->paths;
	struct path		*of = pathname_hold(paths,
				    variant_base(p->namespace),
				    lookup_result_name(p));

	if (of == NULL)
		return;
	path_info_set(paths, of, &(struct path_info){
	    .kind = PATHNAME_UNKNOWN, .checked_at = http->clock->ms });
	pathname_release(paths, &of);
}

/* Makes a lookup that compresses a filtered file, which it takes over. */
static struct lookup *
new_compression(struct http_loop *http, struct path *p,
    const struct path_info *of, void (*complete)(struct task *),
    void (*free)(struct task *))
{
	struct lookup	*l = mem_zero(sizeof(*l));
	struct job	*job = &l->task.job;

	tasks_init(http, &l->task, JOB_COMPRESS, complete, free);
	l->http = http;
	l->path = p;
	l->started_at = http->clock->ms;
	l->of = of->file;
	l->info.type = of->type;
	buf_adds(&l->text, "");
	job->fd = file_fd(of->file);
	job->find.root = "/";
	job->find.path = "";
	job->find.version = of->file->version;
	job->compress.has_file = true;
	job->compress.size_max = (uint64_t)http->conf->limits.compress;
	job->compress.coding = variant_coding(p->namespace);
	job->compress.level = (uint32_t)
	    http->conf->limits.levels[job->compress.coding];
	http->caches->compressing++;
	return l;
}

void
filtered_lookup_handle_compressed(struct lookup *l)
{
	struct job		*job = &l->task.job;
	struct path_info	 a = { .kind = PATHNAME_FILE,
				    .type = l->info.type,
				    .checked_at = lookup_result_time(l) };

	if (job->error != 0) {
		lookup_result_set_no_variant(l);
		return;
	}
	job->find.facts.strong = l->of->strong;
	if (tag_needs_digest(l->http->conf, l->path, &job->find.version))
		a.variants |= PATHNAME_BY_CONTENT;
	lookup_result_take_file(l, &a, 0);
}

/* Whether a variant of a filtered file is the one of that file's version. */
static bool
is_of_version(struct http_loop *http, const struct path *p,
    const struct job_version *of)
{
	struct job_version	present;

	if (!path_info_version(&http->caches->paths, p, &present))
		return false;
	present.size = of->size;
	return memcmp(&present, of, sizeof(present)) == 0;
}

/* Makes the lookup of a variant of a filtered file; NULL: it is not needed, or
 * cannot be made now. */
struct lookup *
filtered_lookup_make_compression(struct http_loop *http, struct path *p,
    void (*complete)(struct task *), void (*free)(struct task *))
{
	struct pathname_cache	*paths = &http->caches->paths;
	struct path_info	 info;
	struct job_version	 present;

	if (!refer_to_filtered(http, p, &info))
		return NULL;
	if (!is_of_version(http, p, &info.file->version)) {
		if (info.source == FILE_OPEN)
			return new_compression(http, p, &info, complete, free);
	} else if (path_info_version(paths, p, &present))
		path_info_confirm(paths, p, &present, &(struct path_info){
		    .checked_at = http->clock->ms }, PATHNAME_BY_CONTENT);
	leave_file(&info);
	return NULL;
}

bool
filtered_lookup_has_source(struct http_loop *http, const struct path *p)
{
	struct path_info	info;
	bool			has;

	if (lookup_result_find_pending(http, p) != NULL)
		return true;
	has = refer_to_filtered(http, p, &info) &&
	    (info.source == FILE_OPEN ||
	    is_of_version(http, p, &info.file->version));
	leave_file(&info);
	if (!has)
		forget_filtered(http, p);
	return has;
}
