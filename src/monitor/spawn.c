/*
 * spawn: forks the monitor's children: which descriptors each keeps open, which
 * privileges it keeps, and how it executes amped-helper.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "conf/conf.h"
#include "helpers/fds.h"
#include "lib/facility.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "lib/user.h"
#include "monitor/error_pipe.h"
#include "monitor/events.h"
#include "monitor/generation.h"
#include "monitor/logs.h"
#include "monitor/spawn.h"

#define FIRST_FREE_FD	16	/* helpers get numbers below it */

extern char	**environ;

static int	program;
static void	(*leave_all)(void);

void
spawn_init(int helper, void (*leave)(void))
{
	program = helper;
	leave_all = leave;
}

void
spawn_reopen_log(int *log, const char *name)
{
	char	title[64];
	int	fd;

	/* The open may block for as long as the file system does, even when the
	 * monitor has gone.  So the process sets its title before. */
	snprintf(title, sizeof(title), "amped: %s", name);
	proc_title(title);
	if (*log == -1)
		return;
	fd = io_reopen(*log, O_WRONLY | O_APPEND);
	if (fd == -1)
		fatal("cannot open the %s again", name);
	close(*log);
	*log = fd;
}

static void
drop_privileges(const struct user *user)
{
	proc_drop_bounding_set();
	if (user_become(user) == -1)
		fatal("cannot become user %s; start as root, or as that user",
		    user->name);
	if (proc_drop_capabilities() == -1)
		fatal("cannot give capabilities up");
}

/* Drops privileges, and closes what the child does not need: a child that a
 * file system blocks for ever must not keep it open. */
static void
become_child(const struct child_kind *kind, struct generation *g, pid_t parent)
{
	struct generation	*other;

	proc_signals_reset();
	if (kind->monitorial)
		return;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* A terminal sends its signals to all; the monitor alone acts. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	TAILQ_FOREACH(other, &generations.list, link)
		if (other != g || !kind->generational)
			generation_close(other);
	leave_all();
	events_leave();
	if (!kind->lasting)
		proc_die_with_parent(parent);
	if (kind->prepare != NULL)
		kind->prepare(g);
	if (!kind->privileged)
		drop_privileges(&g->user);
	proc_no_new_privileges();
	/* Once more: another user resets it. */
	if (!kind->lasting)
		proc_die_with_parent(parent);
}

pid_t
spawn(const struct child_kind *kind, struct generation *g, int *pipe,
    void (*died)(void *, const struct child *), void *context)
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
		become_child(kind, g, parent);
		return 0;
	}
	proc_signals_unblock();
	close(fds[1]);
	*pipe = fds[0];
	if (pid == -1)
		io_close(pipe);
	else
		children_add(pid, kind, died, context);
	return pid;
}

void
spawn_close_helper(void)
{
	io_close(&program);
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
place_fds(enum helper_role role, int log)
{
	int	lines = move_fd_up(error_pipe.lines[0]);
	int	drops = move_fd_up(error_pipe.drops[role != HELPER_ERROR_LOG]);

	log = move_fd_up(log != -1 ? log :
	    open("/dev/null", O_WRONLY | O_CLOEXEC));
	place_fd(drops, FD_DROPS);
	if (role == HELPER_ACCESS_LOG)
		place_fd(log, FD_LOGS);
	if (role == HELPER_ERROR_LOG) {
		place_fd(lines, FD_LINES);
		place_fd(log, STDERR_FILENO);
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
choose_syscalls(const struct conf *conf, enum helper_role role)
{
	const struct conf_log	*log = role == HELPER_ERROR_LOG ?
				    &conf->log.error : &conf->log.access;
	bool			 syslog = logs_target(log->to) == LOGS_SYSLOG;

	if (role == HELPER_JOBS)
		return conf_find_users(conf) ? "files,users" : "files";
	if (role == HELPER_ACCESS_LOG && conf->log.names)
		return syslog ? "log,names,syslog" : "log,names";
	return syslog ? "log,syslog" : "log";
}

static void
add_sandbox_arguments(const struct conf *conf, enum helper_role role, char **to)
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
choose_arguments(const struct conf *conf, enum helper_role role,
    char *to[ARGUMENTS_MAX])
{
	static char	name[] = "amped-helper", l[] = "-l", one[] = "1",
			    e[] = "-e", n[] = "-n";

	*to++ = name;
	if (role == HELPER_ERROR_LOG) {
		*to++ = e;
		to = add_syslog_arguments(&conf->log.error, to);
	} else if (role == HELPER_ACCESS_LOG) {
		*to++ = l;
		*to++ = one;
		if (conf->log.names)
			*to++ = n;
		to = add_syslog_arguments(&conf->log.access, to);
	}
	add_sandbox_arguments(conf, role, to);
}

_Noreturn void
spawn_helper(const struct generation *g, enum helper_role role, int pipe,
    int log)
{
	char	*arguments[ARGUMENTS_MAX] = { NULL };
	int	 to_execute = move_fd_up(program);
	int	 rules = role == HELPER_JOBS && g->rules != -1 ?
		    move_fd_up(g->rules) : -1;

	choose_arguments(g->conf, role, arguments);
	pipe = move_fd_up(pipe);
	place_fds(role, log);
	if (rules != -1)
		place_fd(rules, FD_RULES);
	place_fd(pipe, STDIN_FILENO);
	proc_signals_unblock();
	fexecve(to_execute, arguments, environ);
	fatal("cannot start amped-helper; what is installed must be all of "
	    "one version");
}
