/*
 * variables: the environment of a program, from what main says and what the
 * conf says.  Pure.
 *
 * Main may have been taken over, so its word is not enough: a variable such as
 * LD_PRELOAD would run other code, and a name outside of the conf's directories
 * would run other scripts.
 */
#ifndef PROGRAMS_VARIABLES_H
#define PROGRAMS_VARIABLES_H

#include "conf/conf.h"
#include "lib/str.h"

/*
 * Returns texts NAME=VALUE and behind them NULL, for variables_free(): those of
 * the conf, then main's with a name of RFC 3875, section 4.1, of an extension
 * that amped has, or with HTTP_, AUTH_ or REMOTE_ in front.  HTTP_PROXY, which
 * libraries take for a setting, and texts of other names are left out.  Of
 * several texts of one name the first stays.  script: the file of a program
 * with a directory, or NULL.
 *
 * NULL with errno: EBADMSG, the texts are malformed; EACCES, a file is outside
 * of the program's directories (conf_program_each_directory()).
 */
char	**variables_make(const struct conf *, const struct conf_program *,
	    struct str texts, const char *script);
/* The value of a variable; NULL: there is none. */
const char *variables_get(char *const *, const char *name);
void	variables_free(char ***);

#endif
