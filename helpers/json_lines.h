/*
 * json_lines: lines of the error log as objects of JSON, one a line.  Pure.
 */
#ifndef HELPERS_JSON_LINES_H
#define HELPERS_JSON_LINES_H

#include "lib/buf.h"
#include "lib/str.h"

/* Adds each line as an object with time, process, pid, level and message; one
 * in another form, as of a library, has the message alone.  The lines have no
 * control characters, and are UTF-8. */
void	json_lines_add(struct buf *, struct str lines);

#endif
