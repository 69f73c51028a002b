/*
 * needs: what a server needs to start and to serve, beside a conf without
 * errors.
 */
#ifndef ADMIN_NEEDS_H
#define ADMIN_NEEDS_H

#include <stdbool.h>

#include "conf/conf.h"

/*
 * Logs a warning for user root, each password file that keeps users out, each
 * page that cannot be had, sockets of one statement that differ, and a
 * directory for variants, bodies or the hot list that cannot be written to.
 * Also does what needs_programs_check() does.  Runs in a process of its own,
 * with the rights of the helpers, as it looks at files and runs requests for
 * the pages.
 */
void	needs_check_serving(const struct conf *);
/* Logs a warning for each socket of a program's server that is not there, or
 * closed to the server's user; each interpreter that would execute the bodies
 * of requests; and each program that its manager would not execute for its own
 * user. */
void	needs_programs_check(const struct conf *);
/*
 * Logs a warning for each directory, program and server of the conf that the
 * unit amped.service of systemd, with its drop-ins, keeps from working, with
 * the directive of the unit.  root is in front of the directories of units: ""
 * but in tests.  Nothing happens unless systemd runs and such a unit starts
 * amped with that conf file.  May block on a disk.
 */
void	needs_unit_check(const struct conf *, const char *file,
	    const char *root);
/* If the pid file or the control socket cannot be made with the rights of this
 * process, logs an error and returns false.  Logs a warning if the conf does
 * not say by which field proxies name clients. */
bool	needs_check_start(const struct conf *);

#endif
