/*
 * divide: how many workers a conf wants, and what each of several mains
 * has of what the conf gives to the server.
 */
#ifndef CONF_DIVIDE_H
#define CONF_DIVIDE_H

#include <stdint.h>

struct conf;

unsigned	conf_workers(const struct conf *);	/* from 1 */
/* So many, or as many as may connect, if the conf does not say how many. */
void		conf_workers_default(struct conf *, unsigned);
/* What is for all mains becomes what one of so many has. */
void		conf_divide(struct conf *, unsigned number, unsigned of);
/* The same of one number; none has less than the least. */
int64_t		conf_divide_number(int64_t all, unsigned number, unsigned of,
		    int64_t least);

#endif
