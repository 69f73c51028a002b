/*
 * monitor: a loop over signals and main's pipe.
 *
 * Signals come as bytes through a pipe of its own, so that there is one place
 * to wait.  A process that main talks to lives as long as that main does: its
 * end of the pipe closes, and it goes.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/ledger.h"
#include "arch/listener.h"
#include "arch/mounts.h"
#include "children.h"
#include "control.h"
#include "errors.h"
#include "helpers/places.h"
#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor.h"

#define GRACE		3000	/* ms for children to end by themselves */
#define KILLED		1000	/* ms for killed ones; what a dead mount holds
				 * in the kernel cannot even be killed */
#define BACKOFF_LEAST	50	/* ms before main is started again ... */
#define BACKOFF_MOST	5000	/* ... when it has died young */
#define YOUNG		10000	/* ms */
#define SCRIBE_YOUNG	1000	/* ms, and how long until there is another */
#define FOREVER		(-1)
#define CLEAR		16	/* descriptors from here on are free */

extern char	**environ;

struct monitor {
	struct monitor_setup	*setup;
	struct children		 children;
	int			 control;	/* main's pipe; -1: no main */
	pid_t			 main;		/* 0: none */
	int64_t			 born;		/* ms, when main was started */
	int64_t			 revive;	/* ms, when; 0: not at all */
	int			 backoff;	/* ms */
	int			 ending;	/* the signal, or 0 */
	int64_t			 deadline;	/* ms, of the end */
	bool			 killed;	/* ... has passed once */
	bool			 announced;
	struct mounts		*mounts;
	struct errors		 errors;
	struct {
		int	pipe;		/* open as long as it is to stay */
		pid_t	pid;		/* 0: none */
		int64_t	born, due;	/* ms; due 0: not at all */
	}			 scribe;
	struct ledger		*ledger;
	unsigned		 generation;	/* how many mains there were */
};

static int	signals[2];	/* the pipe that they come through */

static void
on_signal(int signo)
{
	unsigned char	byte = (unsigned char)signo;
	int		saved = errno;

	/* Full: then there is enough in it to wake up for. */
	if (write(signals[1], &byte, 1) == -1)
		errno = saved;
	errno = saved;
}

static int64_t
now_ms(void)
{
	struct clock	c = { 0 };

	clock_update(&c);
	return c.ms;
}

static void
catch_signals(void)
{
	static const int	caught[] = { SIGTERM, SIGINT, SIGQUIT, SIGCHLD,
				    SIGHUP };
	struct sigaction	sa = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };

	if (pipe2(signals, O_CLOEXEC | O_NONBLOCK) == -1)
		fatal("no pipe for signals");
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static void
close_doors(struct monitor *m)
{
	struct monitor_setup	*setup = m->setup;

	if (setup->listeners != NULL)
		listener_close(&setup->listeners, setup->nlisteners);
	setup->nlisteners = 0;
}

/* It may wait here for the log's file system, even when we have gone: so it
 * keeps nothing of ours open, and says who it is. */
static void
open_log(struct monitor *m, enum role role, pid_t parent)
{
	struct monitor_setup	*setup = m->setup;
	int			*log = &setup->logs[role == ROLE_SCRIBE];
	int			 fd;

	if (role == ROLE_LOGGER)
		proc_follow(parent);
	proc_title(role == ROLE_SCRIBE ? "amped: scribe" : "amped: log helper");
	close_doors(m);
	io_close(&m->control);
	io_close(&m->scribe.pipe);
	if (*log == -1)
		return;
	fd = io_open_again(*log, O_WRONLY | O_APPEND);
	if (fd == -1)
		fatal("cannot open the log again");
	close(*log);
	*log = fd;
}

/* What every child does first: privileges away, nobody left behind. */
static void
become_child(struct monitor *m, enum role role, pid_t parent)
{
	const struct monitor_setup	*setup = m->setup;

	proc_signals_reset();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* A terminal's keys are for the monitor, which tells the others. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	close(signals[0]);
	close(signals[1]);
	if (role == ROLE_LOGGER || role == ROLE_SCRIBE)
		open_log(m, role, parent);
	if (setup->user != NULL &&
	    proc_become(setup->user, setup->uid, setup->gid) == -1)
		fatal("cannot become user %s", setup->user);
	proc_no_new_privileges();
	if (role != ROLE_SCRIBE)
		proc_follow(parent);
}

/* A child with a stream pipe: its end in *pipe in the child, ours in the
 * parent.  0 in the child, -1 when there can be none. */
static pid_t
spawn(struct monitor *m, enum role role, int *pipe)
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
		become_child(m, role, parent);
		return 0;
	}
	proc_signals_unblock();
	close(fds[1]);
	*pipe = fds[0];
	if (pid == -1)
		io_close(pipe);
	return pid;
}

static _Noreturn void
be_main(struct monitor *m, int control, const struct leftovers *left)
{
	const struct monitor_setup	*setup = m->setup;
	struct world			 world = {
		.conf = setup->conf,
		.control = control,
		.listeners = setup->listeners,
		.nlisteners = setup->nlisteners,
		.descriptors = setup->descriptors,
		.mounts = m->mounts,
		.ledger = m->ledger,
		.leftovers = left->at,
		.nleftovers = left->count,
	};

	proc_title("amped: main");
	log_init("main", log_grade());
	close(setup->helper);
	/* The logs are for those who may wait. */
	for (int i = 0; i < 2; i++)
		io_close(&m->setup->logs[i]);
	errors_leave_reading(&m->errors);
	io_close(&m->scribe.pipe);
	if (io_nonblock(control) == -1)
		fatal("main's pipe");
	exit(arch_of(setup->conf)->run(&world));
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
place_logs(const struct monitor *m, enum role role)
{
	const int	*logs = m->setup->logs;
	int		 access = clear(logs[0] != -1 ? logs[0] :
			    open("/dev/null", O_WRONLY | O_CLOEXEC));
	int		 error = clear(logs[1]);
	int		 words = clear(m->errors.words[0]);
	int		 losses = clear(m->errors.losses[role != ROLE_SCRIBE]);

	place(losses, PLACE_LOSSES);
	if (role == ROLE_LOGGER)
		place(access, PLACE_LOGS);
	if (role == ROLE_SCRIBE) {
		place(words, PLACE_WORDS);
		place(error, STDERR_FILENO);
	}
}

static _Noreturn void
be_helper(const struct monitor *m, int pipe, enum role role)
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
	place_logs(m, role);
	place(pipe, STDIN_FILENO);
	proc_signals_unblock();
	fexecve(program, arguments, environ);
	fatal("cannot start amped-helper");
}

static void
start_scribe(struct monitor *m)
{
	int	pipe = -1;
	pid_t	pid = spawn(m, ROLE_SCRIBE, &pipe);

	if (pid == 0)
		be_helper(m, pipe, ROLE_SCRIBE);
	if (pid == -1)
		log_error("cannot start the scribe");
	m->scribe.pid = pid == -1 ? 0 : pid;
	m->scribe.pipe = pipe;
	m->scribe.born = now_ms();
	m->scribe.due = pid == -1 ? m->scribe.born + SCRIBE_YOUNG : 0;
}

static void
scribe_died(struct monitor *m, const char *how)
{
	int64_t	now = now_ms();

	log_warnx("scribe %ld %s", (long)m->scribe.pid, how);
	io_close(&m->scribe.pipe);
	m->scribe.pid = 0;
	m->scribe.due = now - m->scribe.born >= SCRIBE_YOUNG ? now :
	    now + SCRIBE_YOUNG;
}

/* All has been said.  Last words of this process go the straight way, unless
 * that makes it wait. */
static void
end_scribe(struct monitor *m)
{
	struct pollfd	p = { .fd = signals[0], .events = POLLIN };
	int64_t		end = now_ms() + KILLED, left;
	unsigned char	byte;
	int		error;

	if (m->scribe.pid == 0)
		start_scribe(m);
	io_close(&m->scribe.pipe);
	while (m->scribe.pid != 0 &&
	    waitpid(m->scribe.pid, NULL, WNOHANG) != m->scribe.pid) {
		left = end - now_ms();
		if (left <= 0) {
			kill(m->scribe.pid, SIGKILL);
			return;
		}
		poll(&p, 1, (int)left);
		while (read(signals[0], &byte, 1) == 1)
			;
	}
	log_losses(-1);
	error = io_open_again(m->setup->logs[1], O_WRONLY | O_APPEND);
	if (error != -1)
		dup2(error, STDERR_FILENO);
	io_close(&error);
}

static void
start_main(struct monitor *m)
{
	struct leftovers	left;
	int			pipe = -1;
	pid_t			pid;

	m->generation++;
	children_left(&m->children, m->generation, &left);
	pid = spawn(m, ROLE_MAIN, &pipe);
	if (pid == 0)
		be_main(m, pipe, &left);
	leftovers_free(&left);
	m->revive = 0;
	if (pid == -1) {
		log_error("cannot start main");
		m->revive = now_ms() + BACKOFF_MOST;
		return;
	}
	children_add(&m->children, pid, ROLE_MAIN, m->generation, pipe);
	/* However stuck main may be, the monitor is not to wait for it. */
	if (io_nonblock(pipe) == -1)
		fatal("main's pipe");
	m->main = pid;
	m->control = pipe;
	m->born = now_ms();
}

/* Main talks to strangers: it gets no more helpers than the conf allows, even
 * if it asks. */
static bool
enough(const struct monitor *m, enum role role)
{
	return children_enough(&m->children, role, m->generation,
	    role == ROLE_LOGGER ? 1 : m->setup->conf->helpers_max);
}

/* A helper for main, at the end of a pipe whose other end goes to it. */
static void
start_helper(struct monitor *m, enum role role)
{
	enum control	answer = role == ROLE_LOGGER ? CONTROL_LOGGER :
			    CONTROL_HELPER;
	int		pipe = -1;
	pid_t		pid = -1;

	if (enough(m, role))
		log_warnx("too many of them to start a %s", role_name(role));
	else {
		pid = spawn(m, role, &pipe);
		if (pid == 0)
			be_helper(m, pipe, role);
		if (pid == -1)
			log_error("cannot start a %s", role_name(role));
		else
			children_add(&m->children, pid, role, m->generation,
			    pipe);
	}
	if (control_send(m->control, answer, pipe) == -1)
		log_warn("main does not take its %s", role_name(role));
	io_close(&pipe);
}

static void
announce(struct monitor *m)
{
	struct monitor_setup	*setup = m->setup;
	char			 url[128];

	for (size_t i = 0; i < setup->nlisteners; i++) {
		listener_url(&setup->listeners[i], url, sizeof(url));
		log_notice("ready: %s on %s",
		    arch_of(setup->conf)->name, url);
		if (setup->announce != NULL && !m->announced) {
			fprintf(setup->announce, "serving %s on %s\n",
			    setup->serving, url);
			fflush(setup->announce);
		}
	}
	m->announced = true;
}

/* Of its own will, with all said and done; SIGCHLD comes, or not: the files
 * that it had open may be on a file system that does not answer, and then the
 * kernel does not let it go. */
static void
main_ends(struct monitor *m)
{
	io_close(&m->control);
	if (m->ending == 0) {
		m->revive = now_ms() + KILLED;
		return;
	}
	children_kill_helpers(&m->children);
	children_give_up(&m->children, m->main);
}

static void
main_speaks(struct monitor *m)
{
	enum control	message;
	int		fd = -1, n;

	n = control_recv(m->control, &message, &fd);
	if (n == 1 && message == CONTROL_READY)
		announce(m);
	else if (n == 1 && message == CONTROL_WANT_HELPER)
		start_helper(m, ROLE_HELPER);
	else if (n == 1 && message == CONTROL_WANT_LOGGER)
		start_helper(m, ROLE_LOGGER);
	else if (n == 1 && message == CONTROL_END_HELPER)
		children_end_helper(&m->children, fd);
	else if (n == 0 || (n == -1 && errno != EINTR && errno != EAGAIN))
		main_ends(m);
	io_close(&fd);
}

static void
begin_end(struct monitor *m, int signo)
{
	bool	drain = signo == SIGQUIT;

	/* A second, harder one shortens a drain. */
	if (m->ending == SIGTERM || m->ending == signo)
		return;
	log_notice("stopping%s", drain ? " when the responses under way have "
	    "been sent" : "");
	m->ending = drain ? SIGQUIT : SIGTERM;
	m->deadline = now_ms() + GRACE +
	    (drain ? m->setup->conf->limits.drain : 0);
	m->revive = 0;
	close_doors(m);
	if (m->main != 0)
		kill(m->main, m->ending);
}

static void
describe(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "was killed by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d",
		    WEXITSTATUS(status));
}

static void
main_died(struct monitor *m, const char *how)
{
	int64_t	now = now_ms();

	m->main = 0;
	io_close(&m->control);
	/* Theirs is over as well, and some may not notice by themselves. */
	children_kill_helpers(&m->children);
	children_keep_lanes(&m->children, m->generation, m->ledger);
	if (m->ending != 0)
		return;
	m->backoff = now - m->born >= YOUNG || m->backoff == 0 ?
	    BACKOFF_LEAST : m->backoff * 2;
	if (m->backoff > BACKOFF_MOST)
		m->backoff = BACKOFF_MOST;
	/* The first time at once. */
	m->revive = m->backoff == BACKOFF_LEAST ? now : now + m->backoff;
	log_errorx("main %s; starting another", how);
}

static void
reap(struct monitor *m)
{
	struct child	c;
	char		how[100];
	pid_t		pid;
	int		status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		describe(status, how, sizeof(how));
		if (pid == m->scribe.pid)
			scribe_died(m, how);
		if (!children_take(&m->children, pid, &c))
			continue;
		if (c.role == ROLE_MAIN && c.pid == m->main)
			main_died(m, how);
		else if (status != 0 && m->ending == 0 && !c.given_up)
			log_warnx("%s %ld %s", role_name(c.role), (long)pid,
			    how);
	}
}

/* Its terminal has gone: so does a server that was only being tried. */
static void
hang_up(struct monitor *m)
{
	if (m->setup->announce != NULL)
		begin_end(m, SIGTERM);
	else
		log_warnx("HUP: the conf is read at the start only; "
		    "restart to have it read again");
}

static void
signals_came(struct monitor *m)
{
	unsigned char	byte;

	while (read(signals[0], &byte, 1) == 1)
		switch (byte) {
		case SIGCHLD:
			reap(m);
			break;
		case SIGHUP:
			hang_up(m);
			break;
		default:
			begin_end(m, byte);
			break;
		}
}

/* ms until something is to be done without being woken. */
static int
patience(const struct monitor *m)
{
	int64_t	at = m->ending != 0 ? m->deadline : m->revive, left;

	if (m->scribe.due != 0 && (at == 0 || m->scribe.due < at))
		at = m->scribe.due;
	if (at == 0)
		return FOREVER;
	left = at - now_ms();
	return left < 0 ? 0 : (int)left;
}

/* What is due; false when it is time to go. */
static bool
look_around(struct monitor *m)
{
	if (m->scribe.due != 0 && now_ms() >= m->scribe.due)
		start_scribe(m);
	if (m->ending == 0) {
		if (m->revive == 0 || now_ms() < m->revive)
			return true;
		if (m->main != 0)
			main_died(m, "does not end");
		start_main(m);
		return true;
	}
	if (TAILQ_EMPTY(&m->children.list))
		return false;
	/* What a dead mount holds is not waited for. */
	if (!m->killed && children_all_given_up(&m->children)) {
		m->killed = true;
		m->deadline = now_ms() + KILLED;
	}
	if (now_ms() < m->deadline)
		return true;
	if (m->killed)
		return false;
	log_warnx("some processes do not end: killing them");
	children_kill(&m->children);
	m->killed = true;
	m->deadline = now_ms() + KILLED;
	return true;
}

int
monitor_run(struct monitor_setup *setup)
{
	struct monitor	m = { .setup = setup, .control = -1,
			    .scribe.pipe = -1 };
	struct pollfd	p[2];

	children_init(&m.children);
	catch_signals();
	if (errors_open(&m.errors) == -1)
		fatal("no pipe for the error log");
	start_scribe(&m);
	errors_speak(&m.errors);
	m.mounts = mounts_new(setup->conf);
	/* Those that it has, and those that it has given up. */
	m.ledger = ledger_new(2 * (size_t)setup->conf->helpers_max);
	start_main(&m);
	do {
		p[0] = (struct pollfd){ .fd = signals[0], .events = POLLIN };
		p[1] = (struct pollfd){ .fd = m.control, .events = POLLIN };
		if (poll(p, 2, patience(&m)) > 0) {
			if (p[1].revents != 0)
				main_speaks(&m);
			if (p[0].revents != 0)
				signals_came(&m);
		}
	} while (look_around(&m));
	children_free(&m.children);
	close_doors(&m);
	mounts_free(&m.mounts);
	ledger_free(&m.ledger);
	end_scribe(&m);
	return 0;
}
