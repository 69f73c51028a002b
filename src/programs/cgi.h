/*
 * cgi: a process for each request (CGI/1.1, RFC 3875).
 */
#ifndef PROGRAMS_CGI_H
#define PROGRAMS_CGI_H

#include "programs/admission.h"

extern const struct admission_kind	cgi_kind;

#endif
