/*
 * Tests of lib/listen_fds: a child passes descriptors to itself.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/listen_fds.h"
#include "t/unit/unit.h"

static ino_t
inode_of(int fd)
{
	struct stat	st;

	return fstat(fd, &st) == -1 ? 0 : st.st_ino;
}

/* Checks a condition in a child. */
static void
check_fd(bool (*condition)(void))
{
	int	status;
	pid_t	pid = fork();

	ck_assert_int_ne(pid, -1);
	if (pid == 0)
		_exit(condition() ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Two descriptors whose numbers must be swapped keep their names. */
static bool
pass_fds(void)
{
	struct listen_fd	 give[2] = { { .name = "one" },
				    { .name = "two" } };
	struct listen_fd	*list;
	ino_t			 one, two;
	int			 fds[2];

	closefrom(3);
	if (pipe(fds) == -1 || fds[0] != 3 || fds[1] != 4)
		return false;
	close(fds[1]);
	if (open("/dev/zero", O_RDONLY | O_CLOEXEC) != 4)
		return false;
	give[0].fd = 4;
	give[1].fd = 3;
	one = inode_of(4);
	two = inode_of(3);
	if (listen_fds_give(give, 2) != 0 ||
	    (fcntl(3, F_GETFD) & FD_CLOEXEC) != 0 ||
	    strcmp(getenv("LISTEN_FDNAMES"), "one:two") != 0 ||
	    listen_fds_take(&list) != 2)
		return false;
	return list[0].fd == 3 && list[1].fd == 4 &&
	    strcmp(list[0].name, "one") == 0 &&
	    strcmp(list[1].name, "two") == 0 && inode_of(3) == one &&
	    inode_of(4) == two && (fcntl(4, F_GETFD) & FD_CLOEXEC) != 0;
}

static size_t
take_fds(const char *pid, const char *fds, const char *names)
{
	struct listen_fd	*list;
	size_t			 n;

	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", fds, 1);
	if (names != NULL)
		setenv("LISTEN_FDNAMES", names, 1);
	n = listen_fds_take(&list);
	if (getenv("LISTEN_PID") != NULL || getenv("LISTEN_FDS") != NULL ||
	    getenv("LISTEN_FDNAMES") != NULL || (n == 0) != (list == NULL))
		return 999;
	free(list);
	return n;
}

/* Another process's, too many, no number, not open: all are ignored. */
static bool
check_refused(void)
{
	char	me[32];

	closefrom(3);
	snprintf(me, sizeof(me), "%ld", (long)getpid());
	if (open("/dev/zero", O_RDONLY) != 3)
		return false;
	return take_fds("1", "1", NULL) == 0 && take_fds("", "1", NULL) == 0 &&
	    take_fds(me, "0", NULL) == 0 && take_fds(me, "-1", NULL) == 0 &&
	    take_fds(me, "x", NULL) == 0 &&
	    take_fds(me, "100000000000", NULL) == 0 &&
	    take_fds(me, "513", NULL) == 0 &&
	    (fcntl(3, F_GETFD) & FD_CLOEXEC) == 0 &&
	    take_fds(me, "3", NULL) == 1 && take_fds(me, "1", "") == 1 &&
	    take_fds(me, "1", "a:b:c") == 1;
}

/* A name that is too long becomes "".  Other names stay with their descriptors,
 * even behind one that is not open. */
static bool
check_named(void)
{
	struct listen_fd	*list;
	char			 me[32], names[2 * LISTEN_FDS_NAME_SIZE];

	closefrom(3);
	snprintf(me, sizeof(me), "%ld", (long)getpid());
	if (open("/dev/zero", O_RDONLY) != 3 || dup(3) != 4)
		return false;
	setenv("LISTEN_PID", me, 1);
	setenv("LISTEN_FDS", "4", 1);
	setenv("LISTEN_FDNAMES", "one:two:three", 1);
	close(3);
	if (listen_fds_take(&list) != 1 || list[0].fd != 4 ||
	    strcmp(list[0].name, "two") != 0 || dup(4) != 3)
		return false;
	memset(names, 'x', LISTEN_FDS_NAME_SIZE);
	strcpy(names + LISTEN_FDS_NAME_SIZE, ":short");
	setenv("LISTEN_PID", me, 1);
	setenv("LISTEN_FDS", "2", 1);
	setenv("LISTEN_FDNAMES", names, 1);
	return listen_fds_take(&list) == 2 && list[0].name[0] == '\0' &&
	    strcmp(list[1].name, "short") == 0;
}

START_TEST(each_arrives_under_its_name)
{
	check_fd(pass_fds);
}
END_TEST

START_TEST(what_is_not_ours_is_left)
{
	check_fd(check_refused);
}
END_TEST

START_TEST(long_names_are_none)
{
	check_fd(check_named);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, each_arrives_under_its_name);
	tcase_add_test(tests, what_is_not_ours_is_left);
	tcase_add_test(tests, long_names_are_none);
}
