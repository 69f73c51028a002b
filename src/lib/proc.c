/*
 * proc: what the systems do differently about processes, in one place.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/capability.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__) && !defined(LIBBSD_OVERLAY)
#include <bsd/unistd.h>
#endif

#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "lib/user.h"

#define TITLE_MAX	1024		/* bytes */
#define SURVIVE_SECONDS	3		/* after the death of the parent */

extern char	**environ;

static char	*argv0_end;		/* its original terminator */
static size_t	 argv0_len;
static pid_t	 daemon_pid;		/* the child in the background */

void
proc_title_init(int argc, char **argv)
{
#ifdef __linux__
	argv0_len = strlen(argv[0]);
	argv0_end = argv[0] + argv0_len;
	setproctitle_init(argc, argv, environ);
#else
	(void)argc;
	(void)argv;
#endif
}

void
proc_title_of(const char *title, const char *subject)
{
	char	whole[TITLE_MAX];
	size_t	len = (size_t)snprintf(whole, sizeof(whole), "%s%s%s", title,
		    subject[0] != '\0' ? " " : "", subject);

	setproctitle("-%s", whole);	/* -: without the program's name */
#ifdef __linux__
	/* libbsd leaves a byte there that ps shows. */
	if (len <= argv0_len)
		*argv0_end = '\0';
	prctl(PR_SET_NAME, title);	/* for ps -e and top */
#else
	(void)len;
#endif
}

void
proc_title(const char *title)
{
	proc_title_of(title, "");
}

/* The absolute path of dir/name, to be freed; NULL: it is not executable. */
static char *
program_at(const char *dir, size_t len, const char *name)
{
	char	 here[PATH_MAX], *path;

	if (len > 0 && dir[0] == '/')
		here[0] = '\0';
	else if (getcwd(here, sizeof(here)) == NULL)
		return NULL;
	if (asprintf(&path, "%s%s%.*s%s%s", here, here[0] != '\0' && len > 0 ?
	    "/" : "", (int)len, dir, name[0] == '/' ? "" : "/", name) == -1)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* Searches PATH as the shell did. */
static char *
search_path(const char *name)
{
	const char	*dir = getenv("PATH");
	char		*path = NULL;
	size_t		 n;

	for (; dir != NULL && path == NULL; dir += n + 1) {
		n = strcspn(dir, ":");
		path = program_at(dir, n, name);
		if (dir[n] == '\0')
			break;
	}
	return path;
}

char *
proc_path(const char *argv0)
{
	struct stat	 us, other;
	char		*path;

	if (argv0[0] == '/')
		path = strdup(argv0);
	else
		path = strchr(argv0, '/') != NULL ?
		    program_at("", 0, argv0) : search_path(argv0);
#ifdef __linux__
	/* argv[0] may name another program than the one that runs. */
	if (path == NULL || stat(path, &other) == -1 ||
	    stat("/proc/self/exe", &us) == -1 || us.st_dev != other.st_dev ||
	    us.st_ino != other.st_ino) {
		free(path);
		path = realpath("/proc/self/exe", NULL);
	}
#endif
	return path;
}

void
proc_die_with_parent(pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(0);
}

void
proc_start_session(int nice)
{
#ifdef __linux__
	const struct timespec	pause = { .tv_nsec = 20 * 1000 * 1000 };
	int			fd, tries = 10;
#endif

	setsid();
#ifdef __linux__
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	while (dprintf(fd, "%d", nice) < 0 && errno == EAGAIN && --tries > 0)
		(void)nanosleep(&pause, NULL);
	close(fd);
#else
	(void)nice;
#endif
}

#ifdef __linux__
static void
on_parent_death(int signo)
{
	(void)signo;
	signal(SIGALRM, SIG_DFL);
	alarm(SURVIVE_SECONDS);
}
#endif

void
proc_survive_parent(pid_t parent)
{
#ifdef __linux__
	struct sigaction	sa = { .sa_handler = on_parent_death,
				    .sa_flags = SA_RESTART };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGALRM, &sa, NULL);
	prctl(PR_SET_PDEATHSIG, SIGALRM);
	if (getppid() != parent)
		raise(SIGALRM);
#else
	(void)parent;
#endif
}

unsigned
proc_processors(void)
{
#ifdef CPU_COUNT
	cpu_set_t	set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 &&
	    CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
#endif
	return 1;
}

void
proc_no_new_privileges(void)
{
#ifdef __linux__
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#endif
}

bool
proc_has_no_new_privileges(void)
{
#ifdef __linux__
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
#else
	return false;
#endif
}

#ifdef __linux__
void
proc_drop_bounding_set(void)
{
	for (int i = 0; prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == 0; i++)
		continue;
}

int
proc_drop_capabilities(void)
{
	struct __user_cap_header_struct	head = {
		.version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct	none[_LINUX_CAPABILITY_U32S_3] = {
		{ 0, 0, 0 } };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return (int)syscall(SYS_capset, &head, none);
}
#else
void
proc_drop_bounding_set(void)
{
}

int
proc_drop_capabilities(void)
{
	return 0;
}
#endif

bool
proc_may_read(const struct user *u, const char *directory)
{
	int	status = -1;
	pid_t	pid = fork();

	if (pid == 0)
		_exit(user_become(u) == -1 ||
		    access(directory, R_OK | X_OK) == -1);
	return pid != -1 && waitpid(pid, &status, 0) == pid && status == 0;
}

bool
proc_may_execute(const struct user *u, int program)
{
	int	status = -1;
	pid_t	pid = fork();

	/* A kernel without such a check says so by another error. */
	if (pid == 0)
		_exit(user_become(u) == 0 && faccessat(program, "", X_OK,
		    AT_EMPTY_PATH | AT_EACCESS) == -1 && errno == EACCES);
	return pid == -1 || waitpid(pid, &status, 0) != pid || status == 0;
}

void
proc_run_as(const struct user *u, void (*function)(const void *),
    const void *context)
{
	pid_t	parent = getpid(), pid = fork();

	if (pid == 0) {
		if (user_become(u) == -1)
			_exit(0);
		proc_die_with_parent(parent);
		function(context);
		_exit(0);
	}
	if (pid != -1)
		waitpid(pid, NULL, 0);
}

/* Forwards a signal that was sent to the waiting parent. */
static void
forward_signal(int signo)
{
	kill(daemon_pid, signo);
}

/* Waits in the parent until the child is ready, calls a function, and exits; or
 * until the child has ended. */
static _Noreturn void
wait_for_daemon(int pipe, void (*ready)(pid_t))
{
	static const int	passed[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
				    SIGUSR1, SIGUSR2 };
	int			status;
	char			byte;
	ssize_t			n;

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		signal(passed[i], forward_signal);
	proc_signals_unblock();
	do
		n = read(pipe, &byte, 1);
	while (n == -1 && errno == EINTR);
	if (n == 1) {
		ready(daemon_pid);
		_exit(0);
	}
	while (waitpid(daemon_pid, &status, 0) == -1 && errno == EINTR)
		continue;
	log_errorx("amped ended in the background before it was ready; see its "
	    "error log");
	/* Never 0, although a child that was told to end exits with it. */
	_exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ?
	    WEXITSTATUS(status) : EX_SOFTWARE);
}

static int
leave_terminal(void)
{
	int	null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null == -1 || setsid() == -1 || chdir("/") == -1)
		return -1;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) == -1)
			return -1;
	close(null);
	return 0;
}

int
proc_daemon(int *waiting, void (*ready)(pid_t))
{
	int	fds[2];

	if (pipe2(fds, O_CLOEXEC) == -1)
		return -1;
	daemon_pid = fork();
	if (daemon_pid == -1)
		return -1;
	if (daemon_pid > 0) {
		close(fds[1]);
		wait_for_daemon(fds[0], ready);
	}
	close(fds[0]);
	*waiting = fds[1];
	return leave_terminal();
}

void
proc_daemon_ready(int *waiting)
{
	/* Writing fails if the parent has ended, which does not matter. */
	if (*waiting != -1)
		(void)io_write_all(*waiting, "", 1);
	io_close(waiting);
}

size_t
proc_raise_fd_limit(void)
{
	struct rlimit	limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return 256;		/* all systems have as many */
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
		getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > 1 << 20 ? 1 << 20 : (size_t)limit.rlim_cur;
}

void
proc_signals_reset(void)
{
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
}

void
proc_signals_block(void)
{
	sigset_t	all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

void
proc_signals_unblock(void)
{
	sigset_t	none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void
proc_close_from(int first)
{
	closefrom(first);
}

void
proc_open_standard_fds(void)
{
	int	fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd != -1)
		close(fd);
}
