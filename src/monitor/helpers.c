/*
 * helpers: starts what a main asks for, within bounds, and follows it beyond
 * the end of that main.
 */
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/conf.h"
#include "conf/divide.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "monitor/child.h"
#include "monitor/generation.h"
#include "monitor/helpers.h"
#include "shared/channel.h"
#include "shared/helper_slots.h"
#include "shared/main_env.h"

/* A helper or an access logger. */
struct helper {
	struct child		*child;
	enum child_role		 role;
	int			 notify;	/* in a helper itself: main's
						 * notify descriptor, or -1 */
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

static void	helper_died(void *, const struct child *);

/* Only processes that may wait for a file system have the logs. */
static void
reopen_log(struct generation *g)
{
	generation_close_listeners(g);
	for (size_t i = 0; i < g->naccess_logs; i++)
		child_reopen_log(&g->access_logs[i], "access log");
}

static void
run_helper(struct generation *g, void *helper, int pipe)
{
	const struct helper	*h = helper;

	child_execute(g, h->role, pipe, h->notify);
}

static const struct child_kind	kinds[] = {
	[CHILD_HELPER] = { .name = "helper", .generational = true,
	    .run = run_helper, .died = helper_died },
	[CHILD_ACCESS_LOGGER] = { .name = "access logger",
	    .generational = true, .prepare = reopen_log,
	    .run = run_helper, .died = helper_died }
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
has_enough(const struct worker *w, enum child_role role)
{
	const struct generation	*g = w->generation;
	const struct helper	*h;
	int64_t			 all = g->nworkers, max = 1, own = 0, n = 0;

	if (role == CHILD_HELPER) {
		all = g->conf->helpers_max;
		max = conf_divide_number(all, w->number, g->nwanted, 1);
	}
	TAILQ_FOREACH(h, &helpers, link) {
		if (h->role != role)
			continue;
		n += h->orphan || h->main_id == w->main_id;
		own += h->main_id == w->main_id;
	}
	return own >= 3 * max || n >= 6 * all;
}

/* A main may wait for room for its access logger. */
static void
helper_died(void *helper, const struct child *c)
{
	struct helper		*h = helper;
	struct generation	*g;

	TAILQ_REMOVE(&helpers, h, link);
	free(h);
	child_report(c);
	TAILQ_FOREACH(g, &generations.list, link)
		for (unsigned i = 0; i < g->nworkers; i++)
			if (g->workers[i].logger_due)
				helpers_replace_logger(&g->workers[i]);
}

/* Returns the monitor's end of the pipe to it, or -1. */
static int
fork_helper(const struct worker *w, enum child_role role, int notify)
{
	struct helper	*h = mem_zero(sizeof(*h));
	int		 pipe = -1;

	h->role = role;
	h->notify = notify;
	h->child = child_start(&kinds[role], w->generation, h, &pipe);
	if (h->child == NULL) {
		log_error("cannot start a %s", kinds[role].name);
		free(h);
		return -1;
	}
	h->main_id = w->main_id;
	h->pipe_inode = io_inode(pipe);
	TAILQ_INSERT_TAIL(&helpers, h, link);
	return pipe;
}

static void
start_helper(struct worker *w, enum child_role role, int notify)
{
	int	pipe = -1;

	if (has_enough(w, role))
		log_warnx("not starting a %s: too many exist, and most of them "
		    "do not end; see which file system does not answer",
		    kinds[role].name);
	else
		pipe = fork_helper(w, role, notify);
	/* A main that has closed its end of the channel ends. */
	if (channel_send(w->channel.fd, role == CHILD_HELPER ? CHANNEL_HELPER :
	    CHANNEL_ACCESS_LOGGER, pipe) == -1 &&
	    errno != EPIPE && errno != ECONNRESET)
		log_warn("cannot give main its %s", kinds[role].name);
	io_close(&pipe);
}

void
helpers_start(struct worker *w, int notify)
{
	start_helper(w, CHILD_HELPER, notify);
}

void
helpers_start_logger(struct worker *w)
{
	start_helper(w, CHILD_ACCESS_LOGGER, -1);
}

void
helpers_replace_logger(struct worker *w)
{
	w->logger_due = w->channel.fd != -1 &&
	    has_enough(w, CHILD_ACCESS_LOGGER);
	if (w->channel.fd != -1 && !w->logger_due)
		helpers_start_logger(w);
}

void
helpers_kill(int pipe)
{
	const struct helper	*h;
	uint64_t		 inode = pipe != -1 ? io_inode(pipe) : 0;

	TAILQ_FOREACH(h, &helpers, link)
		if (h->role == CHILD_HELPER && inode != 0 &&
		    h->pipe_inode == inode)
			child_kill(h->child);
}

void
helpers_kill_all(const struct worker *w)
{
	const struct helper	*h;

	TAILQ_FOREACH(h, &helpers, link)
		if (h->role == CHILD_HELPER &&
		    h->main_id == w->main_id)
			child_kill(h->child);
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
		if (h->role == CHILD_HELPER)
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
		if (h->role != CHILD_HELPER || !h->orphan ||
		    h->worker % w->generation->nworkers != w->number)
			continue;
		fd = open_pidfd(h->child->pid);
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
