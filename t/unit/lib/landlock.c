/*
 * Tests of lib/landlock: each runs in a child, whose exit status says what the
 * child could still do.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/landlock.h"
#include "lib/proc.h"
#include "t/unit/unit.h"

enum { READS_IN = 1, LISTS_IN = 2, WRITES_IN = 4, READS_OUT = 8,
    REPLACES_IN = 16, EXECUTES_IN = 32, FAILED = 64, MAKES_IN = 128 };

static char	top[] = "/tmp/amped-landlock-XXXXXX";

static const char *
in_tree(const char *file)
{
	static char	names[4][100];
	static int	next;

	next = (next + 1) % 4;
	snprintf(names[next], sizeof(names[next]), "%s/%s", top, file);
	return names[next];
}

static bool
can_open(const char *file, int flags)
{
	int	fd = open(file, flags, 0600);

	if (fd == -1)
		ck_assert_int_eq(errno, EACCES);
	close(fd);
	return fd != -1;
}

/* The file is empty: a system that may execute it knows no way to. */
static bool
can_execute(const char *file)
{
	char	*arguments[] = { NULL };

	ck_assert_int_eq(execv(file, arguments), -1);
	ck_assert(errno == EACCES || errno == ENOEXEC);
	return errno == ENOEXEC;
}

static int
try_all(void)
{
	int	n = 0;

	n |= can_open(in_tree("in/file"), O_RDONLY) ? READS_IN : 0;
	n |= can_open(in_tree("in"), O_RDONLY | O_DIRECTORY) ? LISTS_IN : 0;
	n |= can_open(in_tree("in/new"), O_WRONLY | O_CREAT) ? WRITES_IN : 0;
	n |= can_open(in_tree("out"), O_RDONLY) ? READS_OUT : 0;
	n |= rename(in_tree("in/new"), in_tree("in/newer")) == 0 ?
	    REPLACES_IN : 0;
	n |= can_execute(in_tree("in/file")) ? EXECUTES_IN : 0;
	n |= mkdir(in_tree("in/sub"), 0700) == 0 &&
	    rmdir(in_tree("in/sub")) == 0 ? MAKES_IN : 0;
	return n;
}

static void
make_tree(void)
{
	ck_assert_ptr_nonnull(mkdtemp(top));
	ck_assert_int_eq(mkdir(in_tree("in"), 0700), 0);
	close(open(in_tree("in/file"), O_WRONLY | O_CREAT, 0700));
	close(open(in_tree("out"), O_WRONLY | O_CREAT, 0600));
}

static void
remove_tree(void)
{
	unlink(in_tree("in/file"));
	unlink(in_tree("in/new"));
	unlink(in_tree("in/newer"));
	rmdir(in_tree("in"));
	unlink(in_tree("out"));
	rmdir(top);
}

/* Enters a ruleset with one rule; returns what is still possible. */
static int
allowed(const char *what, enum landlock_right right)
{
	pid_t	pid = fork();
	int	rules, status;

	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		proc_no_new_privileges();
		rules = landlock_create(true);
		if (rules == -1 || (what != NULL &&
		    landlock_allow(rules, in_tree(what), right) == -1) ||
		    landlock_enter(rules) == -1)
			_exit(FAILED);
		_exit(try_all());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(rules)
{
	if (landlock_version() == 0) {
		ck_assert_int_eq(landlock_create(true), -1);
		return;
	}
	make_tree();
	ck_assert_int_eq(allowed(NULL, LANDLOCK_READ), 0);
	ck_assert_int_eq(allowed("in", LANDLOCK_READ), READS_IN | LISTS_IN);
	ck_assert_int_eq(allowed("in/file", LANDLOCK_READ), READS_IN);
	ck_assert_int_eq(allowed("in", LANDLOCK_READ_FILES), READS_IN);
	ck_assert_int_eq(allowed("out", LANDLOCK_READ_FILES), READS_OUT);
	ck_assert_int_eq(allowed("in", LANDLOCK_WRITE),
	    READS_IN | LISTS_IN | WRITES_IN | REPLACES_IN);
	ck_assert_int_eq(allowed("in", LANDLOCK_CHANGE), READS_IN | LISTS_IN |
	    WRITES_IN | REPLACES_IN | MAKES_IN);
	ck_assert_int_eq(allowed("in", LANDLOCK_EXECUTE), READS_IN | LISTS_IN |
	    EXECUTES_IN);
	ck_assert_int_eq(allowed("in/file", LANDLOCK_EXECUTE), READS_IN |
	    EXECUTES_IN);
	ck_assert_int_eq(allowed("nowhere", LANDLOCK_READ), FAILED);
	/* Without a ruleset all is possible. */
	ck_assert_int_eq(try_all(), READS_IN | LISTS_IN | WRITES_IN |
	    READS_OUT | REPLACES_IN | EXECUTES_IN | MAKES_IN);
	remove_tree();
}
END_TEST

START_TEST(no_descriptor)
{
	ck_assert_int_eq(landlock_allow(-1, "/", LANDLOCK_READ), -1);
	ck_assert_int_eq(landlock_enter(-1), -1);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, rules);
	tcase_add_test(tests, no_descriptor);
}
