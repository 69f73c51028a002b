/*
 * programs: the driver of programs in a scenario: each start is kept until the
 * scenario has said what the program writes and how it ends.
 */
#ifndef T_SCRIPT_PROGRAMS_H
#define T_SCRIPT_PROGRAMS_H

#include <stddef.h>

#include "backend.h"

/* The functions of the driver. */
extern const struct backends	programs_driver;

/* A line of the scenario about the oldest program that has not ended: its
 * words behind "program". */
void	programs_run_line(char **words, size_t n);
/* Frees the programs that have not been ended; returns how many there are. */
size_t	programs_free(void);

#endif
