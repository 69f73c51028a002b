/*
 * spawn: children of the monitor: what each keeps open, which privileges it
 * has, and how it becomes another program.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "helpers/places.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor_private.h"

#define CLEAR		16	/* descriptors from here on are free */

extern char	**environ;

/* Whoever may wait where nobody can end it, keeps nothing of ours open. */
static void
leave_all(struct monitor *m, const struct reign *but)
{
	struct reign	*r;
	struct opening	*o;

	TAILQ_FOREACH(r, &m->reigns, link)
		if (r != but)
			reign_leave(r);
	TAILQ_FOREACH(o, &m->openings, link)
		io_close(&o->pipe);
	io_close(&m->scribe.pipe);
	io_close(&m->reading.pipe);
	ctl_clients_leave(m);
	io_close(&m->upgrade.pipe);
	io_close(&m->upgrade.before);
	io_close(&m->setup->pid.fd);
	io_close(&m->setup->notify.fd);
	for (size_t i = 0; i < m->setup->heritage.nsockets; i++)
		io_close(&m->setup->heritage.sockets[i]);
}

/* It may wait here for the log's file system, even when we have gone: so it
 * says who it is. */
static void
open_log(int *log, enum role role, pid_t parent)
{
	int	fd;

	if (role == ROLE_LOGGER)
		proc_follow(parent);
	proc_title(role == ROLE_SCRIBE ? "amped: scribe" : "amped: log helper");
	if (*log == -1)
		return;
	fd = io_open_again(*log, O_WRONLY | O_APPEND);
	if (fd == -1)
		fatal("cannot open the log again");
	close(*log);
	*log = fd;
}

static void
open_own(struct monitor *m, struct reign *r, enum role role, pid_t parent)
{
	if (role == ROLE_SCRIBE) {
		leave_all(m, NULL);
		open_log(&m->setup->error, role, parent);
	} else if (role == ROLE_LOGGER) {
		leave_all(m, r);
		reign_close_doors(r);
		io_close(&r->control);
		open_log(&r->access, role, parent);
	} else if (role == ROLE_MAIN)
		leave_all(m, r);
	else if (role != ROLE_HELPER)
		leave_all(m, NULL);
}

/* Who opens what the conf names, does so as the monitor would. */
static bool
is_privileged(enum role role)
{
	return role == ROLE_OPENER || role == ROLE_READER || role == ROLE_CLERK;
}

/* What every child does first: privileges away, nobody left behind. */
static void
become_child(struct monitor *m, struct reign *r, enum role role, pid_t parent)
{
	const struct reign	*who = r != NULL ? r : m->serving;

	proc_signals_reset();
	/* One of our kind: it needs what we have. */
	if (role == ROLE_SUCCESSOR)
		return;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* A terminal's keys are for the monitor, which tells the others. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	monitor_leave_signals();
	open_own(m, r, role, parent);
	if (!is_privileged(role) && who->user != NULL &&
	    proc_become(who->user, who->uid, who->gid) == -1)
		fatal("cannot become user %s", who->user);
	proc_no_new_privileges();
	if (role != ROLE_SCRIBE)
		proc_follow(parent);
}

pid_t
spawn(struct monitor *m, struct reign *r, enum role role, int *pipe)
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
		become_child(m, r, role, parent);
		return 0;
	}
	proc_signals_unblock();
	close(fds[1]);
	*pipe = fds[0];
	if (pid == -1)
		io_close(pipe);
	return pid;
}

/* Puts a descriptor at a number, to be kept over exec. */
static void
place(int fd, int at)
{
	if (fd == at ? io_cloexec(fd, false) == -1 : dup2(fd, at) == -1)
		fatal("descriptor %d", at);
}

/* Out of the way of the numbers that others go to. */
static int
clear(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, CLEAR);
}

/* What a helper has beside its pipe; helpers/places.h.  Only the scribe's
 * standard error is the error log itself. */
static void
place_logs(const struct monitor *m, const struct reign *r, enum role role)
{
	int	log = r != NULL ? r->access : -1;
	int	access = clear(log != -1 ? log :
		    open("/dev/null", O_WRONLY | O_CLOEXEC));
	int	error = clear(m->setup->error);
	int	words = clear(m->errors.words[0]);
	int	losses = clear(m->errors.losses[role != ROLE_SCRIBE]);

	place(losses, PLACE_LOSSES);
	if (role == ROLE_LOGGER)
		place(access, PLACE_LOGS);
	if (role == ROLE_SCRIBE) {
		place(words, PLACE_WORDS);
		place(error, STDERR_FILENO);
	}
}

_Noreturn void
spawn_helper(struct monitor *m, struct reign *r, int pipe, enum role role)
{
	static char	 name[] = "amped-helper", l[] = "-l", one[] = "1",
			 e[] = "-e";
	char		*plain[] = { name, NULL };
	char		*logger[] = { name, l, one, NULL };
	char		*scribe[] = { name, e, NULL };
	char		**arguments = role == ROLE_LOGGER ? logger :
			    role == ROLE_SCRIBE ? scribe : plain;
	int		 program = clear(m->setup->helper);

	pipe = clear(pipe);
	place_logs(m, r, role);
	place(pipe, STDIN_FILENO);
	proc_signals_unblock();
	fexecve(program, arguments, environ);
	fatal("cannot start amped-helper");
}
