/*
 * Tests of programs/descendants.
 */
#include <sys/wait.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "programs/descendants.h"
#include "t/unit/unit.h"

static int	ready[2];

static _Noreturn void
sleep_for_ever(void)
{
	ck_assert_int_eq(write(ready[1], "x", 1), 1);
	for (;;)
		pause();
}

static void *
start_in_thread(void *unused)
{
	if (fork() == 0)
		sleep_for_ever();
	return unused;
}

/* Begins a process and those below it: a session of its own, a daemon, whose
 * parent has ended, and one that another thread has started. */
static pid_t
start_tree(void)
{
	pid_t		leader = fork();
	pthread_t	thread;

	if (leader != 0)
		return leader;
	setpgid(0, 0);
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			sleep_for_ever();
		sleep_for_ever();
	}
	if (fork() == 0) {
		if (fork() == 0) {
			setsid();
			sleep_for_ever();
		}
		_exit(0);
	}
	if (pthread_create(&thread, NULL, start_in_thread, NULL) != 0)
		abort();
	pthread_join(thread, NULL);
	sleep_for_ever();
}

/* Counts children that were ended by a signal, until there are no more. */
static unsigned
count_ended(int signo)
{
	unsigned	n = 0;
	int		status;

	while (wait(&status) != -1)
		n += WIFSIGNALED(status) && WTERMSIG(status) == signo;
	ck_assert_int_eq(errno, ECHILD);
	return n;
}

START_TEST(all_get_it)
{
	char	text[5];
	pid_t	leader;

	ck_assert_int_eq(pipe(ready), 0);
	descendants_adopt();
	leader = start_tree();
	for (size_t i = 0; i < sizeof(text); i++)
		ck_assert_int_eq(read(ready[0], text, 1), 1);
	descendants_signal(leader, SIGUSR1);
	ck_assert_uint_ge(count_ended(SIGUSR1), 5);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

static bool
is_same(const void *pid, pid_t child)
{
	return *(const pid_t *)pid == child;
}

/* A tree is killed, but for a child that is known, and what that has. */
START_TEST(strangers_are_killed)
{
	char	byte;
	pid_t	own;

	ck_assert_int_eq(pipe(ready), 0);
	descendants_adopt();
	own = fork();
	if (own == 0) {
		if (fork() == 0)
			sleep_for_ever();
		sleep_for_ever();
	}
	(void)start_tree();
	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	while (descendants_kill_strangers(is_same, &own))
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
	ck_assert_int_eq(kill(own, 0), 0);
	descendants_signal(own, SIGUSR2);
	ck_assert_uint_eq(count_ended(SIGUSR2), 2);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

void
unit_tests(TCase *tests)
{
#ifdef __linux__
	tcase_add_test(tests, all_get_it);
	tcase_add_test(tests, strangers_are_killed);
#else
	(void)tests;
	(void)all_get_it;
	(void)strangers_are_killed;
#endif
}
