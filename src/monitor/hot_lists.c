/*
 * hot_lists: files in memory on their way from main to main.
 *
 * The monitor reads no byte of a list but its last ones, which say whether the
 * list is complete.
 */
#include <sys/stat.h>
#include <sys/uio.h>

#include <unistd.h>

#include "helpers/anon_file.h"
#include "lib/io.h"
#include "lib/log.h"
#include "monitor/component.h"
#include "monitor/events.h"
#include "monitor/generation.h"
#include "monitor/hot_lists.h"
#include "shared/channel.h"
#include "shared/hot_list.h"

/* A message to the new monitor, with the file. */
struct hot_list_message {
	unsigned	number, count;		/* of the old mains */
};

static struct {
	int		new_monitor;	/* a pipe to it; -1: none */
	struct source	old_monitor;
} hot = { -1, { .fd = -1 } };

/* Without files in memory main would wait for a disk. */
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

/* Gives a list of one of so many old mains to those of the mains that serve
 * which stand for it: each list goes somewhere, and each main gets one. */
static void
give_list(int file, unsigned number, unsigned count)
{
	struct generation	*g = generations.serving;
	unsigned		 step = count < g->nworkers ? count :
				    g->nworkers;

	if (step == 0)
		return;
	for (unsigned i = number % step; i < g->nworkers; i += step)
		if (g->workers[i].channel.fd != -1 && channel_send(
		    g->workers[i].channel.fd, CHANNEL_HOT_NAMES, file) == -1)
			log_info("a main does not take a list of hot names");
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
	return hot.new_monitor != -1;
}

void
hot_lists_ask(struct worker *w)
{
	struct hot_list	*list = &w->hot_list;

	io_close(&list->file);
	list->awaited = false;
	if (w->channel.fd == -1 || w->main == NULL)
		return;
	list->file = open_list();
	list->awaited = list->file != -1 && channel_send(w->channel.fd,
	    CHANNEL_WANT_HOT_NAMES, list->file) == 0;
}

/* A main that died may have written its list before: its message is lost. */
void
hot_lists_written(struct worker *w)
{
	const struct generation	*g = w->generation;
	struct hot_list		*list = &w->hot_list;

	if (!list->awaited)
		return;
	list->awaited = false;
	if (!is_complete(list->file))
		;
	else if (hot.new_monitor != -1)
		send_list(list->file, w->number, g->nworkers);
	else if (g != generations.serving && due.ending == 0)
		give_list(list->file, w->number, g->nworkers);
	io_close(&list->file);
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
close_lists(void)
{
	struct generation	*g;

	io_close(&hot.new_monitor);
	TAILQ_FOREACH(g, &generations.list, link)
		for (unsigned i = 0; i < g->nworkers; i++)
			io_close(&g->workers[i].hot_list.file);
}

const struct component	hot_lists_component = {
	.end = close_lists, .leave = close_lists
};
