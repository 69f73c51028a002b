/*
 * lookup: makes jobs that look a path up, and notes their results in the
 * caches.
 */
#include <sys/param.h>
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/digest.h"
#include "filter.h"
#include "http/deferred_close.h"
#include "http/limits/verification.h"
#include "http/variants/filtered.h"
#include "http/variants/filtered_lookup.h"
#include "http/lookup_private.h"
#include "http/namespace.h"
#include "http/variants/dependencies.h"
#include "http/variants/language.h"
#include "http/programs/script.h"
#include "http/rules.h"
#include "http/tag.h"
#include "http/tasks.h"
#include "http/variants/variant.h"
#include "http/watch/changes.h"
#include "http/watch/waypoints.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/stats.h"

#define RESULTS_PAUSE	60000	/* ms */

/* Notes a file.  A variant whose making failed with this version is not tried
 * again. */
static void
handle_file(struct lookup *l)
{
	const struct job	*job = &l->task.job;
	struct path		*p = l->path;
	const struct namespace	*kind = namespace_get(p->namespace);
	struct path_info	 a = { .kind = PATHNAME_FILE,
				    .checked_at = lookup_result_time(l),
				    .watched = l->watched };
	uint16_t		 tried = 0;

	if (kind->type != NULL)
		a.type = kind->type(p->namespace);
	else if (!job->find.unchanged)
		lookup_result_set_type(l, &a);
	else				/* The type is known. */
		path_info_kind(&l->http->caches->paths, p, &a.type);
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
		lookup_result_take_file(l, &a, tried);
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
				    .checked_at = lookup_result_time(l),
				    .watched = l->watched };
	struct rules_place	 place;
	char			 text[JOB_PATH_MAX];
	struct script		 script;

	rules_locate(l->path, text, &place);
	a.split = (uint16_t)(place.skip + 1 + job->resolve.split - place.host);
	script_find(l->path, &a, &script);
	if (script.program == NULL || job->find.user != NULL)
		lookup_result_set(l, PATHNAME_REFUSED, 404, WHY_ABSENT);
	else if (script.program->directory != NULL && !job->resolve.executable)
		lookup_result_set(l, PATHNAME_REFUSED, 403, WHY_EXECUTE);
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
	lookup_result_set(l, kind, 0, WHY_NONE);
	return true;
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
		lookup_result_set_failure(l, status, why, PATHNAME_EXPIRED,
		    ~(1U << PATHNAME_UNKNOWN));
	else
		lookup_result_set(l, PATHNAME_REFUSED, status, why);
}

/* Ends a lookup, before its result is noted. */
static void
end_lookup(struct lookup *l)
{
	struct caches	*caches = l->http->caches;

	lookup_result_withdraw(l);
	caches->compressing -= l->task.job.kind == JOB_COMPRESS;
	if (l->task.job.kind == JOB_RESOLVE)
		l->http->copying -= (size_t)l->task.job.resolve.copy_max;
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
}

/* Nothing is noted as watched, or as fresh, that an event is about. */
static void
see_events(struct lookup *l)
{
	l->outdated = waypoints_saw(l->http->caches, &l->task.job,
	    &l->watching);
	l->watched = l->watched && !l->outdated;
}

static void
note_result(struct lookup *l)
{
	bool	translated = language_number(l->path->namespace) > 0;

	if (l->of != NULL) {
		filtered_lookup_handle_compressed(l);
		return;
	}
	/* The directory is there, without a file in the language. */
	if (translated && l->task.job.error == EISDIR)
		l->task.job.error = ENOENT;
	if (translated && job_found_program(&l->task.job))
		lookup_result_set_no_variant(l);
	else if (job_found_program(&l->task.job))
		handle_program(l);
	else if (l->task.job.error == 0 &&
	    variant_is_filtered(l->path->namespace))
		filtered_lookup_handle_source(l);
	else if (l->task.job.error == 0)
		handle_file(l);
	else if (namespace_is_variant(l->path->namespace))
		lookup_result_set_no_variant(l);
	else
		handle_error(l);
}

/* No thread handles an event between the look at events and the note.  Results
 * of filters are not watched by their lookup (begin_watching), and filters
 * begin a task, for which no thread may wait. */
static void
note_current_result(struct lookup *l)
{
	struct caches	*caches = l->http->caches;

	if (variant_is_filtered(l->path->namespace)) {
		note_result(l);
		return;
	}
	waypoints_stop_events(caches);
	see_events(l);
	note_result(l);
	waypoints_resume_events(caches);
}

static void
complete_lookup(struct task *e)
{
	struct lookup	*l = (struct lookup *)e;

	end_lookup(l);
	changes_catch_up(l->http);
	if (l->of == NULL)
		end_watching(l);
	else if (e->job.error != 0)
		e->job.fd = -1;			/* the file's own */
	if (e->job.error == ECANCELED) {	/* the job was not performed */
		if (e->background)		/* too many are queued */
			stats_count(STATS_REFRESHES_SKIPPED);
		return;
	}
	stats_count(e->job.kind == JOB_LIST ? STATS_LISTINGS : STATS_LOOKUPS);
	if (e->job.error == 0 && !job_found_program(&e->job) &&
	    !file_fits(&l->http->caches->files, &e->job.find.version))
		e->job.error = EFBIG;
	if (l->of == NULL)
		note_current_result(l);
	else
		note_result(l);
}

static void
free_lookup(struct task *e)
{
	struct lookup		*l = (struct lookup *)e;
	struct http_loop	*http = l->http;
	bool			 compressed = e->job.kind == JOB_COMPRESS;

	pathname_release(&http->caches->paths, &l->path);
	filtered_lookup_release(&l->of);
	if (e->job.fd != -1)		/* too large to be served */
		deferred_close_fd(http, e->job.fd,
		    &(struct job_range){ .version = e->job.find.version });
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
	language_cut_path(p, text->at);
	at = text->len;
	if (user.at != NULL) {
		job->find.min_uid = (uint32_t)rules->action->users.from;
		buf_add(text, user.at, user.len);
		buf_addc(text, '\0');
	}
	return at;
}

/* Whether a helper may compress what is found at a decoded path, by its name:
 * of a directory, the index. */
static bool
may_be_compressed(const struct http_loop *http, const struct path *p,
    const char *decoded)
{
	uint16_t	blocks;
	size_t		len = strlen(decoded);

	if (variant_made(p->rules) == 0)
		return false;
	return len == 0 || decoded[len - 1] == '/' ||
	    rules_compressible(p->rules, lookup_result_type(http, p, decoded,
	    &blocks));
}

/* The largest file whose bytes come with its lookup.  Of a file that may be
 * compressed, the variant is sent to most clients. */
static int64_t
get_copy_max(struct http_loop *http, const struct path *p, const char *decoded,
    unsigned bytes)
{
	const struct conf	*conf = http->conf;
	const struct conf_rules	*rules = p->rules;
	int64_t			 max = conf->cache.small;

	/* Filters read the file themselves. */
	if ((bytes & LOOKUP_LARGE) != 0 && rules->chains.n == 0)
		max = MAX(max, file_whole_max(&http->caches->files,
		    http->copying));
	if ((bytes & LOOKUP_PLAIN) == 0 &&
	    may_be_compressed(http, p, decoded))
		max = MIN(max, conf->limits.compress_from - 1);
	return max;
}

/* Fills the job of a path.  Returns whether a result of filters has noted
 * files, and sets the inode number of its version. */
static bool
fill_job(struct http_loop *http, const struct path *p, const char *decoded,
    struct job *job, struct buf *texts, uint64_t *noted)
{
	bool			 filtered = variant_is_filtered(p->namespace);
	bool			 has_notes = false;
	char			 text[JOB_PATH_MAX];
	struct rules_place	 place;
	size_t			 user_at, others_at, names_at;

	rules_locate(p, text, &place);
	user_at = fill_job_root(job, p, &place, texts);
	others_at = texts->len;
	if (filtered)
		has_notes = filtered_add_others(http, p, texts, noted);
	names_at = texts->len;
	namespace_get(p->namespace)->fill_job(job, http->conf, p, decoded,
	    texts);
	job->find.path = texts->at;
	if (user_at < others_at)
		job->find.user = texts->at + user_at;
	if (filtered) {
		job->resolve.others = (struct str){ texts->at + others_at,
		    names_at - others_at };
		job->resolve.for_reading = true;
	}
	return has_notes;
}

void
lookup_fill_job(struct http_loop *http, const struct path *p, struct job *job,
    struct buf *texts)
{
	char		decoded[JOB_PATH_MAX];
	uint64_t	noted;

	rules_decode(p, decoded);
	(void)fill_job(http, p, decoded, job, texts, &noted);
	job->resolve.siblings = (struct str){ NULL, 0 };
}

/* Begins to watch, unless events would find no path: names have a tag. */
static void
begin_watching(struct lookup *l)
{
	struct rules_place	 place;
	char			 text[JOB_PATH_MAX];

	if (variant_is_filtered(l->path->namespace) ||
	    language_count(l->path->rules) > 0)
		return;
	rules_locate(l->path, text, &place);
	waypoints_begin(l->http->caches, l->path, place.name, &l->task.job,
	    &l->watching);
}

/* Makes a lookup of a decoded path, by its rules. */
static struct lookup *
new_lookup(struct http_loop *http, struct path *p, const char *decoded)
{
	struct lookup	*l = mem_zero(sizeof(*l));
	struct job	*job = &l->task.job;

	tasks_init(http, &l->task, namespace_get(p->namespace)->job,
	    complete_lookup, free_lookup);
	l->has_notes = fill_job(http, p, decoded, job, &l->text, &l->noted);
	if (!variant_is_filtered(p->namespace))
		job->find.has_version = path_info_version(&http->caches->paths,
		    p, &job->find.version);
	l->http = http;
	l->path = p;
	l->started_at = http->clock->ms;
	begin_watching(l);
	http->caches->compressing += job->kind == JOB_COMPRESS;
	return l;
}

/* NULL: none is needed. */
static struct lookup *
make_lookup(struct http_loop *http, struct path *p)
{
	char	decoded[JOB_PATH_MAX];
	size_t	len;

	if (namespace_is_variant(p->namespace) &&
	    variant_has_query(p->namespace))
		return filtered_lookup_make_compression(http, p,
		    complete_lookup, free_lookup);
	len = rules_decode(p, decoded);
	return rules_resolve(http, p, (struct str){ decoded, len }) ? NULL :
	    new_lookup(http, p, decoded);
}

/* Submits a lookup: its task, or NULL if it was completed at once or needs
 * none. */
static struct task *
submit_lookup(struct http_loop *http, struct path *p, bool background,
    unsigned bytes, bool follows_run)
{
	struct caches	*caches = http->caches;
	struct lookup	*l;

	l = make_lookup(http, p);
	if (l == NULL)
		return NULL;
	l->task.background = background;
	l->follows_run = follows_run;
	if (bytes != 0 && l->task.job.kind == JOB_RESOLVE &&
	    !l->task.job.resolve.for_reading)
		l->task.job.resolve.copy_max = get_copy_max(http, p,
		    l->task.job.find.path, bytes);
	if (l->task.job.kind == JOB_RESOLVE)
		http->copying += (size_t)l->task.job.resolve.copy_max;
	l->late = lookup_is_late(http, p);
	lookup_result_publish(l);
	pathname_hold_again(&caches->paths, p);
	if (tasks_submit(http, &l->task) == SUBMITTED_COMPLETED)
		return NULL;
	if (caches->paths.no_reuse)
		lookup_result_withdraw(l);
	return &l->task;
}

/* Finds a lookup that a request may wait for.  It may not wait for a lookup
 * whose job may have looked before an event, or for a run from before a reload
 * of its chain. */
static struct lookup *
find_joinable(struct http_loop *http, struct path *p)
{
	struct lookup	*l = lookup_result_find_pending(http, p);

	if (l != NULL && l->chain != NULL)
		return filtered_lookup_counts(l) ? l : NULL;
	return l == NULL || waypoints_may_join(http->caches, &l->task.job,
	    &l->watching) ? l : NULL;
}

struct task *
lookup_start(struct http_loop *http, struct path *p, bool background,
    unsigned bytes, bool follows_run)
{
	struct lookup	*l = find_joinable(http, p);

	if (l == NULL)
		return submit_lookup(http, p, background, bytes, follows_run);
	l->follows_run = l->follows_run || follows_run;
	if (l->task.background && !background && http->disk.promote != NULL)
		http->disk.promote(&l->task);
	return &l->task;
}

struct task *
lookup_refresh(struct http_loop *http, struct path *p)
{
	struct lookup	*l = find_joinable(http, p);

	return l != NULL ? &l->task : submit_lookup(http, p, true, 0, false);
}

void
lookup_pause_results(struct http_loop *http, const struct path *p)
{
	const struct lookup	*l = lookup_result_find_pending(http, p);

	if (l != NULL && l->recalls)
		http->results_from = http->clock->ms + RESULTS_PAUSE;
}

const struct conf_chain *
lookup_chain(struct http_loop *http, const struct path *p)
{
	const struct lookup	*l = lookup_result_find_pending(http, p);

	return l != NULL && !l->recalls ? l->chain : NULL;
}

void
lookup_set_late(struct http_loop *http, const struct path *p)
{
	struct lookup	*l = lookup_result_find_pending(http, p);

	if (l != NULL)
		l->late = true;
}

bool
lookup_is_late(struct http_loop *http, const struct path *p)
{
	const struct lookup	*l = lookup_result_find_pending(http, p);

	return l != NULL && l->late;
}

bool
lookup_is_pending(struct http_loop *http, const struct path *p)
{
	return lookup_result_find_pending(http, p) != NULL;
}
