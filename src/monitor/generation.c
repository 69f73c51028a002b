/*
 * generation: begins and ends as a struct; what happens in it is in workers.c.
 */
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"
#include "conf/conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "monitor/generation.h"
#include "shared/accept_token.h"
#include "shared/addresses_conf.h"
#include "shared/helper_slots.h"
#include "shared/listener.h"
#include "shared/mounts.h"
#include "stats/scoreboard.h"

struct reign *
reign_new(struct conf *conf)
{
	static unsigned	 last;
	struct reign	*r = mem_zero(sizeof(*r));

	r->number = ++last;
	r->conf = conf;
	r->access = r->error = -1;
	r->rules = -1;
	r->nworkers = arch_mains(conf);
	r->workers = mem_array(r->nworkers, sizeof(r->workers[0]));
	for (unsigned i = 0; i < r->nworkers; i++)
		r->workers[i] = (struct worker){ .reign = r, .number = i,
		    .control = -1, .part = BOARD_NONE };
	return r;
}

int
reign_choose_user(struct reign *r)
{
	if (geteuid() != 0 || r->conf->user == NULL)
		return 0;
	if (user_named(&r->user, r->conf->user))
		return 0;
	log_errorx("there is no user %s: name another one in the conf (user)",
	    r->conf->user);
	return -1;
}

void
reign_close_doors(struct reign *r)
{
	if (r->listeners != NULL)
		listener_close(&r->listeners, r->nlisteners);
	r->nlisteners = 0;
}

unsigned
reign_mains(const struct reign *r)
{
	unsigned	n = 0;

	for (unsigned i = 0; i < r->nworkers; i++)
		n += r->workers[i].main != 0;
	return n;
}

bool
reign_serves(const struct reign *r)
{
	for (unsigned i = 0; i < r->nworkers; i++)
		if (!r->workers[i].ready)
			return false;
	return true;
}

void
reign_leave_mains(struct reign *r)
{
	for (unsigned i = 0; i < r->nworkers; i++)
		io_close(&r->workers[i].control);
}

void
reign_leave(struct reign *r)
{
	reign_close_doors(r);
	reign_leave_mains(r);
	io_close(&r->access);
	io_close(&r->error);
	io_close(&r->rules);
	if (r->mounts != NULL)
		mounts_free(&r->mounts);
	turns_free(&r->turns);
}

void
reign_free(struct reign **rp)
{
	struct reign	*r = *rp;

	reign_leave(r);
	for (unsigned i = 0; i < r->nworkers; i++) {
		if (r->workers[i].helper_slots != NULL)
			helper_slots_free(&r->workers[i].helper_slots);
		board_give(r->workers[i].part,
		    arch_threads(r->conf));
	}
	crowd_free(&r->addresses);
	mem_drop(&r->workers);
	conf_free(&r->conf);
	user_free(&r->user);
	mem_drop(rp);
}
