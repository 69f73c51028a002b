/*
 * child: forks the monitor's children, and reaps them: which descriptors and
 * privileges each keeps, and how amped-helper is executed.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "conf/conf.h"
#include "helpers/fds.h"
#include "lib/clock.h"
#include "lib/facility.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "lib/user.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/generation.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"

extern char	**environ;

static TAILQ_HEAD(, child)	children = TAILQ_HEAD_INITIALIZER(children);

/*
 * The start
 */

void
child_become_user(const struct user *user, bool for_good)
{
	if (for_good)
		proc_drop_bounding_set();
	if (user_become(user) == -1)
		fatal("cannot become user %s; start as root, or as that user",
		    user->name);
	if (proc_drop_capabilities() == -1)
		fatal("cannot give capabilities up");
	if (for_good)
		proc_no_new_privileges();
}

/* Drops privileges, and closes what the child does not need: a child that a
 * file system blocks for ever must not keep it open. */
static void
become_child(const struct child_kind *kind, struct generation *g,
    void *context, pid_t parent)
{
	/* A terminal sends its signals to all; the monitor alone acts. */
	static const int	 ignored[] = { SIGPIPE, SIGXFSZ, SIGINT, SIGHUP,
				    SIGUSR1, SIGUSR2 };
	struct generation	*other;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	TAILQ_FOREACH(other, &generations.list, link)
		if (other != g || !kind->generational)
			generation_close(other);
	COMPONENTS_TELL(leave, ());
	events_leave();
	if (!kind->lasting)
		proc_die_with_parent(parent);
	if (kind->prepare != NULL)
		kind->prepare(g);
	if (kind->privileged)
		proc_no_new_privileges();
	else if (kind->become == NULL)
		child_become_user(&g->user, true);
	else
		kind->become(g, context);
	/* Once more: another user resets it. */
	if (!kind->lasting)
		proc_die_with_parent(parent);
}

void
child_lend(const struct child_kind *kind, struct generation *g, void *context)
{
	if (fork() != 0)
		return;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	kind->become(g, context);
	kind->run(g, context, -1);
}

struct child *
child_start(const struct child_kind *kind, struct generation *g, void *context,
    int *pipe)
{
	struct child	*c;
	pid_t		 pid, parent = getpid();
	int		 fds[2];

	if (io_pipe(fds) == -1)
		return NULL;
	proc_signals_block();
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		proc_signals_reset();
		if (!kind->monitorial)
			become_child(kind, g, context, parent);
		kind->run(g, context, fds[1]);
		_exit(EX_SOFTWARE);	/* not reached */
	}
	proc_signals_unblock();
	close(fds[1]);
	if (pid == -1) {
		io_close(&fds[0]);
		return NULL;
	}
	c = mem_zero(sizeof(*c));
	*c = (struct child){ .pid = pid, .kind = kind, .context = context,
	    .pipe.fd = -1 };
	TAILQ_INSERT_TAIL(&children, c, link);
	if (pipe != NULL)
		*pipe = fds[0];
	else
		events_add(&c->pipe, fds[0], kind->on_readable, context);
	if (kind->timeout != 0)
		events_set(&c->timeout, kind->timeout, kind->on_timeout,
		    context);
	return c;
}

/*
 * The end
 */

static void
close_child(struct child *c)
{
	events_close(&c->pipe);
	events_unset(&c->timeout);
}

static void
free_child(struct child *c)
{
	TAILQ_REMOVE(&children, c, link);
	free(c);
}

void
child_release(struct child **cp)
{
	struct child	*c = *cp;

	*cp = NULL;
	if (c == NULL)
		return;
	close_child(c);
	c->released = true;
	/* A new monitor is none of ours. */
	if (c->pid == 0 || c->kind->monitorial)
		free_child(c);
}

void
child_give_up(struct child **cp)
{
	if (*cp != NULL)
		(*cp)->given_up = true;
	child_release(cp);
}

void
child_kill(struct child *c)
{
	c->given_up = true;
	if (c->pid != 0)
		kill(c->pid, SIGKILL);
}

void
child_report(const struct child *c)
{
	if (c->status != 0 && due.ending == 0 && !c->given_up)
		log_warnx("%s %ld %s", c->kind->name, (long)c->pid, c->how);
}

static void
on_death(struct child *c, int status)
{
	char	how[100];

	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was killed by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(how, sizeof(how), "ended with status %d",
		    WEXITSTATUS(status));
	c->status = status;
	c->how = how;
	if (c->released || c->kind->died == NULL)
		child_report(c);
	else {
		close_child(c);
		c->kind->died(c->context, c);
		c->released = true;
	}
	c->pid = 0;
	if (c->released)
		free_child(c);
}

void
child_reap(void)
{
	struct child	*c;
	pid_t		 pid;
	int		 status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		TAILQ_FOREACH(c, &children, link)
			if (c->pid == pid)
				break;
		if (c != NULL)
			on_death(c, status);
	}
}

/* Returns whether one of the kind still runs. */
static bool
reap_kind(const struct child_kind *kind)
{
	struct child	*c, *next;
	bool		 runs = false;
	int		 status;

	for (c = TAILQ_FIRST(&children); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->kind != kind || c->released)
			continue;
		if (waitpid(c->pid, &status, WNOHANG) == c->pid)
			on_death(c, status);
		else
			runs = true;
	}
	return runs;
}

void
child_await(const struct child_kind *kind)
{
	int64_t	end = clock_ms() + CHILD_KILL_TIMEOUT, left;

	while (reap_kind(kind) && (left = end - clock_ms()) > 0)
		events_sleep(left);
}

/* The owner of a lasting child awaits it. */
static bool
is_awaited(const struct child *c)
{
	return c->pid != 0 && (!c->kind->lasting || c->released);
}

void
child_kill_all(void)
{
	const struct child	*c;

	TAILQ_FOREACH(c, &children, link)
		if (is_awaited(c))
			kill(c->pid, SIGKILL);
}

size_t
child_count(bool given_up)
{
	const struct child	*c;
	size_t			 n = 0;

	TAILQ_FOREACH(c, &children, link)
		n += is_awaited(c) && c->given_up == given_up;
	return n;
}

/*
 * amped-helper
 */

void
child_reopen_log(int *log, const char *name)
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

/* Puts a descriptor at a number, and keeps it open over exec. */
static void
place_fd(int fd, int at)
{
	if (fd == at ? io_cloexec(fd, false) == -1 : dup2(fd, at) == -1)
		fatal("no descriptor %d for a child", at);
}

/* Copies a descriptor to a number that place_fd() does not use.  The number is
 * no larger than it must be: the limit of open files may be low. */
static int
move_fd_up(const struct generation *g, int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC,
	    FD_MORE_LOGS + (int)g->conf->log.all.ntargets);
}

static int
move_log_up(const struct generation *g, int log)
{
	return move_fd_up(g, log != -1 ? log :
	    open("/dev/null", O_WRONLY | O_CLOEXEC));
}

/* Moves all before it places one: their numbers may be others' places. */
static void
place_access_logs(const struct generation *g)
{
	int	*logs = mem_array(g->naccess_logs + 1, sizeof(*logs));

	for (size_t i = 0; i < g->naccess_logs; i++)
		logs[i] = move_log_up(g, g->access_logs[i]);
	for (size_t i = 0; i < g->naccess_logs; i++)
		place_fd(logs[i], i == 0 ? FD_LOG : FD_MORE_LOGS + (int)i - 1);
	mem_drop(&logs);
}

/* Places the descriptors of helpers/fds.h.  Standard error is the error pipe,
 * but for the error logger, whose standard error is the log. */
static void
place_fds(const struct generation *g, enum child_role role, int log)
{
	bool	reads = role == CHILD_ERROR_LOGGER;
	int	lines = move_fd_up(g, logs_errors.lines[0]);
	int	drops = move_fd_up(g, logs_errors.drops[reads ? 0 : 1]);

	log = move_log_up(g, log);
	place_fd(drops, FD_DROPS);
	if (reads) {
		place_fd(lines, FD_LINES);
		place_fd(log, STDERR_FILENO);
	}
}

/* Returns the system calls of a role, as names of lib/syscall_filter.h.  log:
 * of a logger. */
static const char *
choose_syscalls(const struct conf *conf, enum child_role role,
    const struct conf_log *log)
{
	bool	syslog = logs_target(log->to) == LOGS_SYSLOG;

	if (role == CHILD_HELPER)
		return conf_find_users(conf) ? "files,users" : "files";
	if (role == CHILD_ACCESS_LOGGER && conf->log.names)
		return syslog ? "log,names,syslog" : "log,names";
	return syslog ? "log,syslog" : "log";
}

#define ARGUMENTS_MAX	10
#define ARGUMENT_SIZE	256

/* Adds an argument to those that are there. */
static __attribute__((__format__(__printf__, 2, 3))) void
add_argument(char *arguments[ARGUMENTS_MAX], const char *format, ...)
{
	static char	text[ARGUMENTS_MAX][ARGUMENT_SIZE];
	size_t		n = 0;
	va_list		ap;

	while (arguments[n] != NULL)
		n++;
	va_start(ap, format);
	vsnprintf(text[n], sizeof(text[n]), format, ap);
	va_end(ap);
	arguments[n] = text[n];
}

static void
choose_arguments(const struct conf *conf, enum child_role role,
    char *to[ARGUMENTS_MAX])
{
	const struct conf_log	*log = role == CHILD_ERROR_LOGGER ?
				    &conf->log.error : &conf->log.access;

	add_argument(to, "amped-helper");
	if (role == CHILD_ERROR_LOGGER)
		add_argument(to, "-e");
	if (role == CHILD_ERROR_LOGGER &&
	    conf->log.error_format == ERROR_FORMAT_JSON)
		add_argument(to, "-j");
	if (role == CHILD_ACCESS_LOGGER)
		add_argument(to, "-l%zu", conf->log.all.ntargets);
	if (role == CHILD_ACCESS_LOGGER && conf->log.names)
		add_argument(to, "-n");
	if (role != CHILD_HELPER && logs_target(log->to) == LOGS_SYSLOG)
		add_argument(to, "-s%s,%s,%s",
		    facility_name((enum facility)log->facility), log->tag,
		    logs_syslog_socket(log->to));
	if (conf->sandbox != SANDBOX_OFF)
		add_argument(to, "-c%s", choose_syscalls(conf, role, log));
	if (conf->sandbox == SANDBOX_REQUIRED)
		add_argument(to, "-r");
}

_Noreturn void
child_execute(const struct generation *g, enum child_role role, int pipe,
    int fd)
{
	char	*arguments[ARGUMENTS_MAX] = { NULL };
	int	 to_execute = move_fd_up(g, prepared.helper);
	int	 rules = role == CHILD_HELPER && g->rules != -1 ?
		    move_fd_up(g, g->rules) : -1;

	choose_arguments(g->conf, role, arguments);
	pipe = move_fd_up(g, pipe);
	if (fd != -1)
		fd = move_fd_up(g, fd);
	if (role == CHILD_ACCESS_LOGGER)
		place_access_logs(g);
	place_fds(g, role, fd);
	if (role == CHILD_HELPER && fd != -1)
		place_fd(fd, FD_NOTIFY);
	if (rules != -1)
		place_fd(rules, FD_RULES);
	place_fd(pipe, STDIN_FILENO);
	/* Signals stay blocked until the program ignores them. */
	fexecve(to_execute, arguments, environ);
	if (errno == EACCES)
		fatalx("user %ld may not execute amped-helper: chmod 755 it",
		    (long)geteuid());
	fatal("cannot start amped-helper; what is installed must be all of "
	    "one version");
}
