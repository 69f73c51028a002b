/*
 * main_env: all that the monitor gives a main at its start.
 */
#ifndef SHARED_MAIN_ENV_H
#define SHARED_MAIN_ENV_H

#include <stddef.h>
#include <stdint.h>

struct accept_token;
struct addresses;
struct conf;
struct helper_slots;
struct listener;
struct mounts;
struct orphan;

struct main_env {
	struct conf		*conf;		/* with this main's part of
						 * each limit */
	const struct conf	*whole;		/* with the whole limits */
	int			 channel;	/* to the monitor */
	struct listener		*listeners;
	size_t			 nlisteners;
	size_t			 descriptors;	/* limit of open files */
	int			 rules;		/* Landlock rules for processes
						 * that open files; -1: none */
	struct mounts		*mounts;
	struct helper_slots	*helper_slots;
	const int		*managers;	/* sockets to the program
						 * managers, by their number;
						 * -1: there is none */
	struct addresses	*addresses;	/* NULL: no limits */
	struct addresses	**limiters;	/* of conf->limiters */
	struct accept_token	*accept_token;	/* NULL: not one of several
						 * mains with one client each */
	unsigned		 main;		/* number of this main */
	unsigned		 mains;		/* how many there may be */
	unsigned		 shares;	/* among so many is divided */
	unsigned		 workers;	/* threads or pipelines in this
						 * main */
	const struct orphan	*orphans;	/* of earlier mains */
	size_t			 norphans;
	int64_t			 alive_interval; /* ms between messages to the
						 * watchdog; 0: none */
};

#endif
