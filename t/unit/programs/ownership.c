/*
 * Tests of programs/ownership: modes and owners of a file and its directory.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/ownership.h"
#include "t/unit/unit.h"

static char	directory[64], file[80];
static FILE	*said;

static void
set_up(void)
{
	strcpy(directory, "/tmp/amped-ownership.XXXXXX");
	ck_assert_ptr_ne(mkdtemp(directory), NULL);
	snprintf(file, sizeof(file), "%s/file", directory);
	close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0700));
	said = tmpfile();
}

static void
tear_down(void)
{
	fclose(said);
	unlink(file);
	rmdir(directory);
}

/* Modes and owners, 0: this user; the words of the line, NULL: it is good. */
static const struct {
	mode_t		 mode, directory_mode;
	uid_t		 owner, directory_owner;
	const char	*line;
} cases[] = {
	{ 0755, 0755, 0, 0, NULL },
	{ 0500, 0700, 0, 0, NULL },
	{ 0644, 0755, 0, 0, NULL },
	{ 0755, 02755, 0, 0, NULL },
	{ 0775, 0755, 0, 0, "/file may be written by others" },
	{ 0757, 0755, 0, 0, "/file may be written by others" },
	{ 0755, 0775, 0, 0, " may be written by others" },
	{ 0755, 01777, 0, 0, " may be written by others" },
	{ 04755, 0755, 0, 0, "/file has a set-user-id" },
	{ 02755, 0755, 0, 0, "/file has a set-user-id" },
	{ 0755, 0755, 1, 0, "/file belongs to another user" },
	{ 0755, 0755, 0, 1, " belongs to another user" },
};

START_TEST(looks_at_both)
{
	char	line[400] = "", want[200];
	int	good;

	if ((cases[_i].owner != 0 && chown(file, cases[_i].owner,
	    (gid_t)-1) == -1) || (cases[_i].directory_owner != 0 &&
	    chown(directory, cases[_i].directory_owner, (gid_t)-1) == -1)) {
		ck_assert_int_eq(errno, EPERM);		/* not root */
		return;
	}
	ck_assert_int_eq(chmod(file, cases[_i].mode), 0);
	ck_assert_int_eq(chmod(directory, cases[_i].directory_mode), 0);
	errno = 0;
	good = ownership_check(file, fileno(said));
	ck_assert_int_eq(good, cases[_i].line == NULL ? 0 : -1);
	ck_assert_int_eq(errno, cases[_i].line == NULL ? 0 : EACCES);
	ck_assert(pread(fileno(said), line, sizeof(line) - 1, 0) >= 0);
	snprintf(want, sizeof(want), "not executed, as it has a user of its "
	    "own: %s%s", directory, cases[_i].line);
	if (cases[_i].line == NULL)
		ck_assert_str_eq(line, "");
	else
		ck_assert_int_eq(strncmp(line, want, strlen(want)), 0);
}
END_TEST

START_TEST(finds_nothing)
{
	unlink(file);
	ck_assert_int_eq(ownership_check(file, fileno(said)), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(ownership_check("/", fileno(said)), 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, looks_at_both, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, finds_nothing);
}
