/*
 * pages: a list of pages, and the jobs that read them.
 */
#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/hints/pages.h"
#include "http/hints/reference.h"
#include "http/lookup.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/tasks.h"
#include "lib/io.h"
#include "lib/mem.h"

#define PAGES_MAX	64
#define NAMES_SIZE	(16 * 1024)	/* bytes of names that are read */

/* A page, and the job that reads it. */
struct page {
	struct task		 task;	/* first member: casts rely on it */
	struct pages		*all;
	struct http_loop	*http;
	struct path		*path;	/* held */
	int64_t			 at;	/* clock ms */
	struct hint_asker	 asker;	/* texts are in: */
	struct buf		 texts;
	struct buf		 names;	/* of the job */
	TAILQ_ENTRY(page)	 link;
};

struct pages {
	struct lock		*lock;
	struct caches		*caches;
	struct hint_table	*table;
	TAILQ_HEAD(, page)	 list;
	unsigned		 n;
};

struct pages *
pages_new(struct caches *caches, struct hint_table *table)
{
	struct pages	*all = mem_zero(sizeof(*all));

	if (caches->shared)
		all->lock = lock_new();
	all->caches = caches;
	all->table = table;
	TAILQ_INIT(&all->list);
	return all;
}

static void
free_page(struct page *p)
{
	pathname_release(&p->all->caches->paths, &p->path);
	buf_free(&p->texts);
	buf_free(&p->names);
	free(p);
}

/* Takes the first page out of the list. */
static struct page *
take_page(struct pages *all)
{
	struct page	*p;

	lock_acquire(all->lock);
	p = TAILQ_FIRST(&all->list);
	if (p != NULL) {
		TAILQ_REMOVE(&all->list, p, link);
		all->n--;
	}
	lock_release(all->lock);
	return p;
}

static void
append_page(struct pages *all, struct page *p)
{
	lock_acquire(all->lock);
	TAILQ_INSERT_TAIL(&all->list, p, link);
	all->n++;
	lock_release(all->lock);
}

void
pages_free(struct pages **ap)
{
	struct page	*p;

	if (*ap == NULL)
		return;
	while ((p = take_page(*ap)) != NULL)
		free_page(p);
	lock_free(&(*ap)->lock);
	mem_drop(ap);
}

static bool
has_page(struct pages *all, const struct path *path)
{
	const struct page	*p;

	lock_acquire(all->lock);
	TAILQ_FOREACH(p, &all->list, link)
		if (p->path == path)
			break;
	lock_release(all->lock);
	return p != NULL;
}

static unsigned
count_pages(struct pages *all)
{
	unsigned	n;

	lock_acquire(all->lock);
	n = all->n;
	lock_release(all->lock);
	return n;
}

bool
pages_wait(struct pages *all)
{
	return count_pages(all) > 0;
}

void
pages_wake_loader(struct caches *caches)
{
	if (caches->files.schedule_tidy != NULL)
		caches->files.schedule_tidy(caches->files.schedule_context);
}

void
pages_add(struct pages *all, const struct conn *c,
    const struct hint_asker *asker)
{
	struct path		*path = c->request->path;
	struct hint_page	 page = { path->namespace,
				    { path->name, path->len } };
	struct page		*p;

	if (namespace_kind(path->namespace) != NAMESPACE_TARGET ||
	    count_pages(all) >= PAGES_MAX || has_page(all, path) ||
	    !hint_table_may_send(all->table, &page, c->http->clock->ms))
		return;
	p = mem_zero(sizeof(*p));
	p->all = all;
	p->path = path;
	pathname_hold_again(&all->caches->paths, path);
	p->at = c->http->clock->ms;
	buf_add(&p->texts, asker->host.at, asker->host.len);
	buf_add(&p->texts, asker->codings.at, asker->codings.len);
	p->asker.listener = asker->listener;
	p->asker.host = (struct str){ p->texts.at, asker->host.len };
	p->asker.codings = (struct str){ p->texts.at + asker->host.len,
	    asker->codings.len };
	append_page(all, p);
}

/*
 * Jobs
 */

/* Takes the names that the page refers to, each once, as targets. */
static unsigned
take_targets(const struct page *p, struct str names,
    char texts[HINT_FILES_MAX][HINT_NAME_MAX + 1],
    struct str targets[HINT_FILES_MAX])
{
	unsigned	n = 0, i;

	while (names.len > 0 && n < HINT_FILES_MAX) {
		if (!reference_resolve(str_cut(&names, '\n'),
		    rules_raw(p->path), p->asker.host, texts[n],
		    sizeof(texts[n])))
			continue;
		targets[n] = str_of(texts[n]);
		for (i = 0; !str_same(targets[i], targets[n]); i++)
			;
		n += i == n;
	}
	return n;
}

/* Makes the names the list of the page, and sends it. */
static void
set_list(struct page *p, struct str names)
{
	char			texts[HINT_FILES_MAX][HINT_NAME_MAX + 1];
	struct str		targets[HINT_FILES_MAX];
	struct hint_page	page = { p->path->namespace,
				    { p->path->name, p->path->len } };

	hint_table_set(p->all->table, &page, targets,
	    take_targets(p, names, texts, targets));
	if (hint_table_send(p->all->table, &page, &p->asker,
	    p->http->clock->ms))
		pages_wake_loader(p->all->caches);
}

static void
complete_read(struct task *e)
{
	struct page	*p = (struct page *)e;
	char		 names[NAMES_SIZE];
	ssize_t		 n;

	if (e->job.error != 0 || e->job.fd == -1)
		return;
	n = pread(e->job.fd, names, sizeof(names), 0);
	if (n > 0)
		set_list(p, (struct str){ names, (size_t)n });
}

static void
free_read(struct task *e)
{
	io_close(&e->job.fd);
	free_page((struct page *)e);
}

static void
start_read(struct http_loop *http, struct page *p)
{
	struct task	*e = &p->task;

	tasks_init(http, e, JOB_RESOLVE, complete_read, free_read);
	lookup_fill_job(http, p->path, &e->job, &p->names);
	e->job.resolve.for_reading = e->job.resolve.references = true;
	e->background = true;
	p->http = http;
	(void)tasks_submit(http, e);
}

static bool
is_html(const char *type)
{
	return type != NULL && str_starts(str_of(type), STR("text/html"));
}

void
pages_read(struct pages *all, struct http_loop *http)
{
	struct page		*p;
	const char		*type;
	enum pathname_kind	 kind;

	for (unsigned left = count_pages(all); left > 0 &&
	    (p = take_page(all)) != NULL; left--) {
		kind = path_info_kind(&all->caches->paths, p->path, &type);
		if (kind == PATHNAME_FILE && is_html(type))
			start_read(http, p);
		else if (kind == PATHNAME_UNKNOWN &&
		    http->clock->ms - p->at <= HINT_LATE)
			append_page(all, p);
		else
			free_page(p);
	}
}
