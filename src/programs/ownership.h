/*
 * ownership: whether only a program's user can have written it, as suEXEC of
 * Apache httpd asks.
 */
#ifndef PROGRAMS_OWNERSHIP_H
#define PROGRAMS_OWNERSHIP_H

/* Whether this process's user, or root, has a file and its directory, nobody
 * else may write to them, and the file gives no other user or group by being
 * executed.  0; or -1 with errno, EACCES after a line to errors, a pipe.  May
 * block. */
int	ownership_check(const char *file, int errors);

#endif
