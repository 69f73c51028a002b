/*
 * pool: processes of amped's own that stay, and have a connection each
 * (FastCGI 1.0, section 2).
 */
#ifndef PROGRAMS_POOL_H
#define PROGRAMS_POOL_H

#include "programs/admission.h"

extern const struct admission_kind	pool_kind;

#endif
