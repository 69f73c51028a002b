/*
 * divide: the number of workers, and each main's share of the limits.
 */
#ifndef CONF_DIVIDE_H
#define CONF_DIVIDE_H

#include <stdint.h>

struct conf;

/* At least 1; "workers auto" is one for each processor. */
unsigned	conf_workers(const struct conf *);
/* Sets workers to n, but at most to limits.connections, if the conf has no
 * "workers". */
void		conf_workers_default(struct conf *, unsigned n);
/* Divides the server-wide limits among mains; to be called once in each main,
 * with its number from 0 on. */
void		conf_divide(struct conf *, unsigned number, unsigned mains);
/* The share of one main in a number; at least min. */
int64_t		conf_divide_number(int64_t all, unsigned number, unsigned mains,
		    int64_t min);

#endif
