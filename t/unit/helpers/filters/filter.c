/* Tests of what a filter of amped may reach once it is confined. */
#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/filters/filter.h"
#include "lib/landlock.h"
#include "lib/proc.h"
#include "t/unit/unit.h"

static char	directory[] = "/tmp/amped-unit-XXXXXX";

static bool
can_open(const char *name)
{
	int	fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return false;
	close(fd);
	return true;
}

static const struct {
	bool	may_gain, has_directory;	/* privileges; for files */
	bool	beneath, elsewhere;		/* can be read */
} cases[] = {
	{ true, false, true, true },
	{ false, false, false, false },
	{ false, true, true, false },
};

/* An exit status: 0, or the number of what is wrong. */
static int
try_files(int number, const char *name)
{
	if (!cases[number].may_gain)
		proc_no_new_privileges();
	filter_confine(cases[number].has_directory ? directory : NULL);
	if (can_open(name) != cases[number].beneath)
		return 1;
	if (can_open("/etc/passwd") != cases[number].elsewhere)
		return 2;
	filter_write("good", 4);
	filter_flush();
	filter_limit(1);
	return 0;
}

/* A process that may gain privileges is not confined; another one reaches what
 * is beneath the directory that is named, and writes what is open. */
START_TEST(confined)
{
	char	name[] = "/tmp/amped-unit-XXXXXX/a", bytes[8];
	int	ends[2], status, fd;
	pid_t	pid;

	if (landlock_version() == 0 ||
	    (cases[_i].may_gain && proc_has_no_new_privileges()))
		return;
	ck_assert_ptr_nonnull(mkdtemp(directory));
	memcpy(name, directory, sizeof(directory) - 1);
	fd = open(name, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		_exit(try_files(_i, name));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(read(ends[0], bytes, sizeof(bytes)), 4);
	close(fd);
	unlink(name);
	rmdir(directory);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, confined, 0,
	    sizeof(cases) / sizeof(cases[0]));
}
