/*
 * unit: what every unit test program shares.  A test file defines
 * unit_tests(), which adds its tests to the case; main() is in unit.c.
 */
#ifndef T_UNIT_H
#define T_UNIT_H

#include <check.h>

void	unit_tests(TCase *);

/* A terminated printable form of bytes, for messages; good for a few calls. */
const char	*unit_show(const void *, unsigned long);

#endif
