/*
 * divide: the number of workers, and each main's share of the limits.
 */
#ifndef CONF_DIVIDE_H
#define CONF_DIVIDE_H

#include <stdint.h>

struct conf;

/* Values of conf.workers and conf.workers_max that are no numbers: one for each
 * processor that the server may use; no more than "workers" says. */
#define CONF_WORKERS_AUTO	0
#define CONF_WORKERS_FIXED	(-1)

/* How many workers there are, and how many there may be; at least 1. */
unsigned	conf_workers(const struct conf *);
unsigned	conf_workers_max(const struct conf *);
/* Sets workers to n, but at most to limits.connections, if the conf has no
 * "workers". */
void		conf_workers_default(struct conf *, unsigned n);
/* In a main: sets the server-wide limits of its own conf to its share of those
 * of the whole server's, which has been copied.  Mains are numbered from 0
 * on. */
void		conf_divide(struct conf *own, const struct conf *whole,
		    unsigned number, unsigned mains);
/* The share of one main in a number; at least min. */
int64_t		conf_divide_number(int64_t all, unsigned number, unsigned mains,
		    int64_t min);

#endif
