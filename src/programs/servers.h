/*
 * servers: programs that others have started, each with an address where it
 * listens (FastCGI 1.0, SCGI).
 */
#ifndef PROGRAMS_SERVERS_H
#define PROGRAMS_SERVERS_H

#include "programs/admission.h"

extern const struct admission_kind	servers_kind;

#endif
