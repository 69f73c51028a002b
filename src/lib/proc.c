/*
 * proc: what the systems do differently about processes, in one place.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/capability.h>
#endif

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__) && !defined(LIBBSD_OVERLAY)
#include <bsd/unistd.h>
#endif

#include "lib/proc.h"

#define LAST_SECONDS	3		/* of a child without its parent */

extern char	**environ;

static char	*first_end;		/* of the first argument, as started */
static size_t	 first_len;

void
proc_title_init(int argc, char **argv)
{
#ifdef __linux__
	first_len = strlen(argv[0]);
	first_end = argv[0] + first_len;
	setproctitle_init(argc, argv, environ);
#else
	(void)argc;
	(void)argv;
#endif
}

void
proc_title(const char *title)
{
	setproctitle("-%s", title);	/* -: without the program's name */
#ifdef __linux__
	/* libbsd leaves a mark there, which ps shows when arguments follow. */
	if (strlen(title) < first_len)
		*first_end = '\0';
	prctl(PR_SET_NAME, title);	/* what ps -e and top show */
#endif
}

void
proc_follow(pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(0);
}

#ifdef __linux__
static void
begin_last_seconds(int signo)
{
	(void)signo;
	signal(SIGALRM, SIG_DFL);
	alarm(LAST_SECONDS);
}
#endif

void
proc_outlive(pid_t parent)
{
#ifdef __linux__
	struct sigaction	sa = { .sa_handler = begin_last_seconds,
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

void
proc_no_new_privileges(void)
{
#ifdef __linux__
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#endif
}

#ifdef __linux__
void
proc_bound_capabilities(void)
{
	for (int i = 0; prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == 0; i++)
		continue;
}

int
proc_no_capabilities(void)
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
proc_bound_capabilities(void)
{
}

int
proc_no_capabilities(void)
{
	return 0;
}
#endif

int
proc_become(const char *user, uid_t uid, gid_t gid)
{
	if (initgroups(user, gid) == -1 || setgid(gid) == -1 ||
	    setuid(uid) == -1)
		return -1;
	return 0;
}

bool
proc_may_read(const char *directory, const char *user, uid_t uid, gid_t gid)
{
	int	status = -1;
	pid_t	pid = fork();

	if (pid == 0)
		_exit(proc_become(user, uid, gid) == -1 ||
		    access(directory, R_OK | X_OK) == -1);
	return pid != -1 && waitpid(pid, &status, 0) == pid && status == 0;
}

int
proc_daemon(void)
{
	return daemon(0, 0);
}

size_t
proc_descriptors(void)
{
	struct rlimit	limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return 256;		/* POSIX promises less than that */
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

/* Who has changed its user is hidden from that user, and from itself.  Opened
 * before the change the table would also tell where in memory the pages are. */
int
proc_pagemap(void)
{
	int	fd = -1;

#ifdef __linux__
	int	hidden = prctl(PR_GET_DUMPABLE) != 1;

	if (hidden)
		prctl(PR_SET_DUMPABLE, 1);
	fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (hidden)
		prctl(PR_SET_DUMPABLE, 0);
#endif
	return fd;
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
proc_standard_descriptors(void)
{
	int	fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd != -1)
		close(fd);
}
