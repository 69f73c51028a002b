/*
 * helpers: starts what a main asks for, within bounds, and follows it beyond
 * the end of that main.
 */
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/conf.h"
#include "conf/divide.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "monitor/generation.h"
#include "monitor/helpers.h"
#include "monitor/spawn.h"
#include "shared/channel.h"
#include "shared/helper_slots.h"
#include "shared/main_env.h"

struct helper {
	pid_t			 pid;
	const struct child_kind	*kind;
	uint64_t		 pipe_inode;	/* of main's end of the pipe to
						 * it: main names it by that */
	unsigned		 main_id;	/* its main */
	bool			 orphan;	/* its main has died */
	uint64_t		 fs_queue;	/* orphan: the queue that it
						 * works for; 0: none */
	unsigned		 worker;	/* orphan: its main's worker */
	TAILQ_ENTRY(helper)	 link;
};

static TAILQ_HEAD(, helper)	helpers = TAILQ_HEAD_INITIALIZER(helpers);

/* Only processes that may wait for a file system have the logs. */
static void
reopen_log(struct generation *g)
{
	generation_close_listeners(g);
	spawn_reopen_log(&g->access_log, "access log");
}

static const struct child_kind	helper_kind = {
	.name = "helper", .generational = true
};
static const struct child_kind	logger_kind = {
	.name = "access logger", .generational = true, .prepare = reopen_log
};

/*
 * Whether main has all children of a kind that the conf allows.  Main may have
 * been taken over by a client, so its word is not enough.  The bounds are three
 * times max for the main, and six times that of all mains for this main's
 * children and all orphans: children that were given up may not die, and
 * children that were released may not be reaped yet.  Children of other living
 * mains do not count.
 */
static bool
has_enough(const struct worker *w, const struct child_kind *kind)
{
	const struct generation	*g = w->generation;
	const struct helper	*h;
	int64_t			 all = g->nworkers, max = 1, own = 0, n = 0;

	if (kind == &helper_kind) {
		all = g->conf->helpers_max;
		max = conf_divide_number(all, w->number, g->nworkers, 1);
	}
	TAILQ_FOREACH(h, &helpers, link) {
		n += h->kind == kind && (h->orphan || h->main_id == w->main_id);
		own += h->kind == kind && h->main_id == w->main_id;
	}
	return own >= 3 * max || n >= 6 * all;
}

static void
replace_due_loggers(void)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link)
		for (unsigned i = 0; i < g->nworkers; i++)
			if (g->workers[i].logger_due)
				helpers_replace_logger(&g->workers[i]);
}

static void
helper_died(void *helper, const struct child *c)
{
	struct helper	*h = helper;

	TAILQ_REMOVE(&helpers, h, link);
	free(h);
	children_report(c);
	if (c->kind == &logger_kind)
		replace_due_loggers();
}

/* Returns the monitor's end of the pipe to it, or -1. */
static int
fork_helper(struct worker *w, const struct child_kind *kind)
{
	struct generation	*g = w->generation;
	struct helper		*h = mem_zero(sizeof(*h));
	int			 pipe = -1;

	h->pid = spawn(kind, g, &pipe, helper_died, h);
	if (h->pid == 0)
		spawn_helper(g, kind == &helper_kind ? HELPER_JOBS :
		    HELPER_ACCESS_LOG, pipe, g->access_log);
	if (h->pid == -1) {
		log_error("cannot start a %s", kind->name);
		free(h);
		return -1;
	}
	h->kind = kind;
	h->main_id = w->main_id;
	h->pipe_inode = io_inode(pipe);
	TAILQ_INSERT_TAIL(&helpers, h, link);
	return pipe;
}

static void
start_helper(struct worker *w, const struct child_kind *kind)
{
	int	pipe = -1;

	if (has_enough(w, kind))
		log_warnx("not starting a %s: too many exist, and most of them "
		    "do not end; see which file system does not answer",
		    kind->name);
	else
		pipe = fork_helper(w, kind);
	/* A main that has closed its end of the channel ends. */
	if (channel_send(w->channel.fd, kind == &helper_kind ? CHANNEL_HELPER :
	    CHANNEL_ACCESS_LOGGER, pipe) == -1 &&
	    errno != EPIPE && errno != ECONNRESET)
		log_warn("cannot give main its %s", kind->name);
	io_close(&pipe);
}

void
helpers_start(struct worker *w)
{
	start_helper(w, &helper_kind);
}

void
helpers_start_logger(struct worker *w)
{
	start_helper(w, &logger_kind);
}

void
helpers_replace_logger(struct worker *w)
{
	w->logger_due = w->channel.fd != -1 && has_enough(w, &logger_kind);
	if (w->channel.fd != -1 && !w->logger_due)
		helpers_start_logger(w);
}

static void
kill_helper(const struct helper *h)
{
	children_give_up(h->pid);
	kill(h->pid, SIGKILL);
}

void
helpers_kill(int pipe)
{
	const struct helper	*h;
	uint64_t		 inode = pipe != -1 ? io_inode(pipe) : 0;

	TAILQ_FOREACH(h, &helpers, link)
		if (h->kind == &helper_kind && inode != 0 &&
		    h->pipe_inode == inode)
			kill_helper(h);
}

void
helpers_kill_all(const struct worker *w)
{
	const struct helper	*h;

	TAILQ_FOREACH(h, &helpers, link)
		if (h->kind == &helper_kind && h->main_id == w->main_id)
			kill_helper(h);
}

void
helpers_main_died(const struct worker *w)
{
	struct helper	*h;

	/* A helper that hangs does not notice the end of its main. */
	helpers_kill_all(w);
	TAILQ_FOREACH(h, &helpers, link) {
		if (h->main_id != w->main_id)
			continue;
		h->orphan = true;
		h->worker = w->number;
		if (h->kind == &helper_kind)
			h->fs_queue = helper_slots_find(w->helper_slots,
			    h->pipe_inode);
	}
	helper_slots_clear(w->helper_slots);
}

/* Returns a descriptor that is readable when the process has ended, or -1. */
static int
open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

void
helpers_find_orphans(const struct worker *w, struct orphans *orphans)
{
	const struct helper	*h;
	int			 fd;

	*orphans = (struct orphans){ 0 };
	TAILQ_FOREACH(h, &helpers, link) {
		if (h->kind != &helper_kind || !h->orphan ||
		    h->worker % w->generation->nworkers != w->number)
			continue;
		fd = open_pidfd(h->pid);
		if (fd == -1)
			continue;
		orphans->at = mem_grow(orphans->at, orphans->count + 1,
		    sizeof(*orphans->at));
		orphans->at[orphans->count++] = (struct orphan){
			fd, h->fs_queue
		};
	}
}

void
helpers_free_orphans(struct orphans *orphans)
{
	for (size_t i = 0; i < orphans->count; i++)
		close(orphans->at[i].fd);
	free(orphans->at);
	*orphans = (struct orphans){ 0 };
}
