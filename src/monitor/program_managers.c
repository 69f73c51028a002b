/*
 * program_managers: starts them, and decides which outlive a reload.
 */
#include <sys/param.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "conf/describe.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "lib/io.h"
#include "lib/landlock.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "lib/user.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/error_log.h"
#include "monitor/generation.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/program_managers.h"
#include "programs/manager.h"
#include "stats/chain_stats.h"
#include "stats/program_stats.h"

#define BACKOFF_MIN	50	/* ms until it is started again ... */
#define BACKOFF_MAX	5000	/* ... and if it keeps dying early */
#define MIN_LIFETIME	10000	/* ms; a shorter life is early */

struct program_manager {
	struct buf	 conf;		/* all that it depends on, as text */
	struct user	 user;		/* name NULL: its generation's */
	unsigned	 ngenerations;	/* generations that have it */
	int		 socket;	/* its end, which the next one gets */
	struct child	*child;		/* NULL: none */
	int64_t		 started_at;	/* ms */
	struct timer	 restart;
	int		 backoff;	/* ms */
};

static struct program_manager	*starting;

/* Returns conf.nmanagers if the generation does not have it. */
static size_t
find_number(const struct generation *g, const struct program_manager *m)
{
	size_t	i = 0;

	while (i < g->conf->nmanagers && g->managers[i] != m)
		i++;
	return i;
}

static bool
has_manager(const struct generation *g, const struct program_manager *m)
{
	return find_number(g, m) < g->conf->nmanagers;
}

/* Leaves the programs of a manager. */
static void
select_programs(struct conf *conf, size_t manager)
{
	const struct conf_program	*all = conf->programs;
	size_t				 n = conf->nprograms;

	conf->programs = mem_array(n, sizeof(*all));
	conf->nprograms = 0;
	for (size_t i = 0; i < n; i++)
		if (all[i].manager == manager)
			conf->programs[conf->nprograms++] = all[i];
}

static _Noreturn void
serve_programs(const struct generation *g, const struct program_manager *m)
{
	struct conf	conf = *g->conf;

	proc_title("amped: programs");
	log_init("programs", (enum log_level)conf.log.error_level);
	program_stats_use(g->program_stats);
	select_programs(&conf, find_number(g, m));
	manager_run(&conf, m->socket);
	exit(0);
}

/* Without a filter of system calls, which programs would inherit. */
static void
run_manager(struct generation *g, void *manager, int pipe)
{
	/* The monitor dies with a signal for this process. */
	io_close(&pipe);
	error_log_close();
	io_close(&prepared.standard_error.fd);
	io_close(&prepared.helper);
	io_close(&logs_errors.lines[0]);
	io_close(&logs_errors.drops[0]);
	serve_programs(g, manager);
}

static const struct conf_program *
find_program(const struct conf *conf, size_t manager)
{
	const struct conf_program	*p = conf->programs;

	while (p->manager != manager)
		p++;
	return p;
}

/* As nice as the least nice program of a manager. */
static int
find_nice(const struct conf *conf, size_t manager)
{
	int64_t	nice = INT64_MAX;

	for (size_t i = 0; i < conf->nprograms; i++)
		if (conf->programs[i].manager == manager)
			nice = MIN(nice, conf->programs[i].nice);
	return (int)nice;
}

/* One session for all programs: with one each, each would get as much of the
 * processors as main. */
static void
become_manager(const struct generation *g, const void *manager)
{
	const struct program_manager	*m = manager;

	proc_start_session(find_nice(g->conf, find_number(g, m)));
	child_become_user(m->user.name != NULL ? &m->user : &g->user,
	    find_program(g->conf, find_number(g, m))->confine !=
	    CONFINEMENT_OFF);
}

static void	manager_died(void *, const struct child *);

static const struct child_kind	kind = {
	.name = "program manager", .become = become_manager,
	.run = run_manager, .died = manager_died
};

/* The last that began of those that have a manager. */
static struct generation *
find_generation(const struct program_manager *m)
{
	struct generation	*g, *last = NULL;

	TAILQ_FOREACH(g, &generations.list, link)
		if (has_manager(g, m))
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
		if (has_manager(g, m) && g->state != GENERATION_DRAINING)
			return false;
	return true;
}

/* The numbers of what has run are no more. */
static void
clear_stats(const struct program_manager *m)
{
	const struct generation	*g = find_generation(m);
	size_t			 number;

	if (g == NULL)
		return;
	number = find_number(g, m);
	for (size_t i = 0; i < g->conf->nprograms; i++)
		if (g->conf->programs[i].manager == number)
			program_stats_clear(g->program_stats, i);
}

/* A manager ends by itself where its mains have ended.  Requests that mains
 * send until there is another one wait in the socket. */
static void
manager_died(void *manager, const struct child *c)
{
	struct program_manager	*m = manager;

	m->child = NULL;
	clear_stats(m);
	if (due.ending != 0 || (c->status == 0 && all_drain(m))) {
		io_close(&m->socket);
		return;
	}
	log_errorx("program manager %s; its programs end, and another one is "
	    "started", c->how);
	set_restart(m);
}

/*
 * The managers of a generation
 */

/* Finds the user of a manager; name NULL: the generation's.  Returns 0, or -1
 * after a line in the log. */
static int
find_user(struct user *user, const struct generation *g, size_t manager)
{
	const struct conf_program	*p = find_program(g->conf, manager);

	*user = (struct user){ 0 };
	if (p->user == NULL || geteuid() != 0)
		return 0;
	if (user_find_name(user, p->user) && (p->group == NULL ||
	    user_set_group(user, p->group)))
		return 0;
	log_errorx("program %s: there is no user %s any more, or no group: "
	    "requests for it fail until a reload", p->name, p->user);
	return -1;
}

/* Appends all that a manager depends on. */
static void
describe(const struct generation *g, size_t manager, const struct user *user,
    struct buf *to)
{
	const struct conf	*conf = g->conf;

	buf_addf(to, "%d %s %ld %ld", (int)conf->log.error_level,
	    user->name != NULL ? user->name : "", (long)user->uid,
	    (long)user->gid);
	for (int i = 0; i < user->ngroups; i++)
		buf_addf(to, " %ld", (long)user->groups[i]);
	buf_addc(to, '\n');
	for (size_t i = 0; i < conf->nprograms; i++)
		if (conf->programs[i].manager == manager)
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
	user_free(&m->user);
	free(m);
}

static size_t
find_place(const struct conf *conf, size_t manager, size_t place)
{
	size_t	i = 0;

	while (conf->programs[i].manager != manager ||
	    conf->programs[i].place != place)
		i++;
	return i;
}

/* The manager goes on to set the gauges of the generation that serves. */
static void
share_stats(struct generation *g, size_t number, size_t old_number)
{
	const struct generation		*serving = generations.serving;
	const struct conf_program	*p;

	for (size_t i = 0; i < g->conf->nprograms; i++) {
		p = &g->conf->programs[i];
		if (p->manager == number)
			program_stats_share(g->program_stats, i,
			    serving->program_stats, find_place(serving->conf,
			    old_number, p->place));
	}
}

/* Gives a generation the manager of the one that serves, and a descriptor of
 * its own, as it leaves by itself.  Returns false if no manager of that depends
 * on the same. */
static bool
share_manager(struct generation *g, size_t number, const struct buf *conf)
{
	const struct generation	*serving = generations.serving;
	struct program_manager	*m = NULL;
	size_t			 i;

	for (i = 0; i < serving->conf->nmanagers; i++) {
		m = serving->managers[i];
		if (m != NULL && serving->manager_sockets[i] != -1 &&
		    is_same(&m->conf, conf))
			break;
	}
	if (i == serving->conf->nmanagers)
		return false;
	m->ngenerations++;
	g->managers[number] = m;
	share_stats(g, number, i);
	g->manager_sockets[number] = fcntl(serving->manager_sockets[i],
	    F_DUPFD_CLOEXEC, 3);
	if (g->manager_sockets[number] == -1)
		log_error("cannot share the socket of a program manager: "
		    "requests for programs fail until a reload");
	return true;
}

/* Takes what depends on the conf. */
static void
add_manager(struct generation *g, size_t number, const struct buf *conf,
    const struct user *user)
{
	struct program_manager	*m = mem_zero(sizeof(*m));
	int			 ends[2];

	m->conf = *conf;
	m->user = *user;
	m->ngenerations = 1;
	m->socket = -1;
	g->managers[number] = m;
	if (io_record_pipe(ends) == -1) {
		log_error("cannot make a socket for a program manager: "
		    "requests for programs fail until a reload");
		return;
	}
	g->manager_sockets[number] = ends[0];
	m->socket = ends[1];
	start_manager(m);
}

static void
open_manager(struct generation *g, size_t number)
{
	struct user	 user;
	const struct user *its = &g->user;
	struct buf	 conf = { 0 };

	if (find_user(&user, g, number) == -1)
		return;
	if (user.name != NULL) {
		user_load_groups(&user);
		its = &user;
	}
	describe(g, number, its, &conf);
	if (!share_manager(g, number, &conf)) {
		add_manager(g, number, &conf, &user);
		return;
	}
	log_info("a reload leaves program manager %ld as it is",
	    (long)(g->managers[number]->child != NULL ?
	    g->managers[number]->child->pid : 0));
	buf_free(&conf);
	user_free(&user);
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

static struct chain_stats *
make_chain_stats(const struct conf *conf)
{
	const char		**names = mem_array(conf->nchains + 1,
				    sizeof(*names));
	struct chain_stats	 *made;

	for (size_t i = 0; i < conf->nchains; i++)
		names[i] = conf->chains[i].name;
	made = chain_stats_new(names, conf->nchains);
	free(names);
	return made;
}

void
program_managers_start(struct generation *g)
{
	if (g->conf->nprograms == 0)
		return;
	g->program_stats = make_stats(g->conf);
	if (g->conf->nchains > 0)
		g->chain_stats = make_chain_stats(g->conf);
	if (g->user.groups == NULL)
		user_load_groups(&g->user);
	for (size_t i = 0; i < g->conf->nmanagers; i++)
		open_manager(g, i);
}

static void
serve_parent(struct generation *g, void *manager, int pipe)
{
	(void)pipe;
	generation_close_managers(g);
	serve_programs(g, manager);
}

static const struct child_kind	lent_kind = {
	.become = become_manager, .run = serve_parent
};

static void
lend_manager(struct generation *g, size_t number)
{
	struct program_manager	m = { .socket = -1 };
	int			ends[2];

	if (find_user(&m.user, g, number) == -1 || io_record_pipe(ends) == -1)
		return;
	if (m.user.name != NULL)
		user_load_groups(&m.user);
	g->manager_sockets[number] = ends[0];
	m.socket = ends[1];
	g->managers[number] = &m;
	child_lend(&lent_kind, g, &m);
	g->managers[number] = NULL;
	io_close(&m.socket);
	user_free(&m.user);
}

int *
program_managers_lend(struct generation *g)
{
	size_t	 n = g->conf->nmanagers;
	int	*sockets = mem_array(n + 1, sizeof(*sockets));

	if (g->user.groups == NULL)
		user_load_groups(&g->user);
	for (size_t i = 0; i < n; i++)
		lend_manager(g, i);
	for (size_t i = 0; i < n; i++) {
		sockets[i] = g->manager_sockets[i];
		g->manager_sockets[i] = -1;
	}
	return sockets;
}

void
program_managers_release(struct generation *g)
{
	struct program_manager	*m;

	generation_close_managers(g);
	for (size_t i = 0; i < g->conf->nmanagers; i++) {
		m = g->managers[i];
		g->managers[i] = NULL;
		if (m != NULL && --m->ngenerations == 0)
			free_manager(m);
	}
}

/* Whether a server that root has not started can have a program's user. */
static bool
may_become(const struct conf_program *p, const char *own)
{
	return p->user == NULL || (p->group == NULL && own != NULL &&
	    strcmp(p->user, own) == 0);
}

int
program_managers_check(const struct conf *conf)
{
	const struct conf_program	*p;
	struct user			 own = { 0 };
	int				 done = 0;

	(void)user_find_uid(&own, geteuid());
	for (size_t i = 0; i < conf->nprograms; i++) {
		p = &conf->programs[i];
		if (geteuid() != 0 && !may_become(p, own.name)) {
			log_errorx("program %s has a user of its own, which "
			    "only a server that root starts can give it: start "
			    "as root, or leave \"user\" out", p->name);
			done = -1;
		}
		if (p->confine == CONFINEMENT_FILES &&
		    landlock_version() == 0) {
			log_errorx("program %s has \"confine files\", but "
			    "there is no Landlock here: say confine basic to "
			    "do without", p->name);
			done = -1;
		}
	}
	user_free(&own);
	return done;
}

static void
end_managers(void)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link) {
		for (size_t i = 0; i < g->conf->nmanagers; i++)
			if (g->managers[i] != NULL)
				events_unset(&g->managers[i]->restart);
		generation_close_managers(g);
	}
}

/* The sockets of mains are the generations'. */
static void
close_sockets(void)
{
	struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link)
		for (size_t i = 0; i < g->conf->nmanagers; i++)
			if (g->managers[i] != NULL &&
			    g->managers[i] != starting)
				io_close(&g->managers[i]->socket);
}

const struct component	program_managers_component = {
	.stop = end_managers, .leave = close_sockets
};
