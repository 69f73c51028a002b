/*
 * main_env: what main is born with; all of it the monitor's to make.
 */
#ifndef SHARED_MAIN_ENV_H
#define SHARED_MAIN_ENV_H

#include <stddef.h>
#include <stdint.h>

struct addresses;
struct conf;
struct helper_slots;
struct orphan;
struct listener;
struct mounts;
struct accept_token;

struct main_env {
	const struct conf	*conf;		/* with its share of that */
	int			 channel;	/* stream pipe to the monitor */
	struct listener		*listeners;
	size_t			 nlisteners;
	size_t			 descriptors;	/* that may be open at once */
	int			 rules;		/* for who opens files here;
						 * -1: none */
	struct mounts		*mounts;
	struct helper_slots		*helper_slots;
	struct addresses	*addresses;	/* NULL: no limits */
	struct accept_token		*accept_token;		/* of mains with one client
						 * each; NULL: they have more,
						 * or there is one main */
	unsigned		 main, mains;	/* which, of how many */
	unsigned		 workers;	/* in this one: threads ... */
	const struct orphan	*orphans;	/* of earlier mains */
	size_t			 norphans;
	int64_t			 alive_interval;		/* ms between signs of life;
						 * 0: nobody looks */
};

#endif
