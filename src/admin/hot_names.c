/*
 * hot_names: sorts names by how much they were used, and writes them behind the
 * pages that hints are known of.
 */
#include <string.h>

#include "admin/hot_names.h"
#include "admin/target.h"
#include "http/preload.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "shared/hot_list.h"

/* A class has the names whose uses have so many bits; one more class has the
 * pages, which come first. */
#define CLASSES		17
#define PAGES		CLASSES

#define WRITE_MAX	(64 * 1024)	/* bytes in one iteration */

struct hot_names {
	struct evloop		*loop;
	const struct clock	*clock;
	struct http_loop	*http;
	const struct conf	*conf;
	struct watch		*timer;		/* for the next part */
	int			 file;		/* -1: no list is under way */
	void			(*written)(void *);
	void			*context;
	enum {
		PART_PAGES,
		PART_NAMES,
		PART_WRITE
	}			 part;		/* of the work */
	size_t			 bucket;	/* where a walk goes on */
	struct buf		 classes[CLASSES + 1];
	size_t			 names, pages;
	size_t			 bytes;		/* of all classes */
	struct buf		 line, files;
};

/* A list under way is over. */
static void
reset_list(struct hot_names *h)
{
	evloop_cancel(h->timer);
	for (int i = 0; i <= CLASSES; i++)
		buf_free(&h->classes[i]);
	buf_free(&h->line);
	buf_free(&h->files);
	h->names = h->pages = h->bytes = h->bucket = 0;
	io_close(&h->file);
}

static unsigned
class_of(unsigned uses)
{
	unsigned	class = 0;

	for (; uses > 0 && class < CLASSES - 1; uses >>= 1)
		class++;
	return class;
}

/* Takes the last name of the lowest class; there is one. */
static void
drop_name(struct hot_names *h)
{
	struct buf	*b = h->classes;
	const char	*end;
	size_t		 before;

	while (b->len == 0)
		b++;
	before = b->len;
	end = memrchr(b->at, '\n', b->len - 1);
	b->len = end != NULL ? (size_t)(end - b->at) + 1 : 0;
	h->bytes -= before - b->len;
	h->names--;
}

/* With the cache locked. */
static void
take_name(void *context, const struct preload_name *name)
{
	struct hot_names	*h = context;
	struct buf		*to = &h->classes[class_of(name->uses)];
	struct hot_name		 line = { .coding = name->coding != NULL ?
				    str_of(name->coding) : STR("") };
	size_t			 before = to->len;

	h->line.len = 0;
	if (!target_add_url(h->conf, name->site, name->host, name->target,
	    &h->line) || h->line.len > HOT_LIST_LINE_MAX / 2)
		return;
	line.url = (struct str){ h->line.at, h->line.len };
	hot_list_add(to, &line);
	h->bytes += to->len - before;
	h->names++;
	while (h->names > HOT_LIST_NAMES_MAX ||
	    h->bytes > HOT_LIST_BYTES_MAX - sizeof(HOT_LIST_END))
		drop_name(h);
}

/* Takes as many files as the line has room for. */
static void
add_files(struct hot_names *h, const struct preload_list *list)
{
	for (unsigned i = 0; i < list->n; i++) {
		if (!hot_list_has_file(list->files[i]) || h->line.len +
		    h->files.len + list->files[i].len > HOT_LIST_LINE_MAX - 4)
			continue;
		if (h->files.len > 0)
			buf_addc(&h->files, ' ');
		buf_add(&h->files, list->files[i].at, list->files[i].len);
	}
}

static bool
has_room_for_page(const struct hot_names *h)
{
	return h->pages < HOT_LIST_PAGES_MAX && h->classes[PAGES].len <
	    HOT_LIST_PAGES_BYTES_MAX - HOT_LIST_LINE_MAX - 1;
}

/* With the lists locked. */
static void
take_page(void *context, const struct preload_list *list)
{
	struct hot_names	*h = context;
	struct buf		*to = &h->classes[PAGES];
	struct hot_name		 line = { .coding = STR("") };

	h->line.len = h->files.len = 0;
	if (!has_room_for_page(h) || !hot_list_has_file(list->target) ||
	    !target_add_url(h->conf, list->site, list->host, list->target,
	    &h->line))
		return;
	add_files(h, list);
	if (h->files.len == 0)
		return;
	line.url = (struct str){ h->line.at, h->line.len };
	line.files = (struct str){ h->files.at, h->files.len };
	hot_list_add(to, &line);
	h->bytes = to->len;
	h->pages++;
}

/* Returns the class to be written, or NULL: all are. */
static struct buf *
find_class(struct hot_names *h)
{
	for (int i = CLASSES; i >= 0; i--)
		if (h->classes[i].len > 0)
			return &h->classes[i];
	return NULL;
}

/* Writes a part; false: nothing is left, or the file takes no more. */
static bool
write_part(struct hot_names *h)
{
	struct buf	*b = find_class(h);
	size_t		 n;

	if (b == NULL) {
		(void)io_write_all(h->file, HOT_LIST_END,
		    sizeof(HOT_LIST_END) - 1);
		return false;
	}
	n = b->len < WRITE_MAX ? b->len : WRITE_MAX;
	if (io_write_all(h->file, b->at, n) == -1)
		return false;
	if (n == b->len)
		buf_free(b);
	else
		buf_consume(b, n);
	return true;
}

/* The next walk, or the writing, begins. */
static void
end_walk(struct hot_names *h)
{
	h->part++;
	h->bucket = 0;
}

/* Does a part of the work; false: all is done. */
static bool
do_part(struct hot_names *h)
{
	bool	more;

	if (h->part == PART_WRITE) {
		if (write_part(h))
			return true;
		reset_list(h);
		h->written(h->context);
		return false;
	}
	more = h->part == PART_PAGES ?
	    preload_visit_lists(h->http, &h->bucket, take_page, h) :
	    preload_visit(h->http, &h->bucket, take_name, h);
	if (!more)
		end_walk(h);
	return true;
}

static void
on_timer(void *context)
{
	struct hot_names	*h = context;

	if (do_part(h))
		evloop_arm(h->timer, h->clock->ms);
}

void
hot_names_write(struct hot_names *h, int file, void (*written)(void *),
    void *context)
{
	reset_list(h);
	if (file == -1)
		return;
	h->file = file;
	h->written = written;
	h->context = context;
	h->part = PART_PAGES;
	evloop_arm(h->timer, h->clock->ms);
}

void
hot_names_finish(struct hot_names *h)
{
	while (h->file != -1 && do_part(h))
		;
}

struct hot_names *
hot_names_new(struct evloop *loop, struct clock *clock, struct http_loop *http,
    const struct conf *conf)
{
	struct hot_names	*h = mem_zero(sizeof(*h));

	h->loop = loop;
	h->clock = clock;
	h->http = http;
	h->conf = conf;
	h->timer = evloop_timer(loop, on_timer, h);
	h->file = -1;
	return h;
}

void
hot_names_free(struct hot_names **hp)
{
	reset_list(*hp);
	evloop_unwatch(&(*hp)->timer);
	mem_drop(hp);
}
