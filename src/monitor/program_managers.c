/*
 * program_managers: starts them, and tells mains of a new one.
 */
#include <errno.h>
#include <stdlib.h>

#include "conf/conf.h"
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
#include "shared/channel.h"
#include "stats/program_stats.h"

#define BACKOFF_MIN	50	/* ms until it is started again ... */
#define BACKOFF_MAX	5000	/* ... and if it keeps dying early */
#define MIN_LIFETIME	10000	/* ms; a shorter life is early */

static int	managers_end;	/* of the socket, while the child is started */

/* Without a filter of system calls, which programs would inherit. */
static void
run_manager(struct generation *g, void *unused, int pipe)
{
	(void)unused;
	proc_title("amped: programs");
	log_init("programs", (enum log_level)g->conf->log.error_level);
	program_stats_use(g->programs.stats);
	/* The monitor dies with a signal for this process. */
	io_close(&pipe);
	error_log_close();
	io_close(&prepared.standard_error.fd);
	io_close(&prepared.helper);
	io_close(&logs_errors.lines[0]);
	io_close(&logs_errors.drops[0]);
	manager_run(g->conf, managers_end);
	exit(0);
}

static void	manager_died(void *, const struct child *);
static void	start_again(void *);

static const struct child_kind	kind = {
	.name = "program manager", .run = run_manager, .died = manager_died
};

/* A main that has no channel yet, or any more, needs no message. */
static void
tell_mains(const struct generation *g)
{
	const struct worker	*w;

	for (unsigned i = 0; i < g->nworkers; i++) {
		w = &g->workers[i];
		if (w->channel.fd != -1 && channel_send(w->channel.fd,
		    CHANNEL_PROGRAMS, g->programs.socket) == -1 &&
		    errno != EPIPE && errno != ECONNRESET)
			log_warn("cannot give main its program manager");
	}
}

static void
start_manager(struct generation *g)
{
	int	fds[2], unused = -1;

	events_unset(&g->programs.restart);
	g->programs.started_at = clock_ms();
	if (io_record_pipe(fds) == 0) {
		/* The generation's, so that the child closes it. */
		g->programs.socket = fds[0];
		managers_end = fds[1];
		g->programs.child = child_start(&kind, g, g, &unused);
		io_close(&unused);
		io_close(&fds[1]);
	}
	if (g->programs.child != NULL) {
		tell_mains(g);
		return;
	}
	io_close(&g->programs.socket);
	log_error("cannot start the program manager; trying it again in %d s",
	    BACKOFF_MAX / 1000);
	events_set(&g->programs.restart, BACKOFF_MAX, start_again, g);
}

static void
start_again(void *generation)
{
	struct generation	*g = generation;

	start_manager(g);
	if (g->state == GENERATION_DRAINING)
		io_close(&g->programs.socket);
}

/* The first restart is at once. */
static void
set_restart(struct generation *g)
{
	int	backoff = clock_ms() - g->programs.started_at >= MIN_LIFETIME ||
		    g->programs.backoff == 0 ? BACKOFF_MIN :
		    g->programs.backoff * 2;

	if (backoff > BACKOFF_MAX)
		backoff = BACKOFF_MAX;
	g->programs.backoff = backoff;
	events_set(&g->programs.restart, backoff == BACKOFF_MIN ? 0 : backoff,
	    start_again, g);
}

/* A manager ends by itself where its mains have ended. */
static void
manager_died(void *generation, const struct child *c)
{
	struct generation	*g = generation;

	g->programs.child = NULL;
	io_close(&g->programs.socket);
	program_stats_clear(g->programs.stats);
	if (due.ending != 0 || (c->status == 0 &&
	    g->state == GENERATION_DRAINING))
		return;
	log_errorx("program manager %s; its programs end, and another one is "
	    "started", c->how);
	set_restart(g);
}

static struct program_stats *
make_stats(const struct conf *conf)
{
	struct program_stats_label	*labels = mem_array(conf->nprograms,
					    sizeof(*labels));
	struct program_stats		*made;
	const struct conf_program	*p = conf->programs;

	for (size_t i = 0; i < conf->nprograms; i++)
		labels[i] = (struct program_stats_label){
			conf_program_label(&p[i]), p[i].servers.at,
			p[i].servers.n };
	made = program_stats_new(labels, conf->nprograms);
	free(labels);
	return made;
}

void
program_managers_start(struct generation *g)
{
	if (g->conf->nprograms == 0)
		return;
	g->programs.stats = make_stats(g->conf);
	start_manager(g);
}

void
program_managers_leave(struct generation *g)
{
	io_close(&g->programs.socket);
}

void
program_managers_release(struct generation *g)
{
	events_unset(&g->programs.restart);
	io_close(&g->programs.socket);
	child_release(&g->programs.child);
}

static void
end_managers(void)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link) {
		events_unset(&g->programs.restart);
		program_managers_leave(g);
	}
}

const struct component	program_managers_component = {
	.stop = end_managers
};
