/*
 * needs_programs: looks at sockets, owners and interpreters of programs.
 */
#include <sys/stat.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "admin/needs.h"
#include "lib/log.h"
#include "lib/user.h"

#define UNIX	"unix:"		/* begins the name of a socket */

/* Commands that read a script from standard input if they are given none. */
static const char *const	interpreters[] = {
	"ash", "bash", "dash", "ksh", "lua", "node", "perl", "php", "python",
	"python3", "ruby", "sh", "tclsh", "zsh"
};

/* A server may start later, so this is no error. */
static void
check_server(const struct conf_program *p, const char *server)
{
	const char	*name = server + strlen(UNIX);
	struct stat	 st;

	if (strncmp(server, UNIX, strlen(UNIX)) != 0)
		return;
	if (stat(name, &st) == -1)
		log_warn("program %s: %s: requests get 502 until its server "
		    "is started", p->name, server);
	else if (!S_ISSOCK(st.st_mode))
		log_warnx("program %s: %s is no socket: requests get 502",
		    p->name, server);
	else if (access(name, W_OK) == -1)
		log_warn("program %s: %s: the server's user may not connect, "
		    "and requests get 502: change owner, group or mode of the "
		    "socket (PHP-FPM: listen.owner, listen.group)", p->name,
		    server);
}

static const char *
get_base(const char *file)
{
	const char	*slash = strrchr(file, '/');

	return slash != NULL ? slash + 1 : file;
}

static bool
is_interpreter(const char *file)
{
	for (size_t i = 0;
	    i < sizeof(interpreters) / sizeof(interpreters[0]); i++)
		if (strcmp(get_base(file), interpreters[i]) == 0)
			return true;
	return false;
}

/* Whether rules run a program for each path, so that it gets no script. */
static bool
is_run_for_all(const struct conf_rules *rules, const struct conf_program *p)
{
	const struct conf_program	*all = conf_program_of_all(rules);

	return all != NULL && all->number == p->number;
}

static void
check_interpreter(const struct conf *conf, const struct conf_program *p)
{
	const struct conf_site	*site;
	bool			 found = false;

	if (p->is_filter || p->protocol != CONF_CGI || p->command.n != 1 ||
	    !is_interpreter(p->command.at[0]))
		return;
	for (size_t i = 0; i < conf->nsites && !found; i++) {
		site = &conf->sites[i];
		found = is_run_for_all(&site->rules, p);
		for (size_t k = 0; k < site->npaths && !found; k++)
			found = is_run_for_all(&site->paths[k].rules, p);
	}
	if (found)
		log_warnx("program %s: %s is given no script, and executes the "
		    "bodies of requests: write \"run %s for\" and a pattern of "
		    "names, or the script behind the command", p->name,
		    p->command.at[0], p->name);
}

/* As the program manager looks at it before each start. */
static void
check_owner(const struct conf_program *p)
{
	const char	*file;
	struct user	 user;
	struct stat	 st;

	if (p->user == NULL || p->command.n == 0 ||
	    !user_find_name(&user, p->user))
		return;
	file = p->command.at[0];
	if (stat(file, &st) == 0 && ((st.st_uid != 0 &&
	    st.st_uid != user.uid) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) != 0))
		log_warnx("program %s: %s is not executed: it must belong to "
		    "%s or root, and be writable for its owner alone", p->name,
		    file, p->user);
	user_free(&user);
}

void
needs_programs_check(const struct conf *conf)
{
	const struct conf_program	*p = conf->programs;

	for (size_t i = 0; i < conf->nprograms; i++, p++) {
		for (size_t k = 0; k < p->servers.n; k++)
			check_server(p, p->servers.at[k]);
		check_interpreter(conf, p);
		check_owner(p);
	}
}
