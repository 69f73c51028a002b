/*
 * lookup: makes jobs that look a path up, and notes their results in the
 * caches.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/digest.h"
#include "filter.h"
#include "http/deferred_close.h"
#include "http/limits/verification.h"
#include "http/variants/filtered.h"
#include "http/lookup.h"
#include "http/namespace.h"
#include "http/variants/dependencies.h"
#include "http/programs/script.h"
#include "http/rules.h"
#include "http/tag.h"
#include "http/tasks.h"
#include "http/variants/variant.h"
#include "http/watch/passes.h"
#include "http/watch/waypoints.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/stats.h"

/* A task that looks up a path. */
struct lookup {
	union {				/* first member: casts rely on it */
		struct task		 task;
		struct filter_run	 run;	/* of filters */
	};
	struct http_loop	*http;
	struct path		*path;	/* held */
	int64_t			 started_at;	/* clock ms */
	bool			 late;	/* a request has waited in vain */
	bool			 published;	/* in http->lookups */
	LIST_ENTRY(lookup)	 link;	/* in its bucket */
	struct watching		 watching;
	bool			 watched;	/* its result is */
	bool			 outdated;	/* an event came meanwhile */
	size_t			 names_at;	/* in text */
	struct buf		 text;	/* path, names, templates; of a
					 * run the variables */
	bool			 has_notes;	/* the present result has */
	/* Of a run: */
	const struct conf_chain	*chain;
	struct path_info	 info;	/* of the result, but for the file */
	struct job_version	 source;	/* of the file */
	uint64_t		 sum;	/* of files of filters */
	bool			 strong;
};

static struct str
name_of(const struct path *p)
{
	return (struct str){ p->name, p->len };
}

/* Adds the path of the file: with an index file's name, or with a suffix. */
static void
add_found_path(const struct lookup *l, struct buf *to)
{
	const char	*name = l->text.at + l->names_at;

	buf_adds(to, l->text.at);
	if (l->task.job.find.name_number == 0)
		return;
	for (unsigned i = 1; i < l->task.job.find.name_number; i++)
		name += strlen(name) + 1;
	buf_adds(to, name);
}

/* The time of the result.  Lookups of several threads may overtake each other,
 * so with shared caches the time of submission counts. */
static int64_t
get_info_time(const struct lookup *l)
{
	int64_t	at = l->http->caches->shared ? l->started_at :
		    l->http->clock->ms;

	if (l->outdated)
		return passes_old(l->http);
	return l->watched ? at + PATHNAME_WATCHED_MS : at;
}

/* The end of what a helper may read; of a listing the directory itself. */
static uint16_t
get_denied(const struct job *job)
{
	if (job->error != EACCES)
		return 0;
	return (uint16_t)(job->kind == JOB_RESOLVE ? job->find.denied :
	    strlen(job->find.path));
}

static void
set_info(const struct lookup *l, enum pathname_kind kind, int status,
    enum why why)
{
	path_info_set(&l->http->caches->paths, l->path, &(struct path_info){
	    .kind = (uint8_t)kind, .status = (uint16_t)status,
	    .why = (uint8_t)why, .denied = get_denied(&l->task.job),
	    .checked_at = get_info_time(l), .watched = l->watched });
}

/* Sets what follows from the file's name: its media type, and the blocks files
 * that have fields for it. */
static void
set_type(const struct lookup *l, struct path_info *a)
{
	const struct conf	*conf = l->http->conf;
	const struct conf_site	*site = &conf->sites[namespace_site(
				    l->path->namespace)];
	struct buf		 path = { 0 };
	const char		*name, *slash;

	add_found_path(l, &path);
	name = buf_string(&path);
	slash = strrchr(name, '/');
	name = slash != NULL ? slash + 1 : name;
	a->blocks = rules_blocks(site, name);
	a->type = rules_type(site, a->blocks);
	if (a->type == NULL)
		a->type = mime_type(l->http->caches->mime, name, strlen(name));
	buf_free(&path);
}

static void
take_file(struct lookup *l, struct path_info *a, uint16_t tried)
{
	struct job	*job = &l->task.job;
	struct caches	*caches = l->http->caches;

	stats_add(STATS_COMPRESSIONS, job->kind == JOB_COMPRESS);
	a->file = ((a->variants & PATHNAME_BY_CONTENT) != 0 ?
	    file_new_with_digest : file_new)(&caches->files, job->fd,
	    &job->find.version, &job->find.facts);
	job->fd = -1;			/* the file owns it */
	path_info_found(&caches->paths, l->path, a, tried);
}

/* Notes a file.  A variant whose making failed with this version is not tried
 * again. */
static void
handle_file(struct lookup *l)
{
	const struct job	*job = &l->task.job;
	struct path		*p = l->path;
	const struct namespace	*kind = namespace_get(p->namespace);
	struct path_info	 a = { .kind = PATHNAME_FILE,
				    .checked_at = get_info_time(l),
				    .watched = l->watched };
	uint16_t		 tried = 0;

	if (kind->type != NULL)
		a.type = kind->type(p->namespace);
	else if (!job->find.unchanged)
		set_type(l, &a);
	if (kind->variants != NULL) {
		a.variants = kind->variants(l->http->conf, p, job, a.type);
		tried = NAMESPACE_MADE_BITS | NAMESPACE_FILTERED_BIT;
	}
	if (tag_needs_digest(l->http->conf, p, &job->find.version))
		a.variants |= PATHNAME_BY_CONTENT;
	if (job->find.unchanged)
		path_info_confirm(&l->http->caches->paths, p,
		    &job->find.version, &a, tried);
	else
		take_file(l, &a, tried);
}

/*
 * Pending lookups are hashed by path and not members of the path: of all paths
 * few are looked up at a time.
 */
static struct lookup_list *
get_bucket(struct http_loop *http, const struct path *p)
{
	return &http->lookups[(uintptr_t)p / sizeof(*p) % LOOKUP_BUCKETS];
}

static struct lookup *
find_pending(struct http_loop *http, const struct path *p)
{
	struct lookup	*l;

	LIST_FOREACH(l, get_bucket(http, p), link)
		if (l->path == p)
			break;
	return l;
}

static void
publish_lookup(struct lookup *l)
{
	LIST_INSERT_HEAD(get_bucket(l->http, l->path), l, link);
	l->published = true;
}

static void
unpublish_lookup(struct lookup *l)
{
	if (l->published)
		LIST_REMOVE(l, link);
	l->published = false;
}

/*
 * Filters
 */

static void
note_run_failure(struct lookup *l, enum why why)
{
	/* A file whose filters are all left out passes. */
	bool	passes = l->run.error == ENODATA ||
		    l->chain->onfail == ONFAIL_PASS;

	set_info(l, PATHNAME_REFUSED, passes ? 200 : why_status(why),
	    passes ? WHY_FILTER_PASSED : why);
}

static enum why
why_of_filters(int error)
{
	return error == EAGAIN ? WHY_FILTER_BUSY :
	    error == ETIMEDOUT ? WHY_FILTER_LATE : WHY_FILTER_FAILED;
}

/* Notes the result of filters.  One for which some were left out is looked at
 * again soon, as a file that may still change. */
static void
note_filtered(struct lookup *l)
{
	const struct filter_run	*run = &l->run;
	struct caches		*caches = l->http->caches;
	struct buf		 names = { 0 };
	struct job_version	 v;
	struct job_facts	 facts = { .mode = 0644, .in_memory = true,
				    .strong = l->strong && !run->has_left_out };
	struct stat		 st;

	v = filtered_version(l->path, &l->source, l->chain, dependencies_sum(
	    (struct str){ run->notes.at, run->notes.len }, l->sum, &names));
	v.ino += run->has_left_out;
	v.size = io_stat(run->result, &st) == 0 ? st.st_size : 0;
	if (file_fits(&caches->files, &v)) {
		dependencies_add(caches->dependencies, v.ino,
		    (struct str){ names.at, names.len });
		l->info.file = file_new(&caches->files, run->result, &v,
		    &facts);
		l->run.result = -1;	/* the file owns it */
		l->info.checked_at = get_info_time(l);
		path_info_found(&caches->paths, l->path, &l->info, 0);
	} else
		note_run_failure(l, WHY_FILTER_FAILED);
	buf_free(&names);
}

static void
complete_run(struct task *e)
{
	struct lookup	*l = (struct lookup *)e;

	unpublish_lookup(l);
	if (l->run.error == 0)
		note_filtered(l);
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
	buf_free(&l->text);
	free(l);
}

/* Has filters run over the file that a lookup has found.  Those who wait for
 * the lookup find the run, and wait on. */
static void
begin_run(struct lookup *of, const struct path_info *a,
    const struct conf_chain *chain)
{
	struct http_loop	*http = of->http;
	struct job		*job = &of->task.job;
	struct lookup		*l = mem_zero(sizeof(*l));
	struct rules_place	 place;
	char			 text[JOB_PATH_MAX];

	tasks_init(http, &l->task, JOB_RESOLVE, complete_run, free_run);
	l->http = http;
	l->path = of->path;
	l->started_at = http->clock->ms;
	l->chain = chain;
	l->info = *a;
	l->source = job->find.version;
	l->strong = job->find.facts.strong;
	l->sum = job->resolve.others_sum;
	rules_locate(l->path, text, &place);
	filtered_add_environment(&l->text, l->path, &place, a->type,
	    l->source.size, job->find.user != NULL);
	l->run.programs = chain->list;
	l->run.n = chain->n;
	l->run.environment = (struct str){ l->text.at, l->text.len };
	l->run.source = job->fd;
	l->run.result = -1;
	job->fd = -1;
	pathname_hold_again(&http->caches->paths, l->path);
	publish_lookup(l);
	if (http->backends.filter != NULL)
		http->backends.filter(http->backends.context, &l->run);
	else {				/* explaining runs none */
		io_close(&l->run.source);
		l->run.error = ENODATA;
		complete_run(&l->task);
		free_run(&l->task);
	}
}

static bool
is_present(const struct lookup *l, struct job_version *v)
{
	struct job_version	present;

	if (!path_info_version(&l->http->caches->paths, l->path, &present))
		return false;
	v->size = present.size;
	return memcmp(&present, v, sizeof(present)) == 0;
}

/* Handles a file that filters change: its result may still be the present one.
 * Otherwise nobody gets the present one any more; if it has noted other files,
 * the lookup has summed these up as well, and comes too late. */
static void
handle_source(struct lookup *l)
{
	const struct job	*job = &l->task.job;
	struct path_info	 a = { .kind = PATHNAME_FILE,
				    .checked_at = get_info_time(l) };
	const struct conf_chain	*chain;
	struct job_version	 v;

	set_type(l, &a);
	chain = filtered_chain(l->path->rules, job, a.type);
	if (chain == NULL) {		/* another file has the name now */
		set_info(l, PATHNAME_REFUSED, 200, WHY_FILTER_PASSED);
		return;
	}
	v = filtered_version(l->path, &job->find.version, chain,
	    job->resolve.others_sum);
	if (is_present(l, &v)) {
		path_info_confirm(&l->http->caches->paths, l->path, &v, &a, 0);
		return;
	}
	set_info(l, PATHNAME_UNKNOWN, 0, WHY_NONE);
	if (!l->has_notes)
		begin_run(l, &a, chain);
}

/* Notes a program, or why the file that a job has found cannot run.  No user's
 * does, as main does not know where that user's home is. */
static void
handle_program(struct lookup *l)
{
	const struct job	*job = &l->task.job;
	uint16_t		 number = (uint16_t)job->find.name_number;
	struct path_info	 a = { .kind = PATHNAME_PROGRAM,
				    .name_number = number,
				    .checked_at = get_info_time(l),
				    .watched = l->watched };
	struct rules_place	 place;
	char			 text[JOB_PATH_MAX];
	struct script		 script;

	rules_locate(l->path, text, &place);
	a.split = (uint16_t)(place.skip + 1 + job->resolve.split - place.host);
	script_find(l->path, &a, &script);
	if (script.program == NULL || job->find.user != NULL)
		set_info(l, PATHNAME_REFUSED, 404, WHY_ABSENT);
	else if (script.program->directory != NULL && !job->resolve.executable)
		set_info(l, PATHNAME_REFUSED, 403, WHY_EXECUTE);
	else
		path_info_set(&l->http->caches->paths, l->path, &a);
	free(script.file);
}

/* Handles EISDIR: the path lacks its slash, or the directory has no index;
 * false: it is refused, as are all that are beneath a program's. */
static bool
handle_directory(struct lookup *l)
{
	const struct job	*job = &l->task.job;
	size_t			 len = strlen(job->find.path);
	enum pathname_kind	 kind = PATHNAME_LISTED;

	if (rules_directory_program(l->path->rules) != NULL)
		return false;
	if (len > 0 && job->find.path[len - 1] != '/')
		kind = PATHNAME_DIRECTORY;
	else if (job->kind == JOB_LIST || !rules_allow_listing(l->path->rules))
		return false;
	set_info(l, kind, 0, WHY_NONE);
	return true;
}

static void
log_failure(const struct lookup *l)
{
	const struct job	*job = &l->task.job;
	const struct job_find	*f = &job->find;

	if (job->kind == JOB_COMPRESS && job->error == EAGAIN) {
		log_info("no variant made: the file has changed while it was "
		    "being compressed");
		return;
	}
	errno = job->error;
	log_warn("cannot %s %s%s%s/%s", job->kind == JOB_COMPRESS ?
	    "compress" : "look up", f->user != NULL ? f->user : "",
	    f->user != NULL ? ": " : "", f->root, f->path);
}

/* Notes a failed lookup.  An older result of these kinds is used on. */
static void
set_failure(const struct lookup *l, int status, enum why why, int64_t looked,
    unsigned kinds)
{
	const struct http_loop	*http = l->http;

	if (path_info_fail(&http->caches->paths, l->path, &(struct path_info){
	    .kind = PATHNAME_REFUSED, .status = (uint16_t)status,
	    .why = (uint8_t)why, .checked_at = looked },
	    http->clock->ms - http->conf->cache.stale, kinds))
		log_failure(l);
}

/* Takes a variant that cannot be had out of its file's variants. */
static void
withdraw_variant(struct pathname_cache *paths, uint32_t ns, struct str name)
{
	struct path	*p = pathname_hold(paths,
			    namespace_of(ns, NAMESPACE_TARGET, 0), name);

	if (p == NULL)
		return;
	path_info_drop_variants(paths, p,
	    (uint16_t)(1U << (namespace_kind(ns) - NAMESPACE_VARIANT)));
	pathname_release(paths, &p);
}

/*
 * Notes that a variant cannot be had; the file is served without it.  Other
 * attempts follow later, but none with this version if there is no variant or
 * it would not be smaller.
 */
static void
handle_no_variant(struct lookup *l)
{
	int	error = l->task.job.error;
	bool	absent = error == ESTALE || error == EFBIG;

	if (absent)
		withdraw_variant(&l->http->caches->paths, l->path->namespace,
		    name_of(l->path));
	if (absent || why_status(why_of_error(error)) < 500)
		set_info(l, PATHNAME_REFUSED, 404, WHY_NONE);
	else
		set_failure(l, 404, WHY_NONE, get_info_time(l),
		    1U << PATHNAME_FILE);
}

/* Handles an errno of the disk. */
static void
handle_error(struct lookup *l)
{
	struct job	*job = &l->task.job;
	enum why	 why = why_of_error(job->error);
	int		 status = why_status(why);

	if (job->error == EISDIR && handle_directory(l))
		return;
	if (status >= 500)
		set_failure(l, status, why, PATHNAME_EXPIRED,
		    ~(1U << PATHNAME_UNKNOWN));
	else
		set_info(l, PATHNAME_REFUSED, status, why);
}

/* Ends a lookup, before its result is noted. */
static void
end_lookup(struct lookup *l)
{
	struct caches	*caches = l->http->caches;

	unpublish_lookup(l);
	caches->compressing -= l->task.job.kind == JOB_COMPRESS;
}

/* Notes what is watched now, before the result is noted. */
static void
end_watching(struct lookup *l)
{
	struct caches		*caches = l->http->caches;
	struct rules_place	 place;
	char			 text[JOB_PATH_MAX];

	rules_locate(l->path, text, &place);
	l->watched = waypoints_end(caches, l->path, place.name, place.skip,
	    &l->task.job, &l->watching);
	l->outdated = !l->watched && waypoints_saw(caches, &l->task.job,
	    &l->watching);
}

static void
note_result(struct lookup *l)
{
	if (job_found_program(&l->task.job))
		handle_program(l);
	else if (l->task.job.error == 0 &&
	    namespace_is_filtered(l->path->namespace))
		handle_source(l);
	else if (l->task.job.error == 0)
		handle_file(l);
	else if (namespace_is_variant(l->path->namespace))
		handle_no_variant(l);
	else
		handle_error(l);
	/* The event may have been read before the result was noted. */
	if (l->http->caches->shared &&
	    waypoints_saw(l->http->caches, &l->task.job, &l->watching))
		path_info_age(&l->http->caches->paths, l->path->namespace,
		    name_of(l->path), passes_old(l->http));
}

static void
complete_lookup(struct task *e)
{
	struct lookup	*l = (struct lookup *)e;

	end_lookup(l);
	end_watching(l);
	if (e->job.error == ECANCELED) {	/* the job was not performed */
		if (e->background)		/* too many are queued */
			stats_count(STATS_REFRESHES_SKIPPED);
		return;
	}
	stats_count(e->job.kind == JOB_LIST ? STATS_LISTINGS : STATS_LOOKUPS);
	if (e->job.error == 0 && !job_found_program(&e->job) &&
	    !file_fits(&l->http->caches->files, &e->job.find.version))
		e->job.error = EFBIG;
	note_result(l);
}

static void
free_lookup(struct task *e)
{
	struct lookup		*l = (struct lookup *)e;
	struct http_loop	*http = l->http;
	bool			 compressed = e->job.kind == JOB_COMPRESS;

	pathname_release(&http->caches->paths, &l->path);
	if (e->job.fd != -1)		/* too large to be served */
		deferred_close_fd(http, e->job.fd, &e->job.find.version);
	buf_free(&l->text);
	free(l);
	if (compressed)			/* the helper is free now */
		verification_run_next(http);
}

/* Sets the directory and the name relative to it; returns where in text the
 * user begins. */
static size_t
fill_job_root(struct job *job, const struct path *p,
    const struct rules_place *place, struct buf *text)
{
	const struct conf_rules	*rules = p->rules;
	struct str		 user = rules_user(rules, place->name);
	size_t			 at;

	job->find.root = place->root;
	job->find.links = (enum job_links)rules->links;
	/* The job's path lacks the first slash. */
	buf_add(text, place->name.at + place->skip + 1,
	    place->name.len - place->skip);
	at = text->len;
	if (user.at != NULL) {
		job->find.min_uid = (uint32_t)rules->action->users.from;
		buf_add(text, user.at, user.len);
		buf_addc(text, '\0');
	}
	return at;
}

/* The largest file whose bytes come with its lookup.  Of a file that may be
 * compressed, the variant is sent to most clients. */
static int64_t
get_copy_max(const struct conf *conf, const struct path *p)
{
	const struct conf_rules	*rules = p->rules;
	int64_t			 small = conf->cache.small;
	int64_t			 from = conf->limits.compress_from;

	if (variant_made(rules) == 0 || small < from)
		return small;
	return from > 0 ? from - 1 : 0;
}

/* Makes a lookup of a decoded path, by its rules. */
static struct lookup *
new_lookup(struct http_loop *http, struct path *p, struct str decoded)
{
	struct lookup	*l = mem_zero(sizeof(*l));
	struct job	*job = &l->task.job;
	size_t		 user_at, others_at;
	char		 text[JOB_PATH_MAX];
	struct rules_place	 place;
	const struct namespace	*kind = namespace_get(p->namespace);

	tasks_init(http, &l->task, kind->job, complete_lookup, free_lookup);
	rules_locate(p, text, &place);
	user_at = fill_job_root(job, p, &place, &l->text);
	others_at = l->text.len;
	if (namespace_is_filtered(p->namespace))
		l->has_notes = filtered_add_others(http, p, &l->text);
	l->names_at = l->text.len;
	kind->fill_job(job, http->conf, p, decoded.at, &l->text);
	job->find.path = l->text.at;
	if (user_at < others_at)
		job->find.user = l->text.at + user_at;
	if (namespace_is_filtered(p->namespace)) {
		job->resolve.others = (struct str){ l->text.at + others_at,
		    l->names_at - others_at };
		job->resolve.for_reading = true;
	} else
		job->find.has_version = path_info_version(&http->caches->paths,
		    p, &job->find.version);
	l->http = http;
	l->path = p;
	l->started_at = http->clock->ms;
	if (!namespace_is_filtered(p->namespace))
		waypoints_begin(http->caches, p, place.name, job, &l->watching);
	http->caches->compressing += job->kind == JOB_COMPRESS;
	return l;
}

/* Submits a lookup: its task, or NULL if it was completed at once or needs
 * none. */
static struct task *
submit_lookup(struct http_loop *http, struct path *p, bool background,
    bool bytes)
{
	struct caches	*caches = http->caches;
	struct lookup	*l;
	char		 decoded[JOB_PATH_MAX];
	size_t		 len = rules_decode(p, decoded);

	if (rules_resolve(http, p, (struct str){ decoded, len }))
		return NULL;
	l = new_lookup(http, p, (struct str){ decoded, len });
	l->task.background = background;
	if (bytes && l->task.job.kind == JOB_RESOLVE &&
	    !l->task.job.resolve.for_reading)
		l->task.job.resolve.copy_max = get_copy_max(http->conf, p);
	l->late = lookup_is_late(http, p);
	publish_lookup(l);
	pathname_hold_again(&caches->paths, p);
	if (tasks_submit(http, &l->task) == SUBMITTED_COMPLETED)
		return NULL;
	if (caches->paths.no_reuse)
		unpublish_lookup(l);
	return &l->task;
}

/* Not one that an event has outdated: the job may have looked before that. */
static struct lookup *
find_joinable(struct http_loop *http, struct path *p)
{
	struct lookup	*l = find_pending(http, p);

	return l == NULL || waypoints_may_join(http->caches, &l->task.job,
	    &l->watching) ? l : NULL;
}

struct task *
lookup_start(struct http_loop *http, struct path *p, bool bytes)
{
	struct lookup	*l = find_joinable(http, p);

	if (l == NULL)
		return submit_lookup(http, p, false, bytes);
	if (l->task.background && http->disk.promote != NULL)
		http->disk.promote(&l->task);
	return &l->task;
}

struct task *
lookup_refresh(struct http_loop *http, struct path *p)
{
	struct lookup	*l = find_joinable(http, p);

	return l != NULL ? &l->task : submit_lookup(http, p, true, false);
}

void
lookup_set_late(struct http_loop *http, const struct path *p)
{
	struct lookup	*l = find_pending(http, p);

	if (l != NULL)
		l->late = true;
}

bool
lookup_is_late(struct http_loop *http, const struct path *p)
{
	const struct lookup	*l = find_pending(http, p);

	return l != NULL && l->late;
}

bool
lookup_is_pending(struct http_loop *http, const struct path *p)
{
	return find_pending(http, p) != NULL;
}
