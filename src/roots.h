/*
 * roots: whether those who look for files may enter the directories that the
 * conf names.
 */
#ifndef ROOTS_H
#define ROOTS_H

struct reign;

/* A line for each directory that is in the way.  It looks at them, as the
 * reading of the conf did, and so may wait. */
void	roots_check(const struct reign *);

#endif
