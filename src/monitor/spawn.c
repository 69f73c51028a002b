/*
 * spawn: forks the monitor's children: which descriptors each keeps open, which
 * privileges it keeps, and how it executes another program.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/conf.h"
#include "helpers/fds.h"
#include "lib/facility.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "lib/user.h"
#include "monitor/private.h"

#define FIRST_FREE_FD	16	/* helpers get numbers below it */

extern char	**environ;

/* Closes all of the monitor's descriptors but one generation's: a child that a
 * file system blocks for ever must not keep them open. */
static void
close_all_but(struct monitor *m, const struct generation *but)
{
	struct generation	*g;
	struct opening		*o;

	TAILQ_FOREACH(g, &m->generations, link)
		if (g != but)
			generation_close(g);
	TAILQ_FOREACH(o, &m->openings, link)
		io_close(&o->pipe);
	io_close(&m->error_logger.pipe);
	io_close(&m->reload.pipe);
	io_close(&m->upgrade.pipe);
	io_close(&m->upgrade.old_monitor);
	io_close(&m->setup->pidfile.fd);
	io_close(&m->setup->daemon_pipe);
	io_close(&m->setup->notify.fd);
	for (size_t i = 0; i < m->setup->inherited.nsockets; i++)
		io_close(&m->setup->inherited.sockets[i]);
	control_server_close_all(m);
}

/* Opens the log, which may block for as long as its file system does, even when
 * the monitor has gone.  So the process sets its title before. */
static void
reopen_log(int *log, enum role role, pid_t parent)
{
	int	fd;

	if (role == ROLE_ACCESS_LOGGER)
		proc_die_with_parent(parent);
	proc_title(role == ROLE_ERROR_LOGGER ? "amped: error log" :
	    "amped: access log");
	if (*log == -1)
		return;
	fd = io_reopen(*log, O_WRONLY | O_APPEND);
	if (fd == -1)
		fatal("cannot open the %s again", role == ROLE_ERROR_LOGGER ?
		    "error log" : "access log");
	close(*log);
	*log = fd;
}

static void
close_others(struct monitor *m, struct generation *g, enum role role,
    pid_t parent)
{
	if (role != ROLE_LOG_PROGRAM)
		piped_log_close_all(m);
	if (role == ROLE_ERROR_LOGGER) {
		close_all_but(m, NULL);
		reopen_log(&m->setup->error_log, role, parent);
	} else if (role == ROLE_ACCESS_LOGGER) {
		close_all_but(m, g);
		generation_close_listeners(g);
		generation_close_channels(g);
		reopen_log(&g->access_log, role, parent);
	} else if (role == ROLE_MAIN) {
		close_all_but(m, g);
		/* Other mains must notice the monitor's end too. */
		generation_close_channels(g);
	} else if (role != ROLE_HELPER)
		close_all_but(m, NULL);
}

/* Whether a child opens files that the conf names with the monitor's rights. */
static bool
is_privileged(enum role role)
{
	return role == ROLE_LOG_OPENER || role == ROLE_CONF_CHECKER ||
	       role == ROLE_CONTROL_CHILD;
}

/* Drops privileges, and closes what the child does not need. */
static void
become_child(struct monitor *m, struct generation *g, enum role role,
    pid_t parent)
{
	const struct generation	*who = g != NULL ? g : m->serving;

	proc_signals_reset();
	/* The new monitor needs all that this one has. */
	if (role == ROLE_NEW_MONITOR)
		return;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* A terminal sends its signals to all; the monitor alone acts. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	monitor_close_signals();
	close_others(m, g, role, parent);
	if (!is_privileged(role))
		proc_drop_bounding_set();
	if (!is_privileged(role) && user_become(&who->user) == -1)
		fatal("cannot become user %s; start as root, or as that user",
		    who->user.name);
	if (!is_privileged(role) && proc_drop_capabilities() == -1)
		fatal("cannot give capabilities up");
	proc_no_new_privileges();
	/* Loggers end when they have written all lines. */
	if (role != ROLE_ERROR_LOGGER && role != ROLE_LOG_PROGRAM)
		proc_die_with_parent(parent);
}

pid_t
spawn(struct monitor *m, struct generation *g, enum role role, int *pipe)
{
	pid_t	pid, parent = getpid();
	int	fds[2];

	if (io_pipe(fds) == -1)
		return -1;
	proc_signals_block();
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		*pipe = fds[1];
		become_child(m, g, role, parent);
		return 0;
	}
	proc_signals_unblock();
	close(fds[1]);
	*pipe = fds[0];
	if (pid == -1)
		io_close(pipe);
	return pid;
}

/* Puts a descriptor at a number, and keeps it open over exec. */
static void
place_fd(int fd, int at)
{
	if (fd == at ? io_cloexec(fd, false) == -1 : dup2(fd, at) == -1)
		fatal("no descriptor %d for a child", at);
}

/* Copies a descriptor to a number that place_fd() does not use. */
static int
move_fd_up(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
}

/* Places the descriptors of helpers/fds.h.  Standard error is the error pipe,
 * but for the error logger, whose standard error is the log. */
static void
place_fds(const struct monitor *m, const struct generation *g, enum role role)
{
	int	log = g != NULL ? g->access_log : -1;
	int	access = move_fd_up(log != -1 ? log :
		    open("/dev/null", O_WRONLY | O_CLOEXEC));
	int	error = move_fd_up(m->setup->error_log);
	int	lines = move_fd_up(m->error_pipe.lines[0]);
	int	drops = move_fd_up(m->error_pipe.drops[
		    role != ROLE_ERROR_LOGGER]);

	place_fd(drops, FD_DROPS);
	if (role == ROLE_ACCESS_LOGGER)
		place_fd(access, FD_LOGS);
	if (role == ROLE_ERROR_LOGGER) {
		place_fd(lines, FD_LINES);
		place_fd(error, STDERR_FILENO);
	}
}

#define ARGUMENTS_MAX	10

static char **
add_syslog_arguments(const struct conf_log *log, char **to)
{
	static char	s[] = "-s", text[256];

	if (logs_target(log->to) != LOGS_SYSLOG)
		return to;
	snprintf(text, sizeof(text), "%s,%s,%s",
	    facility_name((enum facility)log->facility), log->tag,
	    logs_syslog_socket(log->to));
	*to++ = s;
	*to++ = text;
	return to;
}

/* Returns the system calls of a role, as names of lib/syscall_filter.h. */
static const char *
choose_syscalls(const struct conf *conf, enum role role)
{
	const struct conf_log	*log = role == ROLE_ERROR_LOGGER ?
				    &conf->log.error : &conf->log.access;
	bool			 syslog = logs_target(log->to) == LOGS_SYSLOG;

	if (role == ROLE_HELPER)
		return conf_find_users(conf) ? "files,users" : "files";
	if (role == ROLE_ACCESS_LOGGER && conf->log.names)
		return syslog ? "log,names,syslog" : "log,names";
	return syslog ? "log,syslog" : "log";
}

static void
add_sandbox_arguments(const struct conf *conf, enum role role, char **to)
{
	static char	c[] = "-c", required[] = "-r", calls[32];

	if (conf->sandbox == SANDBOX_OFF)
		return;
	snprintf(calls, sizeof(calls), "%s", choose_syscalls(conf, role));
	*to++ = c;
	*to++ = calls;
	if (conf->sandbox == SANDBOX_REQUIRED)
		*to = required;
}

/* Sets the arguments of amped-helper for a role. */
static void
choose_arguments(const struct monitor *m, const struct generation *g,
    enum role role, char *to[ARGUMENTS_MAX])
{
	static char		 name[] = "amped-helper", l[] = "-l",
				    one[] = "1", e[] = "-e", n[] = "-n";
	const struct conf	*conf = g != NULL ? g->conf : m->serving->conf;

	*to++ = name;
	if (role == ROLE_ERROR_LOGGER) {
		*to++ = e;
		to = add_syslog_arguments(&conf->log.error, to);
	} else if (role == ROLE_ACCESS_LOGGER) {
		*to++ = l;
		*to++ = one;
		if (conf->log.names)
			*to++ = n;
		to = add_syslog_arguments(&conf->log.access, to);
	}
	add_sandbox_arguments(conf, role, to);
}

_Noreturn void
spawn_helper(struct monitor *m, struct generation *g, int pipe, enum role role)
{
	char	*arguments[ARGUMENTS_MAX] = { NULL };
	int	 program = move_fd_up(m->setup->helper);
	int	 rules = role == ROLE_HELPER && g->rules != -1 ?
		    move_fd_up(g->rules) : -1;

	choose_arguments(m, g, role, arguments);
	pipe = move_fd_up(pipe);
	place_fds(m, g, role);
	if (rules != -1)
		place_fd(rules, FD_RULES);
	place_fd(pipe, STDIN_FILENO);
	proc_signals_unblock();
	fexecve(program, arguments, environ);
	fatal("cannot start amped-helper; what is installed must be all of "
	    "one version");
}
