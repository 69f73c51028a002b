/*
 * warm: reads lists a part at a time, and loads their names; loads hints, and
 * passes on those that lists have.
 */
#include <sys/queue.h>

#include <stdlib.h>
#include <unistd.h>

#include "admin/load.h"
#include "admin/target.h"
#include "admin/warm.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/url.h"
#include "shared/hot_list.h"

#define READ_MAX	(16 * 1024)	/* bytes at a time */
#define FILE_MAX	(1024 * 1024)	/* bytes of one response: the rest is
					 * read ahead when it is asked for */
#define LONG_ITERATION	3000		/* us: there is much else to do */
#define PAUSE		10		/* ms, then */
#define HINT_WAIT	2		/* ms: hints could not be taken */
#define LISTS_MAX	16
#define PAGES_AT_ONCE	32		/* lines, which cost no load */

struct warm_list {
	int			 file;
	off_t			 at;		/* bytes that were read */
	struct buf		 text;		/* the rest of them */
	STAILQ_ENTRY(warm_list)	 link;
};

struct warm {
	struct warm_setup	 setup;
	int			 ready;		/* a pipe at its end */
	struct watch		*timer;		/* for the next names */
	int64_t			 armed_at;	/* us */
	STAILQ_HEAD(, warm_list) lists;
	unsigned		 nlists;
	unsigned		 nloading;
	size_t			 loaded;	/* names */
	size_t			 pages;		/* with hints */
	bool			 full;		/* a cache was */
	unsigned		 nhints;	/* being loaded */
	bool			 hints_come;	/* there may be some */
	bool			 has_lists;	/* not reported yet */
	bool			 stopped;
};

static void
arm_timer(struct warm *w, int64_t pause)
{
	w->armed_at = clock_us() + pause * 1000;
	evloop_arm(w->timer, w->setup.clock->ms + pause);
}

static void
drop_list(struct warm *w)
{
	struct warm_list	*list = STAILQ_FIRST(&w->lists);

	STAILQ_REMOVE_HEAD(&w->lists, link);
	io_close(&list->file);
	buf_free(&list->text);
	free(list);
	w->nlists--;
}

/* Reads the next part, past the whole lines that were taken. */
static bool
read_part(struct warm_list *list)
{
	ssize_t	n;

	if (list->at >= HOT_LIST_BYTES_MAX || list->text.len >= READ_MAX)
		return false;
	buf_reserve(&list->text, READ_MAX);
	n = pread(list->file, list->text.at + list->text.len, READ_MAX,
	    list->at);
	if (n <= 0)
		return false;
	list->at += n;
	list->text.len += (size_t)n;
	return true;
}

static void
end_file(void *context, struct preload *p)
{
	struct warm	*w = context;

	w->nloading--;
	w->loaded += p->status == 200;
	/* The timer begins the next load, as this connection is still being
	 * closed. */
	if (!w->stopped)
		arm_timer(w, 0);
}

static struct load
new_load(struct warm *w, void (*ended)(void *, struct preload *))
{
	return (struct load){
		.conf = w->setup.conf,
		.clients = w->setup.clients,
		.fd = w->ready,
		.no_programs = true,
		.most = FILE_MAX,
		.ended = ended,
		.context = w,
	};
}

/* Finds where a URL leads; text: room for it, which is to be freed. */
static bool
find_target(const struct warm *w, struct str name, struct buf *text,
    struct url *url, size_t *listener)
{
	struct buf	wrong = { 0 };
	bool		found;

	buf_add(text, name.at, name.len);
	found = url_parse(buf_string(text), url) == NULL &&
	    target_listener(w->setup.conf, url, listener, &wrong);
	buf_free(&wrong);
	return found;
}

static void
load_name(struct warm *w, const struct hot_name *name)
{
	struct buf	text = { 0 }, coding = { 0 };
	struct load	load = new_load(w, end_file);
	struct url	url;
	size_t		listener;

	buf_add(&coding, name->coding.at, name->coding.len);
	if (coding.len > 0)
		load.coding = buf_string(&coding);
	if (find_target(w, name->url, &text, &url, &listener)) {
		w->nloading++;
		load_begin(&load, &url, listener);
	}
	buf_free(&text);
	buf_free(&coding);
}

/* Whether a page is one of the site to which its URL leads by this conf.  The
 * URL of a site that has gone may lead to another one. */
static bool
is_of_site(const struct warm *w, const struct conf_site *site,
    const struct url *url, struct str name)
{
	bool		by_host = site->rules.some_by_host, same;
	struct str	host = by_host ? url->host : STR("");
	struct buf	own = { 0 };

	if (url->authority.at == NULL)
		return !by_host;
	same = target_add_url(w->setup.conf, site->number, host, url->target,
	    &own) && str_same((struct str){ own.at, own.len }, name);
	buf_free(&own);
	return same;
}

static void
add_page(struct warm *w, const struct hot_name *name)
{
	const struct conf_site	*site;
	struct buf		 text = { 0 };
	struct preload_list	 list = { 0 };
	struct str		 files = name->files;
	struct url		 url;
	size_t			 listener;

	while (files.len > 0 && list.n < HINT_FILES_MAX)
		list.files[list.n++] = str_cut(&files, ' ');
	if (find_target(w, name->url, &text, &url, &listener) &&
	    str_starts(url.target, STR("/"))) {
		site = target_site(w->setup.conf, &url, listener);
		list.site = site->number;
		list.host = url.host;
		list.target = url.target;
		w->pages += is_of_site(w, site, &url, name->url) &&
		    preload_add_list(w->setup.http, &list);
	}
	buf_free(&text);
}

static void
end_hint(void *context, struct preload *p)
{
	struct warm	*w = context;

	(void)p;
	w->nhints--;
	if (!w->stopped)
		arm_timer(w, 0);
}

/* Begins the next hint; false: there is none now. */
static bool
load_hint(struct warm *w)
{
	struct load	load = new_load(w, end_hint);
	bool		begun;

	w->nhints++;
	begun = load_begin_hint(&load, w->setup.http);
	w->nhints -= !begun;
	return begun;
}

/* Takes the next line of the first list.  HOT_LIST_NOTHING: the list has ended,
 * or only names are left, which would displace others. */
static enum hot_list_line
take_line(struct warm *w)
{
	struct warm_list	*list = STAILQ_FIRST(&w->lists);
	struct str		 text = { list->text.at, list->text.len };
	struct hot_name		 name;
	enum hot_list_line	 kind = hot_list_next(&text, &name);

	if (kind == HOT_LIST_NOTHING)
		return read_part(list) ? HOT_LIST_COMMENT : HOT_LIST_NOTHING;
	if (kind == HOT_LIST_PAGE)
		add_page(w, &name);
	if (kind == HOT_LIST_NAME && !preload_has_room(w->setup.http)) {
		w->full = true;
		return HOT_LIST_NOTHING;
	}
	if (kind == HOT_LIST_NAME)
		load_name(w, &name);
	buf_consume(&list->text, list->text.len - text.len);
	return kind;
}

static void
report_end(struct warm *w)
{
	const char	*how = w->full ? ", and a cache is full" : "";

	log_info("%zu files and variants were brought into the caches by a "
	    "list of hot names%s", w->loaded, how);
	if (w->pages > 0)
		log_info("hints of %zu page%s came with the list", w->pages,
		    w->pages == 1 ? "" : "s");
	w->loaded = w->pages = 0;
	w->has_lists = w->full = false;
}

/* Returns the ms to leave to clients after a load that has taken so many us. */
static int64_t
get_pause(const struct warm *w, int64_t us)
{
	return w->setup.in_place && clients_count(w->setup.clients) > 0 ?
	    3 * us / 1000 : 0;
}

static void
load_next(struct warm *w)
{
	int64_t			begun = clock_us();
	enum hot_list_line	kind;
	unsigned		n = 0;

	do
		kind = take_line(w);
	while (kind == HOT_LIST_PAGE && ++n < PAGES_AT_ONCE);
	if (kind == HOT_LIST_NOTHING)
		drop_list(w);
	arm_timer(w, get_pause(w, clock_us() - begun));
}

/* Loads a hint, if there is one; else looks again soon if one must wait. */
static bool
take_hint(struct warm *w)
{
	int64_t	begun = clock_us();
	bool	taken = load_hint(w);

	if (taken)
		arm_timer(w, get_pause(w, clock_us() - begun));
	w->hints_come = taken || preload_has_hints(w->setup.http);
	if (!taken && w->hints_come)
		arm_timer(w, HINT_WAIT);
	return taken;
}

static void
on_timer(void *context)
{
	struct warm	*w = context;

	if (w->stopped)
		return;
	if (clock_us() - w->armed_at > LONG_ITERATION)
		arm_timer(w, PAUSE);
	else if (w->hints_come && w->nhints < w->setup.at_once && take_hint(w))
		;
	else if (w->nlists > 0 && w->nloading < w->setup.at_once)
		load_next(w);
	else if (w->has_lists && w->nlists == 0 && w->nloading == 0)
		report_end(w);
}

/* Hints that are under way have a timer, or arm it when they end. */
void
warm_take_hints(struct warm *w)
{
	if (w->stopped || w->hints_come || w->ready == -1 ||
	    !preload_has_hints(w->setup.http))
		return;
	w->hints_come = true;
	arm_timer(w, 0);
}

void
warm_add(struct warm *w, int file)
{
	struct warm_list	*list;

	if (file == -1)
		return;
	if (w->stopped || w->ready == -1 || w->nlists == LISTS_MAX) {
		close(file);
		return;
	}
	list = mem_zero(sizeof(*list));
	list->file = file;
	STAILQ_INSERT_TAIL(&w->lists, list, link);
	w->nlists++;
	w->has_lists = true;
	arm_timer(w, 0);
}

void
warm_stop(struct warm *w)
{
	w->stopped = true;
	while (w->nlists > 0)
		drop_list(w);
}

static int
open_ready(void)
{
	int	fds[2];

	if (io_pipe(fds) == -1)
		return -1;
	close(fds[1]);
	return fds[0];
}

struct warm *
warm_new(const struct warm_setup *setup)
{
	struct warm	*w = mem_zero(sizeof(*w));

	w->setup = *setup;
	w->ready = open_ready();
	w->timer = evloop_timer(setup->loop, on_timer, w);
	STAILQ_INIT(&w->lists);
	return w;
}

void
warm_free(struct warm **wp)
{
	struct warm	*w = *wp;

	warm_stop(w);
	evloop_unwatch(&w->timer);
	io_close(&w->ready);
	mem_drop(wp);
}
