/*
 * reign: begins and ends as a struct; what happens in it is in mains.c.
 */
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/ledger.h"
#include "arch/listener.h"
#include "arch/mounts.h"
#include "board.h"
#include "conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "reign.h"

struct reign *
reign_new(struct conf *conf)
{
	static unsigned	 last;
	struct reign	*r = mem_zero(sizeof(*r));

	r->number = ++last;
	r->conf = conf;
	r->access = r->error = -1;
	r->control = -1;
	r->part = BOARD_NONE;
	return r;
}

int
reign_choose_user(struct reign *r)
{
	struct passwd	*pw;

	if (geteuid() != 0 || r->conf->user == NULL)
		return 0;
	pw = getpwnam(r->conf->user);
	if (pw == NULL) {
		log_errorx("there is no user %s: name another one in the conf "
		    "(user)", r->conf->user);
		return -1;
	}
	r->user = mem_string(pw->pw_name);
	r->uid = pw->pw_uid;
	r->gid = pw->pw_gid;
	return 0;
}

static void
look_at_root(const struct reign *r, const struct conf_rules *rules)
{
	const char	*dir = rules->alias != NULL ? rules->alias :
			    rules->root;

	if (dir == NULL || access(dir, X_OK) == 0)
		return;
	log_warn("%s%s may not enter %s, or a directory above it: what is "
	    "there will be refused (403) until its mode or owner is changed",
	    r->user != NULL ? "user " : "this user", r->user != NULL ? r->user :
	    "", dir);
}

static void
look_at_roots(const void *reign)
{
	const struct reign	*r = reign;
	const struct conf_site	*site;

	for (size_t i = 0; i < r->conf->nsites; i++) {
		site = &r->conf->sites[i];
		look_at_root(r, &site->rules);
		for (size_t k = 0; k < site->nplaces; k++)
			look_at_root(r, &site->places[k].rules);
	}
}

void
reign_look_at_roots(const struct reign *r)
{
	proc_as(r->user, r->uid, r->gid, look_at_roots, r);
}

void
reign_close_doors(struct reign *r)
{
	if (r->listeners != NULL)
		listener_close(&r->listeners, r->nlisteners);
	r->nlisteners = 0;
}

void
reign_leave(struct reign *r)
{
	reign_close_doors(r);
	io_close(&r->control);
	io_close(&r->access);
	io_close(&r->error);
}

void
reign_free(struct reign **rp)
{
	struct reign	*r = *rp;

	reign_leave(r);
	if (r->mounts != NULL)
		mounts_free(&r->mounts);
	if (r->ledger != NULL)
		ledger_free(&r->ledger);
	board_give(r->part);
	conf_free(&r->conf);
	mem_drop(&r->user);
	mem_drop(rp);
}
