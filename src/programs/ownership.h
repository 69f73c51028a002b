/*
 * ownership: whether only a program's user can have written the program, as
 * suEXEC of Apache httpd asks.
 */
#ifndef PROGRAMS_OWNERSHIP_H
#define PROGRAMS_OWNERSHIP_H

/* Whether this process's user, or root, owns a file and its directory, nobody
 * else may write to them, and executing the file gives no other user or group.
 * 0; or -1 with errno, EACCES after a line to errors, a pipe.  May block. */
int	ownership_check(const char *file, int errors);

#endif
