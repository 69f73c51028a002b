/*
 * program_managers: starts them, and decides which outlive a reload.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/error_log.h"
#include "monitor/generation.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/program_managers.h"
#include "programs/manager.h"

#define BACKOFF_MIN	50	/* ms until it is started again ... */
#define BACKOFF_MAX	5000	/* ... and if it keeps dying early */
#define MIN_LIFETIME	10000	/* ms; a shorter life is early */

struct program_manager {
	struct buf	 conf;		/* all that it depends on, as text */
	unsigned	 ngenerations;	/* generations that have it */
	int		 socket;	/* its end, which the next one gets */
	struct child	*child;		/* NULL: none */
	int64_t		 started_at;	/* ms */
	struct timer	 restart;
	int		 backoff;	/* ms */
};

static struct program_manager	*starting;

/* Without a filter of system calls, which programs would inherit. */
static void
run_manager(struct generation *g, void *manager, int pipe)
{
	const struct program_manager	*m = manager;

	proc_title("amped: programs");
	log_init("programs", (enum log_level)g->conf->log.error_level);
	/* The monitor dies with a signal for this process. */
	io_close(&pipe);
	error_log_close();
	io_close(&prepared.standard_error.fd);
	io_close(&prepared.helper);
	io_close(&logs_errors.lines[0]);
	io_close(&logs_errors.drops[0]);
	manager_run(g->conf, m->socket);
	exit(0);
}

static void	manager_died(void *, const struct child *);

static const struct child_kind	kind = {
	.name = "program manager", .run = run_manager, .died = manager_died
};

/* The last that began of those that have a manager. */
static struct generation *
find_generation(const struct program_manager *m)
{
	struct generation	*g, *last = NULL;

	TAILQ_FOREACH(g, &generations.list, link)
		if (g->programs.manager == m)
			last = g;
	return last;
}

static void
start_manager(void *manager)
{
	struct program_manager	*m = manager;
	int			 unused = -1;

	events_unset(&m->restart);
	m->started_at = clock_ms();
	starting = m;
	m->child = child_start(&kind, find_generation(m), m, &unused);
	starting = NULL;
	io_close(&unused);
	if (m->child != NULL)
		return;
	log_error("cannot start the program manager; trying it again in %d s",
	    BACKOFF_MAX / 1000);
	events_set(&m->restart, BACKOFF_MAX, start_manager, m);
}

/* The first restart is at once. */
static void
set_restart(struct program_manager *m)
{
	int	backoff = clock_ms() - m->started_at >= MIN_LIFETIME ||
		    m->backoff == 0 ? BACKOFF_MIN : m->backoff * 2;

	if (backoff > BACKOFF_MAX)
		backoff = BACKOFF_MAX;
	m->backoff = backoff;
	events_set(&m->restart, backoff == BACKOFF_MIN ? 0 : backoff,
	    start_manager, m);
}

static bool
all_drain(const struct program_manager *m)
{
	const struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link)
		if (g->programs.manager == m &&
		    g->state != GENERATION_DRAINING)
			return false;
	return true;
}

/* A manager ends by itself where its mains have ended.  Requests that mains
 * send until there is another one wait in the socket. */
static void
manager_died(void *manager, const struct child *c)
{
	struct program_manager	*m = manager;

	m->child = NULL;
	if (due.ending != 0 || (c->status == 0 && all_drain(m))) {
		io_close(&m->socket);
		return;
	}
	log_errorx("program manager %s; its programs end, and another one is "
	    "started", c->how);
	set_restart(m);
}

/* Appends all that the manager of a generation depends on. */
static void
describe_conf(struct generation *g, struct buf *to)
{
	const struct conf	*conf = g->conf;

	if (g->user.groups == NULL)
		user_load_groups(&g->user);
	buf_addf(to, "%d %s %ld %ld", (int)conf->log.error_level,
	    g->user.name != NULL ? g->user.name : "", (long)g->user.uid,
	    (long)g->user.gid);
	for (int i = 0; i < g->user.ngroups; i++)
		buf_addf(to, " %ld", (long)g->user.groups[i]);
	buf_addc(to, '\n');
	for (size_t i = 0; i < conf->nprograms; i++)
		conf_describe_program(conf, &conf->programs[i], to);
}

static bool
is_same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

static void
free_manager(struct program_manager *m)
{
	events_unset(&m->restart);
	io_close(&m->socket);
	child_release(&m->child);
	buf_free(&m->conf);
	free(m);
}

/* Takes the description. */
static void
add_manager(struct generation *g, const struct buf *conf)
{
	struct program_manager	*m = mem_zero(sizeof(*m));
	int			 ends[2] = { -1, -1 };

	m->conf = *conf;
	m->ngenerations = 1;
	if (io_record_pipe(ends) == -1)
		log_error("cannot make a socket for the program manager: "
		    "requests for programs fail until a reload");
	m->socket = ends[1];
	g->programs = (struct program_managers_share){ m, ends[0] };
	if (m->socket != -1)
		start_manager(m);
}

/* Gives a generation a descriptor of its own, as it leaves by itself. */
static void
share_manager(struct generation *g, const struct program_managers_share *from)
{
	from->manager->ngenerations++;
	g->programs.manager = from->manager;
	g->programs.socket = fcntl(from->socket, F_DUPFD_CLOEXEC, 3);
	if (g->programs.socket == -1)
		log_error("cannot share the socket of the program manager: "
		    "requests for programs fail until a reload");
}

void
program_managers_start(struct generation *g)
{
	const struct program_managers_share	*serving =
						    &generations.serving->
						    programs;
	struct buf				 conf = { 0 };

	if (g->conf->nprograms == 0)
		return;
	describe_conf(g, &conf);
	if (serving->manager == NULL ||
	    !is_same(&serving->manager->conf, &conf)) {
		add_manager(g, &conf);
		return;
	}
	buf_free(&conf);
	log_info("the conf says the same of programs as the one before: their "
	    "manager stays");
	share_manager(g, serving);
}

void
program_managers_leave(struct generation *g)
{
	io_close(&g->programs.socket);
}

void
program_managers_release(struct generation *g)
{
	struct program_manager	*m = g->programs.manager;

	program_managers_leave(g);
	g->programs.manager = NULL;
	if (m != NULL && --m->ngenerations == 0)
		free_manager(m);
}

static void
end_managers(void)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link) {
		if (g->programs.manager != NULL)
			events_unset(&g->programs.manager->restart);
		program_managers_leave(g);
	}
}

/* The sockets of mains are the generations'. */
static void
close_sockets(void)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link)
		if (g->programs.manager != NULL &&
		    g->programs.manager != starting)
			io_close(&g->programs.manager->socket);
}

const struct component	program_managers_component = {
	.stop = end_managers, .leave = close_sockets
};
