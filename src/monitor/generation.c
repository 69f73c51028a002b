/*
 * generation: makes and frees the struct; workers.c has its life.
 */
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"
#include "conf/conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "monitor/monitor.h"
#include "monitor/socket_files.h"
#include "shared/accept_token.h"
#include "shared/addresses_conf.h"
#include "shared/helper_slots.h"
#include "shared/listener.h"
#include "shared/mounts.h"
#include "stats/chain_stats.h"
#include "stats/program_stats.h"
#include "stats/scoreboard.h"

struct generations	generations = {
	.list = TAILQ_HEAD_INITIALIZER(generations.list)
};

struct conf *
generation_read_conf(struct buf *errors)
{
	struct conf	*conf = conf_read_again(prepared.conf_file, errors);

	if (conf == NULL)
		return NULL;
	arch_choose(conf, prepared.architecture);
	if (!arch_check(conf, errors))
		conf_free(&conf);
	return conf;
}

/* Returns how many mains a generation begins with: as many as serve now, within
 * what its conf allows. */
static unsigned
count_wanted(const struct conf *conf)
{
	const struct generation	*now = generations.serving;
	unsigned		 least = arch_mains_least(conf);
	unsigned		 most = arch_mains(conf);
	unsigned		 n = now == NULL || least == most ? least :
				    now->nwanted;

	return n < least ? least : n > most ? most : n;
}

/* Beside the most mains at a time, there are places for those that drain. */
static void
make_workers(struct generation *g)
{
	unsigned	least = arch_mains_least(g->conf);
	unsigned	most = arch_mains(g->conf);

	g->nwanted = count_wanted(g->conf);
	g->nworkers = most + (most - least);
	g->workers = mem_array(g->nworkers, sizeof(g->workers[0]));
	for (unsigned i = 0; i < g->nworkers; i++)
		g->workers[i] = (struct worker){ .generation = g, .number = i,
		    .wanted = i < g->nwanted, .channel.fd = -1,
		    .hot_list.file = -1, .stats_slot = SCOREBOARD_NONE };
}

struct generation *
generation_new(struct conf *conf)
{
	static unsigned		 last;
	struct generation	*g = mem_zero(sizeof(*g));

	g->number = ++last;
	g->conf = conf;
	g->error_log = -1;
	g->naccess_logs = conf->log.all.ntargets;
	g->access_logs = mem_array(g->naccess_logs + 1, sizeof(int));
	for (size_t i = 0; i < g->naccess_logs; i++)
		g->access_logs[i] = -1;
	g->rules = -1;
	g->managers = mem_array(conf->nmanagers + 1, sizeof(*g->managers));
	g->manager_sockets = mem_array(conf->nmanagers + 1, sizeof(int));
	for (size_t i = 0; i < conf->nmanagers; i++)
		g->manager_sockets[i] = -1;
	make_workers(g);
	return g;
}

int
generation_choose_user(struct generation *g)
{
	if (geteuid() != 0 || g->conf->user == NULL)
		return 0;
	if (user_find_name(&g->user, g->conf->user))
		return 0;
	log_errorx("there is no user %s: name another one in the conf (user)",
	    g->conf->user);
	return -1;
}

void
generation_close_listeners(struct generation *g)
{
	if (g->listeners != NULL)
		listener_close(&g->listeners, g->nlisteners);
	g->nlisteners = 0;
}

void
generation_close_managers(struct generation *g)
{
	for (size_t i = 0; i < g->conf->nmanagers; i++)
		io_close(&g->manager_sockets[i]);
}

void
generation_close_logs(struct generation *g)
{
	for (size_t i = 0; i < g->naccess_logs; i++)
		io_close(&g->access_logs[i]);
}

void
generation_notify(const char *words)
{
	const struct generation	*g = generations.serving;
	size_t			 sites = g->conf->nsites;
	char			 url[128] = "nowhere";

	if (g->nlisteners > 0)
		listener_url(&g->listeners[0], url, sizeof(url));
	sd_notify_send(&prepared.notify, "READY=1\nSTATUS=%s%zu site%s on "
	    "%s%s", words, sites, sites == 1 ? "" : "s", url,
	    g->nlisteners > 1 ? " and others" : "");
}

void
generation_close(struct generation *g)
{
	generation_close_listeners(g);
	generation_close_logs(g);
	io_close(&g->error_log);
	io_close(&g->rules);
	generation_close_managers(g);
	if (g->mounts != NULL)
		mounts_free(&g->mounts);
	accept_token_free(&g->accept_token);
}

void
generation_free(struct generation **gp)
{
	struct generation	*g = *gp;

	socket_files_drop(g);
	generation_close(g);
	for (unsigned i = 0; i < g->nworkers; i++) {
		events_unset(&g->workers[i].timer);
		events_unset(&g->workers[i].watchdog.timer);
		events_close(&g->workers[i].channel);
		io_close(&g->workers[i].hot_list.file);
		if (g->workers[i].helper_slots != NULL)
			helper_slots_free(&g->workers[i].helper_slots);
		scoreboard_free(g->workers[i].stats_slot,
		    arch_threads(g->conf));
	}
	program_stats_free(&g->program_stats);
	chain_stats_free(&g->chain_stats);
	addresses_free(&g->addresses);
	addresses_conf_free(g->conf, &g->limiters);
	mem_drop(&g->workers);
	mem_drop(&g->access_logs);
	mem_drop(&g->managers);
	mem_drop(&g->manager_sockets);
	conf_free(&g->conf);
	user_free(&g->user);
	mem_drop(gp);
}
