/*
 * Tests of programs/private_socket.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "programs/private_socket.h"
#include "t/unit/unit.h"

static char	directory[] = "/tmp/amped-private.XXXXXX";

static void
set_up(void)
{
	ck_assert_ptr_ne(mkdtemp(directory), NULL);
	ck_assert_int_eq(setenv("TMPDIR", directory, 1), 0);
}

/* Nothing stays in the directory. */
static void
tear_down(void)
{
	ck_assert_int_eq(rmdir(directory), 0);
}

/* Accepts a connection, which must be that one. */
static void
check_pair(struct private_socket *s)
{
	char	text[3] = "";
	int	end = accept(s->listener, NULL, NULL);

	ck_assert_int_ne(end, -1);
	ck_assert_int_eq(io_write_all(s->connection, "hi", 2), 0);
	ck_assert_int_eq(io_read_all(end, text, 2), 2);
	ck_assert_str_eq(text, "hi");
	close(end);
	io_close(&s->connection);
}

START_TEST(connects)
{
	struct private_socket	s;

	ck_assert_int_eq(private_socket_open(&s), 0);
	check_pair(&s);
	ck_assert_int_ne(s.file, -1);
	for (int i = 0; i < 3; i++) {
		s.connection = private_socket_connect(s.file);
		ck_assert_int_ne(s.connection, -1);
		check_pair(&s);
	}
	io_close(&s.listener);
	ck_assert_int_eq(private_socket_connect(s.file), -1);
	ck_assert_int_eq(errno, ECONNREFUSED);
	io_close(&s.file);
}
END_TEST

/* The directory for temporary files is none, or has too long a name. */
START_TEST(takes_another_directory)
{
	struct private_socket	s;
	char			name[300] = "/nowhere";

	if (_i == 1)
		memset(name + 1, 'x', sizeof(name) - 2);
	ck_assert_int_eq(setenv("TMPDIR", name, 1), 0);
	ck_assert_int_eq(private_socket_open(&s), 0);
	check_pair(&s);
	io_close(&s.listener);
	io_close(&s.file);
}
END_TEST

/* It does not wait for a process that accepts none. */
START_TEST(does_not_wait)
{
	struct private_socket	s;
	int			fd, n = 0;

	ck_assert_int_eq(private_socket_open(&s), 0);
	while ((fd = private_socket_connect(s.file)) != -1 && n < 100)
		n++;
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_gt(n, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, connects);
	tcase_add_loop_test(tests, takes_another_directory, 0, 2);
	tcase_add_test(tests, does_not_wait);
}
