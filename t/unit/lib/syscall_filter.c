/*
 * Tests of lib/syscall_filter: names of roles, and calls that a role may not
 * make.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <linux/sockios.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/pagemap.h"
#include "lib/proc.h"
#include "lib/syscall_filter.h"
#include "t/unit/unit.h"

#define SANITIZED	(COMPILER_ASAN || COMPILER_TSAN)

START_TEST(names)
{
	ck_assert_uint_eq(syscall_filter_roles("main"), SYSCALL_ROLE_MAIN);
	ck_assert_uint_eq(syscall_filter_roles("files,users"),
	    SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS);
	ck_assert_uint_eq(syscall_filter_roles("log"), SYSCALL_ROLE_LOG);
	ck_assert_uint_eq(syscall_filter_roles(""), 0);
	ck_assert_uint_eq(syscall_filter_roles("file"), 0);
	ck_assert_uint_eq(syscall_filter_roles("files,"), 0);
	ck_assert_uint_eq(syscall_filter_roles("files,none"), 0);
}
END_TEST

/* Each of these functions returns 0, or an errno. */

static int
start_process(void)
{
	return fork() == -1 ? errno : 0;
}

static void *
do_nothing(void *nothing)
{
	return nothing;
}

static int
start_thread(void)
{
	pthread_t	thread;
	int		error;

	error = pthread_create(&thread, NULL, do_nothing, NULL);
	return error != 0 ? error : pthread_join(thread, NULL);
}

static int
open_file(void)
{
	return open("/dev/null", O_RDONLY) == -1 ? errno : 0;
}

static int
make_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) == -1 ? errno : 0;
}

static int
make_far_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) == -1 ? errno : 0;
}

static int
make_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

static int
make_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

static int
make_changing_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

static int
signal_oneself(void)
{
	signal(SIGUSR1, SIG_IGN);
	return raise(SIGUSR1);
}

static int
signal_parent(void)
{
	return kill(getppid(), SIGCONT) == -1 ? errno : 0;
}

/* Without a descriptor: EBADF from the system, or the filter's errno. */
static int
ask_for_pages(void)
{
#ifndef PAGEMAP_IOC_SCAN
	return EBADF;
#else
	const unsigned long	request = PAGEMAP_IOC_SCAN;

	return syscall(SYS_ioctl, -1, request, NULL) == -1 ? errno : 0;
#endif
}

static int
ask_for_unsent(void)
{
	int	n;

	return ioctl(-1, SIOCOUTQ, &n) == -1 ? errno : 0;
}

static int
end_by_reset(void)
{
	struct linger	at_once = { .l_onoff = 1 };

	return setsockopt(-1, SOL_SOCKET, SO_LINGER, &at_once,
	    sizeof(at_once)) == -1 ? errno : 0;
}

static int
ask_otherwise(void)
{
	return ioctl(-1, FIONREAD, NULL) == -1 ? errno : 0;
}

/* Sets the flags that libraries and loops set on their own descriptors. */
static int
set_descriptor(void)
{
	int	copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	return copy == -1 || fcntl(copy, F_GETFD) == -1 ||
	    fcntl(copy, F_SETFD, FD_CLOEXEC) == -1 ||
	    fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) | O_NONBLOCK) == -1 ?
	    errno : 0;
}

static int
own_descriptor(void)
{
	return fcntl(STDIN_FILENO, F_SETOWN, getppid()) == -1 ? errno : 0;
}

static int
choose_signal(void)
{
	return fcntl(STDIN_FILENO, F_SETSIG, SIGCONT) == -1 ? errno : 0;
}

static int
ask_for_signals(void)
{
	return fcntl(STDIN_FILENO, F_SETFL, O_ASYNC) == -1 ? errno : 0;
}

static int
own_by_ioctl(void)
{
	int	pid = getppid();

	return ioctl(STDIN_FILENO, FIOSETOWN, &pid) == -1 ? errno : 0;
}

/* On a closed descriptor: EBADF, unless the filter forbids the call. */
static int
set_option(int level, int option)
{
	int	on = 1;

	return setsockopt(-1, level, option, &on, sizeof(on)) == -1 ? errno : 0;
}

static int
cork(void)
{
	return set_option(IPPROTO_TCP, TCP_CORK);
}

static int
change_protocol(void)
{
	return set_option(IPPROTO_TCP, TCP_ULP);
}

static int
attach_filter(void)
{
	return set_option(SOL_SOCKET, SO_ATTACH_FILTER);
}

/* The same option numbers at other levels are other options. */
static int
set_netfilter(void)
{
	return set_option(IPPROTO_IP, TCP_CORK);
}

static int
ask_for_filter(void)
{
	socklen_t	len = 0;

	return getsockopt(-1, SOL_SOCKET, SO_GET_FILTER, NULL, &len) == -1 ?
	    errno : 0;
}

static int
look_at_own_limit(void)
{
	struct rlimit	limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == -1 ? errno : 0;
}

static int
look_at_limit_of_parent(void)
{
	struct rlimit	limit;

	return prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit) == -1 ?
	    errno : 0;
}

#define DIES		(-1)
/* The C library blocks all signals then, so no line need be written. */
#define DIES_AT_ONCE	(-2)

static const struct {
	int		(*what)(void);
	unsigned	 roles;
	int		 result;	/* 0, an errno, DIES ... */
} cases[] = {
    {start_process, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES | SYSCALL_ROLE_LOG,
	DIES_AT_ONCE},	/* from glibc 2.41 on */
    {start_process, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EPERM},
    {start_process, SYSCALL_ROLE_LOG | SYSCALL_ROLE_NAMES, EPERM},
    {start_thread, SYSCALL_ROLE_LOG | SYSCALL_ROLE_NAMES, 0},
    {start_thread, SYSCALL_ROLE_LOG, DIES_AT_ONCE},
    {make_socket, SYSCALL_ROLE_LOG | SYSCALL_ROLE_SYSLOG, 0},
    {make_far_socket, SYSCALL_ROLE_LOG | SYSCALL_ROLE_SYSLOG, EAFNOSUPPORT},
    {make_far_socket, SYSCALL_ROLE_LOG | SYSCALL_ROLE_NAMES, 0},
    {open_file, SYSCALL_ROLE_LOG | SYSCALL_ROLE_SYSLOG, EPERM},
    {open_file, SYSCALL_ROLE_MAIN, EPERM},
    {open_file, SYSCALL_ROLE_LOG, EPERM},
    {open_file, SYSCALL_ROLE_FILES, 0},
    {open_file, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES, 0},
    {make_socket, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES, DIES},
    {make_socket, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, 0},
    {make_far_socket, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EAFNOSUPPORT},
    {make_far_socket, SYSCALL_ROLE_MAIN, DIES},
    {ask_for_pages, SYSCALL_ROLE_MAIN, EBADF},
    {ask_for_pages, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES, EBADF},
    {ask_for_pages, SYSCALL_ROLE_FILES, EPERM},
    {ask_for_pages, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_USERS, EBADF},
    {ask_for_unsent, SYSCALL_ROLE_MAIN, EBADF},
    {ask_for_unsent, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES, EBADF},
    {ask_for_unsent, SYSCALL_ROLE_FILES, EPERM},
    {end_by_reset, SYSCALL_ROLE_MAIN, EBADF},
    {end_by_reset, SYSCALL_ROLE_FILES, DIES},
    {ask_otherwise, SYSCALL_ROLE_MAIN, EPERM},
    {ask_otherwise, SYSCALL_ROLE_LOG, EPERM},
    {ask_otherwise, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EBADF},
    {make_memory, SYSCALL_ROLE_MAIN, 0},
    {make_memory, SYSCALL_ROLE_LOG, 0},
    {make_code, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES, DIES},
    {make_code, SYSCALL_ROLE_USERS, 0},
    {make_changing_code, SYSCALL_ROLE_USERS, EPERM},
    {make_changing_code, SYSCALL_ROLE_FILES, DIES},
    {signal_oneself, SYSCALL_ROLE_MAIN, 0},
    {signal_parent, SYSCALL_ROLE_MAIN, DIES},
    {set_descriptor, SYSCALL_ROLE_MAIN, 0},
    {set_descriptor, SYSCALL_ROLE_LOG, 0},
    {set_descriptor, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, 0},
    {own_descriptor, SYSCALL_ROLE_MAIN, DIES},
    {own_descriptor, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES, DIES},
    {own_descriptor, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EPERM},
    {own_descriptor, SYSCALL_ROLE_LOG | SYSCALL_ROLE_NAMES, EPERM},
    {choose_signal, SYSCALL_ROLE_MAIN, DIES},
    {choose_signal, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EPERM},
    {ask_for_signals, SYSCALL_ROLE_MAIN, DIES},
    {ask_for_signals, SYSCALL_ROLE_LOG, DIES},
    {ask_for_signals, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EPERM},
    {own_by_ioctl, SYSCALL_ROLE_MAIN, EPERM},
    {own_by_ioctl, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EPERM},
    {own_by_ioctl, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS,
	EPERM},
    {cork, SYSCALL_ROLE_MAIN, EBADF},
    {cork, SYSCALL_ROLE_MAIN | SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EBADF},
    {cork, SYSCALL_ROLE_FILES, DIES},
    {change_protocol, SYSCALL_ROLE_MAIN, DIES},
    {change_protocol, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EPERM},
    {attach_filter, SYSCALL_ROLE_MAIN, DIES},
    {attach_filter, SYSCALL_ROLE_LOG | SYSCALL_ROLE_NAMES, EPERM},
    {set_netfilter, SYSCALL_ROLE_MAIN, DIES},
    {ask_for_filter, SYSCALL_ROLE_MAIN, EBADF},
    {look_at_own_limit, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, 0},
    {look_at_limit_of_parent, SYSCALL_ROLE_FILES | SYSCALL_ROLE_USERS, EPERM},
    {look_at_limit_of_parent, SYSCALL_ROLE_LOG | SYSCALL_ROLE_NAMES, EPERM},
    {look_at_limit_of_parent, SYSCALL_ROLE_MAIN, DIES},
};

START_TEST(restricts)
{
	char	said[300] = "";
	int	fds[2], status;
	pid_t	pid;

	if (!syscall_filter_available() || SANITIZED)
		return;
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		log_init("test", LOG_LEVEL_ERROR);
		proc_no_new_privileges();
		if (syscall_filter_enter(cases[_i].roles) == -1)
			_exit(255);
		_exit(cases[_i].what());
	}
	close(fds[1]);
	ck_assert_int_ne(read(fds[0], said, sizeof(said) - 1), -1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (cases[_i].result < 0) {
		ck_assert_msg(WIFSIGNALED(status), "case %d lives", _i);
		ck_assert_int_eq(WTERMSIG(status), SIGSYS);
		if (cases[_i].result == DIES)
			ck_assert_ptr_nonnull(strstr(said, "is forbidden"));
	} else {
		ck_assert_msg(WIFEXITED(status), "case %d dies: %s", _i, said);
		ck_assert_int_eq(WEXITSTATUS(status), cases[_i].result);
		ck_assert_str_eq(said, "");
	}
}
END_TEST

static atomic_bool	runs;

/* Waits for the start, makes the call, and exits with its result. */
static void *
be_thread(void *fd)
{
	char	byte;

	runs = true;
	if (read(*(int *)fd, &byte, 1) == 1)
		_exit(open_file());
	_exit(255);
}

/* The filter confines a thread that runs already. */
START_TEST(threads)
{
	pthread_t	thread;
	int		fds[2], status;
	pid_t		pid;

	if (!syscall_filter_available() || SANITIZED)
		return;
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		proc_no_new_privileges();
		if (pthread_create(&thread, NULL, be_thread, &fds[0]) != 0)
			_exit(254);
		while (!runs)
			sched_yield();
		if (syscall_filter_enter(SYSCALL_ROLE_MAIN) == -1)
			_exit(254);
		if (write(fds[1], "", 1) == 1)
			pthread_join(thread, NULL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), EPERM);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, threads);
	tcase_add_test(tests, names);
	tcase_add_loop_test(tests, restricts, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
}
