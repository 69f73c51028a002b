/*
 * hot_lists: files in memory on their way from main to main, and to a file on
 * disk, which children read and write.
 *
 * The monitor reads no byte of a list but its last ones, which say whether the
 * list is complete.  The children are the user's who owns the mains.
 */
#include <sys/stat.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/conf.h"
#include "helpers/anon_file.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/events.h"
#include "monitor/generation.h"
#include "monitor/hot_lists.h"
#include "monitor/monitor.h"
#include "shared/channel.h"
#include "shared/hot_list.h"

/* A message to the new monitor, with the file. */
struct hot_list_message {
	unsigned	number, count;		/* of the old mains */
};

#define FILE_TIMEOUT	10000	/* ms for a file system to keep a list */

static struct {
	int		 new_monitor;	/* a pipe to it; -1: none */
	struct source	 old_monitor;
	struct child	*child;	/* reads or writes the file on disk;
					 * NULL: none */
	int		 kept;		/* a file in memory, which it fills */
	int		 last;		/* the list that came last; -1: none */
	bool		 for_child;	/* lists stay open in the child */
	bool		 has_served;	/* a first time */
	struct timer	 timer;		/* for the next writing */
} hot = { .new_monitor = -1, .old_monitor.fd = -1, .kept = -1,
    .last = -1 };

/* Makes a file in memory for a list, as main must not wait for a disk. */
static int
open_list(void)
{
	bool	in_memory;
	int	fd = anon_file_open(&in_memory);

	if (fd != -1 && !in_memory)
		io_close(&fd);
	return fd;
}

static bool
is_complete(int file)
{
	char		bytes[sizeof(HOT_LIST_END) - 1];
	struct stat	st;
	ssize_t		n;

	if (io_stat(file, &st) == -1 || st.st_size < (off_t)sizeof(bytes))
		return false;
	n = pread(file, bytes, sizeof(bytes), st.st_size -
	    (off_t)sizeof(bytes));
	return n == (ssize_t)sizeof(bytes) &&
	    hot_list_is_complete((struct str){ bytes, sizeof(bytes) });
}

static void
give_main(const struct worker *w, int file)
{
	if (w->channel.fd != -1 && channel_send(w->channel.fd,
	    CHANNEL_HOT_NAMES, file) == -1)
		log_info("a main does not take a list of hot names");
}

/* A main that comes when no other serves gets this list. */
static void
keep_last(int file)
{
	io_close(&hot.last);
	hot.last = fcntl(file, F_DUPFD_CLOEXEC, 0);
}

/* Gives the list of an old main, one of count, to some of the mains that serve.
 * Each list goes to a main at least, and each main gets a list at least. */
static void
give_list(int file, unsigned number, unsigned count)
{
	struct generation	*g = generations.serving;
	const struct worker	*w;
	unsigned		 step = count < g->nwanted ? count : g->nwanted;
	unsigned		 n = 0;		/* mains so far */

	for (w = g->workers; step > 0 && w < g->workers + g->nworkers; w++)
		if (w->wanted && n++ % step == number % step)
			give_main(w, file);
	keep_last(file);
}

static void
send_list(int file, unsigned number, unsigned count)
{
	struct hot_list_message	message = { number, count };
	struct iovec		iov = { &message, sizeof(message) };

	(void)io_send_message(hot.new_monitor, &iov, 1, file);
}

bool
hot_lists_are_wanted(void)
{
	return hot.new_monitor != -1 ||
	    generations.serving->conf->cache.hotlist != NULL;
}

/*
 * The file on disk
 */

/* Reads a whole file; more than a list may have is left out. */
static struct str
read_file(int fd)
{
	char	*at = mem_get(HOT_LIST_BYTES_MAX);
	off_t	 end = 0;
	ssize_t	 n;

	while (end < HOT_LIST_BYTES_MAX && (n = pread(fd, at + end,
	    (size_t)(HOT_LIST_BYTES_MAX - end), end)) > 0)
		end += n;
	return (struct str){ at, (size_t)end };
}

/* Returns the names in the lists of all mains. */
static size_t
merge_lists(const struct generation *g, struct buf *to)
{
	struct str	*lists = mem_array(g->nworkers, sizeof(*lists));
	size_t		 start;

	for (unsigned i = 0; i < g->nworkers; i++)
		if (g->workers[i].hot_list.file != -1)
			lists[i] = read_file(g->workers[i].hot_list.file);
	buf_adds(to, "# Pages, and names of files that amped was asked for, "
	    "most often first; see\n# hotlist in amped.conf(5).\n");
	start = to->len;
	(void)hot_list_merge(to, lists, g->nworkers);
	return to->len - start;
}

static int
write_file(const char *name, const struct buf *b)
{
	int	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW |
		    O_CLOEXEC, S_IRUSR | S_IWUSR);
	int	result;

	if (fd == -1)
		return -1;
	result = io_write_all(fd, b->at, b->len) == 0 && fsync(fd) == 0 ?
	    0 : -1;
	io_close(&fd);
	return result;
}

/* Writes a new list, which replaces the old one when it is complete. */
static void
run_writer(struct generation *g, void *context, int pipe)
{
	const char	*file = g->conf->cache.hotlist;
	struct buf	 text = { 0 }, name = { 0 };

	(void)context;
	(void)pipe;
	proc_title("amped: hot list");
	proc_signals_unblock();
	if (merge_lists(g, &text) == 0)
		_exit(0);
	buf_adds(&text, HOT_LIST_END);
	buf_addf(&name, "%s.new", file);
	if (write_file(buf_string(&name), &text) == -1 ||
	    rename(name.at, file) == -1) {
		log_warn("cannot write the hot list %s: see that the user may "
		    "write in its directory", file);
		unlink(name.at);
	} else
		log_info("the hot list %s has been written", file);
	_exit(0);
}

/* Opens a regular file; a read from anything else could wait. */
static int
open_file(const char *name)
{
	int		fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat	st;

	if (fd == -1 && errno != ENOENT)
		log_warn("cannot read the hot list %s", name);
	if (fd == -1 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	log_warnx("the hot list %s is no file", name);
	io_close(&fd);
	return -1;
}

static void
run_reader(struct generation *g, void *context, int pipe)
{
	const char	*name = g->conf->cache.hotlist;
	struct buf	 text = { 0 };
	struct str	 list;
	size_t		 bad;
	int		 fd;

	(void)context;
	proc_title("amped: hot list");
	proc_signals_unblock();
	fd = open_file(name);
	if (fd == -1)
		_exit(0);
	list = read_file(fd);
	bad = hot_list_merge(&text, &list, 1);
	if (bad > 0)
		log_warnx("%zu line%s of the hot list %s %s no name of a file: "
		    "left out", bad, bad == 1 ? "" : "s", name,
		    bad == 1 ? "is" : "are");
	buf_adds(&text, HOT_LIST_END);
	if (io_write_all(hot.kept, text.at, text.len) == 0)
		(void)io_write_all(pipe, "", 1);
	_exit(0);
}

/* The reader has written a byte, or the writer has ended. */
static void
on_child(void *unused)
{
	char	byte;

	(void)unused;
	if (read(hot.child->pipe.fd, &byte, 1) == 1)
		give_list(hot.kept, 0, 1);
	io_close(&hot.kept);
	child_release(&hot.child);
}

static void
end_child(void)
{
	if (hot.child == NULL)
		return;
	child_kill(hot.child);
	child_give_up(&hot.child);
	io_close(&hot.kept);
}

static void
on_timeout(void *unused)
{
	(void)unused;
	log_warnx("a hot list cannot be kept: its file system does not answer");
	end_child();
}

static const struct child_kind	writer = {
	.name = "writer of the hot list", .run = run_writer,
	.on_readable = on_child, .on_timeout = on_timeout,
	.timeout = FILE_TIMEOUT
}, reader = {
	.name = "reader of the hot list", .run = run_reader,
	.on_readable = on_child, .on_timeout = on_timeout,
	.timeout = FILE_TIMEOUT
};

static void
start_child(const struct child_kind *kind, struct generation *g)
{
	end_child();
	if (kind == &reader && (hot.kept = open_list()) == -1)
		return;
	hot.for_child = true;
	hot.child = child_start(kind, g, NULL, NULL);
	hot.for_child = false;
	if (hot.child == NULL)
		log_warn("cannot start a %s", kind->name);
}

/* Keeps the lists on disk, when each main has written its list or has died. */
static void
keep_lists(struct generation *g)
{
	bool	some = false;

	for (unsigned i = 0; i < g->nworkers; i++) {
		if (g->workers[i].hot_list.awaited)
			return;
		some |= g->workers[i].hot_list.file != -1 &&
		    g->workers[i].hot_list.for_disk;
	}
	if (some && g->conf->cache.hotlist != NULL)
		start_child(&writer, g);
	for (unsigned i = 0; i < g->nworkers; i++)
		io_close(&g->workers[i].hot_list.file);
}

/*
 * Mains
 */

static void
ask_main(struct worker *w, bool for_disk)
{
	struct hot_list	*list = &w->hot_list;

	io_close(&list->file);
	list->awaited = false;
	list->for_disk = for_disk;
	if (w->channel.fd == -1 || w->main == NULL)
		return;
	list->file = open_list();
	list->awaited = list->file != -1 && channel_send(w->channel.fd,
	    CHANNEL_WANT_HOT_NAMES, list->file) == 0;
	if (!list->awaited)
		io_close(&list->file);
}

void
hot_lists_ask(struct worker *w)
{
	ask_main(w, true);
}

/* Gives a list to the mains that want one; -1: there is none. */
static void
give_wanted(struct generation *g, int file)
{
	struct worker	*w;

	for (w = g->workers; w < g->workers + g->nworkers; w++) {
		if (w->hot_list.wanted && file != -1)
			give_main(w, file);
		w->hot_list.wanted = false;
	}
}

/* Returns the main that has served for longest, or NULL. */
static struct worker *
find_source(struct generation *g)
{
	struct worker	*w, *found = NULL;

	for (w = g->workers; w < g->workers + g->nworkers; w++)
		if (w->ready && w->wanted && !w->hot_list.wanted &&
		    (found == NULL || w->started_at < found->started_at))
			found = w;
	return found;
}

/* If mains want a list and none is being written, asks another main for it.  If
 * there is no other, or the last list is as good, gives that. */
static void
find_wanted(struct generation *g)
{
	struct worker	*w, *source = find_source(g);
	bool		 wanted = false;

	for (w = g->workers; w < g->workers + g->nworkers; w++) {
		if (w->hot_list.awaited)
			return;
		wanted |= w->hot_list.wanted;
		if (w->hot_list.file != -1)	/* complete, for the disk */
			source = NULL;
	}
	if (!wanted)
		return;
	if (source != NULL)
		ask_main(source, false);
	if (source == NULL || !source->hot_list.awaited)
		give_wanted(g, hot.last);
}

void
hot_lists_want(struct worker *w)
{
	w->hot_list.wanted = true;
	find_wanted(w->generation);
}

/* Takes a complete list to where it is wanted.  The list of a main that wants
 * one itself has next to nothing. */
static void
pass_list(struct worker *w)
{
	struct generation	*g = w->generation;
	int			 file = w->hot_list.file;

	if (hot.new_monitor != -1)
		send_list(file, w->number, g->nworkers);
	else if (g == generations.serving && !w->hot_list.wanted) {
		keep_last(file);
		give_wanted(g, file);
	} else if (g != generations.serving && due.ending == 0)
		give_list(file, w->number, g->nworkers);
}

/* A main that died may have written its list before: its message is lost. */
void
hot_lists_written(struct worker *w)
{
	struct generation	*g = w->generation;
	struct hot_list		*list = &w->hot_list;
	bool			 complete;

	if (w->main == NULL)
		list->wanted = false;
	if (!list->awaited)
		return;
	complete = is_complete(list->file);
	if (!complete && w->main != NULL)
		return;			/* an earlier list is complete */
	list->awaited = false;
	if (complete)
		pass_list(w);
	if (!complete || hot.new_monitor != -1 || g != generations.serving)
		io_close(&list->file);
	if (g != generations.serving)
		return;
	if (g->state == GENERATION_SERVING)
		find_wanted(g);
	keep_lists(g);
}

void
hot_lists_hand_over(int pipe)
{
	io_close(&hot.new_monitor);
	hot.new_monitor = pipe;
	/* The new monitor must not hold this one up. */
	if (io_nonblock(pipe) == -1)
		io_close(&hot.new_monitor);
}

static void
on_list(void *unused)
{
	struct hot_list_message	message;
	int			file = -1;
	ssize_t			n = io_recv_message(hot.old_monitor.fd,
				    &message, sizeof(message), &file, 0);

	(void)unused;
	if (n == (ssize_t)sizeof(message) && file != -1)
		give_list(file, message.number, message.count);
	else
		events_close(&hot.old_monitor);
	io_close(&file);
}

void
hot_lists_receive(int pipe)
{
	events_add(&hot.old_monitor, pipe, on_list, NULL);
}

static void
on_time(void *unused)
{
	struct generation	*g = generations.serving;

	(void)unused;
	if (hot.child == NULL)
		for (unsigned i = 0; i < g->nworkers; i++)
			hot_lists_ask(&g->workers[i]);
	events_set(&hot.timer, g->conf->cache.hotlist_every, on_time, NULL);
}

/* A new monitor gets the lists of the old one. */
static void
note_served(struct generation *g)
{
	bool	first = !hot.has_served;

	hot.has_served = true;
	events_unset(&hot.timer);
	if (g->conf->cache.hotlist == NULL)
		return;
	events_set(&hot.timer, g->conf->cache.hotlist_every, on_time, NULL);
	if (first && prepared.inherited.old_monitor == -1)
		start_child(&reader, g);
}

static void
begin_end(void)
{
	events_unset(&hot.timer);
	end_child();
}

static void
close_lists(void)
{
	struct generation	*g;

	if (hot.for_child)
		return;
	io_close(&hot.new_monitor);
	io_close(&hot.kept);
	io_close(&hot.last);
	TAILQ_FOREACH(g, &generations.list, link)
		for (unsigned i = 0; i < g->nworkers; i++)
			io_close(&g->workers[i].hot_list.file);
}

const struct component	hot_lists_component = {
	.serves = note_served, .stop = begin_end, .end = close_lists,
	.leave = close_lists
};
