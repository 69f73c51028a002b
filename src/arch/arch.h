/*
 * arch: an architecture is a choice of who satisfies a wait; one small file
 * each, one row of the conf's table of names.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stddef.h>

#include "conf.h"

struct listener {
	int	fd;			/* listening, non-blocking */
	size_t	number;			/* the conf's listener */
};

/* What main is born with; all of it the monitor's to make. */
struct world {
	const struct conf	*conf;		/* with its share of that */
	int			 control;	/* stream pipe to the monitor */
	struct listener		*listeners;
	size_t			 nlisteners;
	size_t			 descriptors;	/* that may be open at once */
	int			 rules;		/* for who opens files here;
						 * -1: none */
	struct mounts		*mounts;
	struct ledger		*ledger;
	struct addresses	*addresses;	/* NULL: no limits */
	unsigned		 worker, workers;	/* which, of how many */
	const struct leftover	*leftovers;	/* of earlier mains */
	size_t			 nleftovers;
	int64_t			 beat;		/* ms between signs of life;
						 * 0: nobody looks */
};

struct arch {
	const char	*name;		/* as in the conf */
	const char	*help;
	int		(*run)(const struct world *);	/* exit status */
};

extern const struct arch	arch_amped, arch_sped;

const struct arch	*arch_of(const struct conf *);

#endif
