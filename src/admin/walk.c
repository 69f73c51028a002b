/*
 * walk: directories, the upper ones first, by jobs that list them.
 *
 * Requests are made as by explain_url, and get no answer: their jobs fail.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "admin/made_requests.h"
#include "admin/target.h"
#include "admin/walk.h"
#include "helpers/beneath.h"
#include "helpers/perform.h"
#include "helpers/root.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/url.h"
#include "proto/uri.h"

#define LISTING_MAX	(4 * 1024 * 1024)	/* bytes of one directory */
/* Patterns of names that are never served (see uri.h). */
#define HIDDEN		".*\0*[[:cntrl:]]*"
/* The texts of enum job_template. */
#define TEMPLATE	"name\0\0\0%{name:percent}/\n\0" \
			"%{name:percent}\n\0\0/\n\0"

_Static_assert(JOB_TEMPLATE_COUNT == 8, "a text for each");

struct directory {
	char			*target;	/* encoded, with its slash */
	size_t			 above;		/* its place in the array */
	unsigned		 depth;		/* 0: there is none above */
	dev_t			 dev;		/* 0, as is ino: not known */
	ino_t			 ino;
};

struct walk {
	struct made_requests	*requests;
	size_t			 listener;
	struct str		 authority;	/* of the pattern; or empty */
	const char		*host;
	char			*match;		/* for fnmatch(3), decoded */
	struct directory	*directories;	/* owned */
	size_t			 ndirectories, next;
	size_t			 n, most;	/* names */
	bool			 more;		/* some were left out */
	bool			 looked;	/* the first job has come */
	struct buf		*names;
};

/*
 * Patterns
 */

/* Sets what fnmatch(3) is to match: a decoded pattern, in which only * is
 * special. */
static bool
set_match(struct walk *w, struct str target)
{
	char		*decoded = mem_get(target.len + 1);
	struct buf	 to = { 0 };
	size_t		 len;
	enum why	 why = uri_resolve(target, decoded, target.len + 1,
			    &len);

	for (size_t i = 0; i < len && why == WHY_NONE; i++) {
		if (strchr("?[\\", decoded[i]) != NULL)
			buf_addc(&to, '\\');
		buf_addc(&to, decoded[i]);
	}
	w->match = mem_string(buf_string(&to));
	buf_free(&to);
	free(decoded);
	return why == WHY_NONE;
}

/* Whether a target matches; adds it as clients spell it, who escape fewer bytes
 * than a listing: to another spelling, the caches have another answer.  An
 * escaped * is no pattern. */
static bool
add_match(const struct walk *w, struct str target, struct buf *to)
{
	char		*decoded = mem_get(target.len + 1);
	char		*usual = mem_get(3 * target.len + 1);
	size_t		 len;
	bool		 is = uri_resolve(target, decoded, target.len + 1,
			    &len) == WHY_NONE &&
			    fnmatch(w->match, decoded, 0) == 0;

	if (is)
		uri_encode((struct str){ decoded, len }, usual);
	for (const char *at = usual; is && *at != '\0'; at++)
		if (*at == '*')
			buf_adds(to, "%2A");
		else
			buf_addc(to, *at);
	free(usual);
	free(decoded);
	return is;
}

/*
 * Directories
 */

/* Adds a directory beneath the one that is visited, or the first one. */
static void
add_directory(struct walk *w, struct str start, struct str name)
{
	struct directory	*d;
	struct buf		 target = { 0 };
	unsigned		 depth = w->ndirectories == 0 ? 0 :
				    w->directories[w->next].depth + 1;

	if (w->ndirectories == WALK_NAMES_MAX || depth > WALK_DEPTH_MAX) {
		w->more = true;
		return;
	}
	buf_add(&target, start.at, start.len);
	buf_add(&target, name.at, name.len);
	w->directories = mem_add_room(w->directories, w->ndirectories,
	    sizeof(*w->directories));
	d = &w->directories[w->ndirectories++];
	*d = (struct directory){ .target = mem_string(buf_string(&target)),
	    .above = w->next, .depth = depth };
	buf_free(&target);
}

/* Whether a link has led to a directory that is above itself. */
static bool
is_loop(const struct walk *w)
{
	const struct directory	*d = &w->directories[w->next], *above = d;

	while (above->depth > 0) {
		above = &w->directories[above->above];
		if (above->ino == d->ino && above->dev == d->dev &&
		    d->ino != 0)
			return true;
	}
	return false;
}

/* Notes which directory a job was to look up. */
static void
identify_directory(struct walk *w, const struct job *job)
{
	struct directory	*d = &w->directories[w->next];
	struct root		 root;
	struct stat		 st;
	int			 fd = -1;

	if (root_open(&root, job) == 0)
		fd = root_open_path(&root, job->find.path, BENEATH_STAT);
	if (fd != -1 && fstat(fd, &st) == 0) {
		d->dev = st.st_dev;
		d->ino = st.st_ino;
	}
	io_close(&fd);
	root_close(&root);
}

static void
add_file(struct walk *w, struct str above, struct str name)
{
	struct buf	target = { 0 }, usual = { 0 };
	bool		matches;

	buf_add(&target, above.at, above.len);
	buf_add(&target, name.at, name.len);
	matches = add_match(w, (struct str){ target.at, target.len }, &usual);
	if (matches && w->n == w->most)
		w->more = true;
	else if (matches) {
		if (w->authority.len > 0)
			buf_adds(w->names, "http://");
		buf_add(w->names, w->authority.at, w->authority.len);
		buf_add(w->names, usual.at, usual.len);
		buf_addc(w->names, '\n');
		w->n++;
	}
	buf_free(&usual);
	buf_free(&target);
}

/* Takes the lines of a listing: a slash alone stands for more entries, one at
 * the end of a line is that of a directory. */
static void
take_lines(struct walk *w, struct str lines)
{
	struct str	target = str_of(w->directories[w->next].target);
	struct str	line;

	while (lines.len > 0) {
		line = str_cut(&lines, '\n');
		if (line.len == 0)
			continue;
		if (str_same(line, STR("/")))
			w->more = true;
		else if (line.at[line.len - 1] == '/')
			add_directory(w, target, line);
		else
			add_file(w, target, line);
	}
}

/* Lists the directory that a job was to look up. */
static void
list_directory(struct walk *w, const struct job_find *find)
{
	struct job	job;
	struct buf	text = { 0 }, hidden = { 0 };
	ssize_t		n;

	buf_add(&hidden, HIDDEN, sizeof(HIDDEN));
	buf_add(&hidden, find->programs.at, find->programs.len);
	job_init(&job, JOB_LIST);
	job.find = *find;
	job.find.names = job.find.programs = (struct str){ NULL, 0 };
	job.find.has_version = false;
	job.find.watch = 0;
	job.list.hidden = (struct str){ hidden.at, hidden.len };
	job.list.template = (struct str){ TEMPLATE, sizeof(TEMPLATE) - 1 };
	job.list.entries_max = 2 * WALK_NAMES_MAX;
	job.list.bytes_max = LISTING_MAX;
	identify_directory(w, &job);
	if (!is_loop(w))
		job_perform(&job);
	if (job.fd != -1) {
		buf_reserve(&text, (size_t)job.find.version.size + 1);
		n = io_read_all_at(job.fd, text.at,
		    (size_t)job.find.version.size, 0);
		if (n > 0)
			take_lines(w, (struct str){ text.at, (size_t)n });
		buf_free(&text);
	}
	buf_free(&hidden);
	io_close(&job.fd);
}

static bool
is_directory(const struct job *job)
{
	size_t	len = strlen(job->find.path);

	return job->kind == JOB_RESOLVE &&
	    (len == 0 || job->find.path[len - 1] == '/');
}

/* The first job of a request for a directory is that of its lookup, unless the
 * rules alone answer the request. */
static enum submitted
submit_task(void *context, struct task *task)
{
	struct walk	*w = context;

	if (!w->looked && is_directory(&task->job))
		list_directory(w, &task->job.find);
	w->looked = true;
	task->job.error = ENOENT;
	task->complete(task);
	task->free(task);
	return SUBMITTED_COMPLETED;
}

static void
visit_directory(struct walk *w)
{
	struct explanation	 e = { .kind.trusted = true,
				    .kind.no_programs = true,
				    .kind.no_answers = true };
	struct url		 url = { 0 };
	struct sockaddr_storage	 from = { .ss_family = AF_UNIX };

	url.target = str_of(w->directories[w->next].target);
	target_request(&url, w->host, NULL, 0, &e.request);
	w->looked = false;
	made_requests_run(w->requests, &e, (struct sockaddr *)&from,
	    w->listener);
	explain_free(&e);
}

static void
walk_directories(struct walk *w)
{
	for (; w->next < w->ndirectories && w->n < w->most; w->next++)
		visit_directory(w);
	w->more |= w->next < w->ndirectories;
	if (w->more)
		buf_addf(w->names, "# there are more files: these are the "
		    "first %zu\n", w->n);
}

/* The part of a target up to the slash in front of the first *. */
static struct str
find_start(struct str target)
{
	const char	*star = memchr(target.at, '*', target.len);

	if (star == NULL)
		return (struct str){ target.at, 0 };
	target.len = (size_t)(star - target.at);
	while (target.len > 0 && target.at[target.len - 1] != '/')
		target.len--;
	return target;
}

static void
free_walk(struct walk *w)
{
	for (size_t i = 0; i < w->ndirectories; i++)
		free(w->directories[i].target);
	free(w->directories);
	free(w->match);
}

const char *
walk_names(const struct conf *conf, const char *pattern, size_t most,
    struct buf *names, struct buf *wrong)
{
	struct walk	 w = { .most = most, .names = names };
	struct buf	 host = { 0 };
	struct url	 url;
	const char	*fault = url_parse(pattern, &url);
	struct str	 start;

	if (fault != NULL) {
		buf_adds(wrong, fault);
		return buf_string(wrong);
	}
	if (!target_listener(conf, &url, &w.listener, wrong))
		return buf_string(wrong);
	start = find_start(url.target);
	if (start.len == 0 || memchr(url.target.at, '?', url.target.len))
		return "a pattern is a path with a *, and without a query";
	w.authority = url.authority;
	target_host(conf, &url, &host);
	w.host = buf_string(&host);
	if (set_match(&w, url.target)) {
		w.requests = made_requests_new(conf, NULL, submit_task,
		    &w);
		add_directory(&w, start, STR(""));
		walk_directories(&w);
		made_requests_free(&w.requests);
	} else
		fault = "the pattern is no path that can be served";
	buf_free(&host);
	free_walk(&w);
	return fault;
}
