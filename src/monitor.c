/*
 * monitor: a loop over signals and main's pipe.
 *
 * Signals come as bytes through a pipe of its own, so that there is one place
 * to wait.  A process that main talks to lives as long as that main does: its
 * end of the pipe closes, and it goes.
 */
#include <sys/queue.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/listener.h"
#include "arch/ledger.h"
#include "arch/mounts.h"
#include "control.h"
#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor.h"

#define GRACE		3000	/* ms for children to end by themselves */
#define KILLED		1000	/* ms for killed ones; what a dead mount holds
				 * in the kernel cannot even be killed */
#define BACKOFF_LEAST	50	/* ms before main is started again ... */
#define BACKOFF_MOST	5000	/* ... when it has died young */
#define YOUNG		10000	/* ms */
#define FOREVER		(-1)
#define CLEAR		16	/* descriptors from here on are free */

extern char	**environ;

enum role { ROLE_MAIN, ROLE_HELPER, ROLE_LOGGER };

static const char *const role_names[] = { "main", "helper", "log helper" };

struct child {
	pid_t			 pid;
	enum role		 role;
	ino_t			 pipe;		/* main's end: main's name for
						 * it */
	bool			 given_up;
	unsigned		 generation;	/* of the main it is for */
	uint64_t		 lane;		/* when that has died: its */
	TAILQ_ENTRY(child)	 link;
};

struct monitor {
	struct monitor_setup	*setup;
	TAILQ_HEAD(, child)	 children;
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

/* What every child does first: privileges away, nobody left behind. */
static void
become_child(const struct monitor *m, pid_t parent)
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
	if (setup->user != NULL &&
	    proc_become(setup->user, setup->uid, setup->gid) == -1)
		fatal("cannot become user %s", setup->user);
	proc_no_new_privileges();
	proc_follow(parent);
}

static ino_t
inode(int fd)
{
	struct stat	st;

	return fstat(fd, &st) == -1 ? 0 : st.st_ino;
}

/* A child with a stream pipe: its end in *pipe in the child, ours in the
 * parent.  0 in the child, -1 when there can be none. */
static pid_t
spawn(struct monitor *m, enum role role, int *pipe)
{
	pid_t		 pid, parent = getpid();
	struct child	*c;
	int		 fds[2];

	if (io_pipe(fds) == -1)
		return -1;
	proc_signals_block();
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		*pipe = fds[1];
		become_child(m, parent);
		return 0;
	}
	proc_signals_unblock();
	close(fds[1]);
	*pipe = fds[0];
	if (pid == -1) {
		io_close(pipe);
		return -1;
	}
	c = mem_zero(sizeof(*c));
	c->pid = pid;
	c->role = role;
	c->generation = m->generation;
	c->pipe = inode(*pipe);
	TAILQ_INSERT_TAIL(&m->children, c, link);
	return pid;
}

struct leftovers {
	struct leftover	*at;		/* owned */
	size_t		 count;
};

/* A descriptor that tells of a child's end; -1: there is none. */
static int
follow(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

/* Helpers of mains that have died, which are still there. */
static void
list_leftovers(const struct monitor *m, struct leftovers *left)
{
	const struct child	*c;
	int			 fd;

	TAILQ_FOREACH(c, &m->children, link) {
		if (c->role != ROLE_HELPER || c->generation == m->generation)
			continue;
		fd = follow(c->pid);
		if (fd == -1)
			continue;
		left->at = mem_grow(left->at, left->count + 1,
		    sizeof(*left->at));
		left->at[left->count++] = (struct leftover){ fd, c->lane };
	}
}

static void
free_leftovers(struct leftovers *left)
{
	for (size_t i = 0; i < left->count; i++)
		close(left->at[i].fd);
	free(left->at);
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
	/* The logs are the log helper's; stderr is for last words. */
	for (int i = 0; i < 2; i++)
		if (setup->logs[i] != -1)
			close(setup->logs[i]);
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

/* The log helper's descriptors: its pipe at 0, the logs from 3 up. */
static void
place_logs(const struct monitor_setup *setup, int *pipe, int *program)
{
	int	logs[2];

	/* First out of the way of the numbers that they go to. */
	for (int i = 0; i < 2; i++)
		logs[i] = setup->logs[i] == -1 ?
		    open("/dev/null", O_WRONLY | O_CLOEXEC) :
		    fcntl(setup->logs[i], F_DUPFD_CLOEXEC, CLEAR);
	*pipe = fcntl(*pipe, F_DUPFD_CLOEXEC, CLEAR);
	*program = fcntl(*program, F_DUPFD_CLOEXEC, CLEAR);
	place(logs[0], 3);
	place(logs[1], 4);
}

static _Noreturn void
be_helper(struct monitor *m, int pipe, enum role role)
{
	static char	 name[] = "amped-helper", l[] = "-l", two[] = "2";
	char		*plain[] = { name, NULL };
	char		*logger[] = { name, l, two, NULL };
	int		 program = m->setup->helper;

	if (role == ROLE_LOGGER)
		place_logs(m->setup, &pipe, &program);
	place(pipe, STDIN_FILENO);
	proc_signals_unblock();
	fexecve(program, role == ROLE_LOGGER ? logger : plain, environ);
	fatal("cannot start amped-helper");
}

static void
start_main(struct monitor *m)
{
	struct leftovers	left = { 0 };
	int			pipe = -1;
	pid_t			pid;

	m->generation++;
	list_leftovers(m, &left);
	pid = spawn(m, ROLE_MAIN, &pipe);
	if (pid == 0)
		be_main(m, pipe, &left);
	free_leftovers(&left);
	m->revive = 0;
	if (pid == -1) {
		log_error("cannot start main");
		m->revive = now_ms() + BACKOFF_MOST;
		return;
	}
	/* However stuck main may be, the monitor is not to wait for it. */
	if (io_nonblock(pipe) == -1)
		fatal("main's pipe");
	m->main = pid;
	m->control = pipe;
	m->born = now_ms();
}

/*
 * Main talks to strangers: it gets no more helpers than the conf allows, even
 * if it asks.  Three times that: those that it has given up may not die, those
 * that it has let go may not be reaped yet.  What earlier mains have left
 * behind is not its fault; but it all has an end.
 */
static bool
enough(const struct monitor *m, enum role role)
{
	const struct child	*c;
	int64_t			 own = 0, all = 0;
	int64_t			 most = role == ROLE_LOGGER ? 1 :
				    m->setup->conf->helpers_max;

	TAILQ_FOREACH(c, &m->children, link) {
		all += c->role == role;
		own += c->role == role && c->generation == m->generation;
	}
	return own >= 3 * most || all >= 6 * most;
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
		log_warnx("too many of them to start a %s", role_names[role]);
	else {
		pid = spawn(m, role, &pipe);
		if (pid == 0)
			be_helper(m, pipe, role);
		if (pid == -1)
			log_error("cannot start a %s", role_names[role]);
	}
	if (control_send(m->control, answer, pipe) == -1)
		log_warn("main does not take its %s", role_names[role]);
	io_close(&pipe);
}

/* Main has given it up.  It may be in the kernel, waiting for a file system
 * that does not answer, and then it dies when that is over: nobody waits. */
static void
end_helper(struct monitor *m, int pipe)
{
	struct child	*c;
	ino_t		 name = pipe != -1 ? inode(pipe) : 0;

	TAILQ_FOREACH(c, &m->children, link)
		if (c->role == ROLE_HELPER && c->pipe == name && name != 0) {
			c->given_up = true;
			kill(c->pid, SIGKILL);
		}
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

static void
kill_helpers(struct monitor *m)
{
	struct child	*c;

	TAILQ_FOREACH(c, &m->children, link)
		if (c->role == ROLE_HELPER) {
			c->given_up = true;
			kill(c->pid, SIGKILL);
		}
}

/* Of its own will, with all said and done; SIGCHLD comes, or not: the files
 * that it had open may be on a file system that does not answer, and then the
 * kernel does not let it go. */
static void
main_ends(struct monitor *m)
{
	struct child	*c;

	io_close(&m->control);
	if (m->ending == 0) {
		m->revive = now_ms() + KILLED;
		return;
	}
	kill_helpers(m);
	TAILQ_FOREACH(c, &m->children, link)
		if (c->pid == m->main)
			c->given_up = true;
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
		end_helper(m, fd);
	else if (n == 0 || (n == -1 && errno != EINTR && errno != EAGAIN))
		main_ends(m);
	io_close(&fd);
}

static void
close_doors(struct monitor *m)
{
	struct monitor_setup	*setup = m->setup;

	if (setup->listeners != NULL)
		listener_close(&setup->listeners, setup->nlisteners);
	setup->nlisteners = 0;
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

/* Whom they hold, if they cannot be killed, for the next main. */
static void
remember_lanes(struct monitor *m)
{
	struct child	*c;

	TAILQ_FOREACH(c, &m->children, link)
		if (c->role == ROLE_HELPER && c->generation == m->generation)
			c->lane = ledger_lane(m->ledger, c->pipe);
	ledger_clear(m->ledger);
}

static void
main_died(struct monitor *m, const char *how)
{
	int64_t	now = now_ms();

	m->main = 0;
	io_close(&m->control);
	/* Theirs is over as well, and some may not notice by themselves. */
	kill_helpers(m);
	remember_lanes(m);
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
	struct child	*c, *next;
	char		 how[100];
	pid_t		 pid;
	int		 status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		describe(status, how, sizeof(how));
		for (c = TAILQ_FIRST(&m->children); c != NULL; c = next) {
			next = TAILQ_NEXT(c, link);
			if (c->pid != pid)
				continue;
			if (c->role == ROLE_MAIN && c->pid == m->main)
				main_died(m, how);
			else if (status != 0 && m->ending == 0 && !c->given_up)
				log_warnx("%s %ld %s", role_names[c->role],
				    (long)pid, how);
			TAILQ_REMOVE(&m->children, c, link);
			free(c);
		}
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

static void
kill_all(struct monitor *m)
{
	struct child	*c;

	TAILQ_FOREACH(c, &m->children, link)
		kill(c->pid, SIGKILL);
}

/* ms until something is to be done without being woken. */
static int
patience(const struct monitor *m)
{
	int64_t	at = m->ending != 0 ? m->deadline : m->revive, left;

	if (at == 0)
		return FOREVER;
	left = at - now_ms();
	return left < 0 ? 0 : (int)left;
}

/* Only those that have been killed or have nothing more to do: what a dead
 * mount holds is not waited for. */
static bool
only_killed(const struct monitor *m)
{
	const struct child	*c;

	TAILQ_FOREACH(c, &m->children, link)
		if (!c->given_up)
			return false;
	return true;
}

/* What is due; false when it is time to go. */
static bool
look_around(struct monitor *m)
{
	if (m->ending == 0) {
		if (m->revive == 0 || now_ms() < m->revive)
			return true;
		if (m->main != 0)
			main_died(m, "does not end");
		start_main(m);
		return true;
	}
	if (TAILQ_EMPTY(&m->children))
		return false;
	if (!m->killed && only_killed(m)) {
		m->killed = true;
		m->deadline = now_ms() + KILLED;
	}
	if (now_ms() < m->deadline)
		return true;
	if (m->killed)
		return false;
	log_warnx("some processes do not end: killing them");
	kill_all(m);
	m->killed = true;
	m->deadline = now_ms() + KILLED;
	return true;
}

int
monitor_run(struct monitor_setup *setup)
{
	struct monitor	m = { .setup = setup, .control = -1 };
	struct pollfd	p[2];
	struct child	*c;

	TAILQ_INIT(&m.children);
	catch_signals();
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
	while ((c = TAILQ_FIRST(&m.children)) != NULL) {
		TAILQ_REMOVE(&m.children, c, link);
		free(c);
	}
	close_doors(&m);
	mounts_free(&m.mounts);
	ledger_free(&m.ledger);
	return 0;
}
