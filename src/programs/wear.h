/*
 * wear: how many requests a process that stays has, and how old it becomes.
 */
#ifndef PROGRAMS_WEAR_H
#define PROGRAMS_WEAR_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct conf_program;

/* The limits for a process of the program; ms; 0: none. */
int64_t	wear_requests(const struct conf_program *, pid_t);
int64_t	wear_life(const struct conf_program *, pid_t);
/* Whether a process that has answered so many requests in so many ms must have
 * no further one. */
bool	wear_is_over(const struct conf_program *, pid_t, int64_t nanswered,
	    int64_t age);

#endif
