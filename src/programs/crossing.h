/*
 * crossing: finds requests that would wait for each other's places for ever.
 *
 * An answer that passes through filters keeps the places that it has while it
 * waits for the next one.  Its invocations, and that of the program that
 * answers, have one group.  Places of another program manager are not seen.
 */
#ifndef PROGRAMS_CROSSING_H
#define PROGRAMS_CROSSING_H

#include "programs/admission.h"

/* A program for which a request waits that has a place of the invocation's
 * program, if no request in that circle can go on before another one of them
 * does; else NULL.  To be asked about an invocation that begins to wait: as
 * long as none waits that closes a circle, there is no circle. */
const struct conf_program	*crossing_find(const struct invocation *);

#endif
