/*
 * Tests of loop/backends.  The test is the program manager, behind the other
 * end of the socket, and the program, behind the other end of the pipe.
 */
#include <sys/socket.h>

#include "t/unit/loop/programs.h"

#define HOLD		8		/* bytes of output */

static struct backend *
ask(int body)
{
	const struct backend_start	start = {
		.program = 4, .place = 3, .file = { "dir/file", 8 },
		.environment = { "A=1\0B=2", 8 }, .body = body,
	};

	return driver.start(driver.context, &start, HOLD);
}

static struct backend *
ask_much(void)
{
	static const char		bytes[16 * 1024];
	const struct backend_start	start = {
		.environment = { bytes, sizeof(bytes) }, .body = -1,
	};

	return driver.start(driver.context, &start, HOLD);
}

static void
take_start(enum program_body body)
{
	struct program_start	start = take_any_start();

	ck_assert_uint_eq(start.program, 3);
	ck_assert_uint_eq(start.body, body);
	ck_assert_uint_eq(start.file.len, 8);
	ck_assert(memcmp(start.file.at, "dir/file", 8) == 0);
	ck_assert_uint_eq(start.environment.len, 8);
	ck_assert(memcmp(start.environment.at, "A=1\0B=2", 8) == 0);
}

static void
start(void)
{
	ck_assert_ptr_nonnull(backend = ask(-1));
	take_start(PROGRAM_BODY_NONE);
	backend->waiter = &waiter;
}

static void
report_started(void)
{
	int	ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	report(PROGRAM_STARTED, 0, ends[0]);
	close(ends[0]);
	output = ends[1];
}

static void
start_program(void)
{
	start();
	report_started();
	settle();
	ck_assert(backend->started);
	ck_assert_int_eq(woken, 1);
	backend->waiter = &waiter;
	woken = 0;
}

static void
put(const char *text)
{
	ck_assert_int_eq(write(output, text, strlen(text)), strlen(text));
}

static void
check_ended(enum backend_end how, int status)
{
	ck_assert_int_eq(backend->end, how);
	ck_assert_int_eq(backend->status, status);
	ck_assert_int_eq(woken, 1);
	ck_assert(is_dropped());
}

/*
 * Tests
 */

START_TEST(sends_body)
{
	int	ends[2], body;

	ck_assert_int_eq(io_pipe(ends), 0);
	ck_assert_ptr_nonnull(backend = ask(ends[0]));
	take_start(PROGRAM_BODY_FILE);
	close(ends[0]);
	ck_assert_int_eq(program_message_recv_body(request, &body), 1);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert_int_eq(read(body, (char[1]){ 0 }, 1), 1);
	close(ends[1]);
	close(body);
	ck_assert_uint_eq(backends_count(&driver), 1);
}
END_TEST

START_TEST(output_in_pieces)
{
	start_program();
	put("one");
	settle();
	ck_assert_int_eq(woken, 1);
	check_output("one");
	driver.consume(backend, 1);
	check_output("ne");
	put("two");		/* nobody waits now */
	settle();
	ck_assert_int_eq(woken, 1);
	check_output("netwo");
	driver.consume(backend, 5);
	check_output("");
	put("three");
	settle();
	check_output("three");
	check_runs();
}
END_TEST

/* The program waits when hold is reached, until a half is taken. */
START_TEST(holds)
{
	start_program();
	put("0123456789ABCDEF");
	settle();
	check_output("01234567");
	driver.consume(backend, 3);
	settle();
	check_output("34567");
	driver.consume(backend, 1);
	settle();
	check_output("456789AB");
	driver.consume(backend, 8);
	settle();
	check_output("CDEF");
}
END_TEST

/* The total is used up: a program waits for its own client only. */
START_TEST(holds_in_all)
{
	const struct backend_start	plain = { .body = -1 };
	static char			bytes[HELD_MIN];
	struct backend			*others[2];

	for (int i = 0; i < 2; i++) {
		others[i] = driver.start(driver.context, &plain, 4 * HELD);
		take_any_start();
		report_started();
		fcntl(output, F_SETFL, O_NONBLOCK);
		settle();
		while (write(output, bytes, sizeof(bytes)) > 0)
			settle();
		ck_assert_uint_eq(others[i]->len, HELD_MIN + (i == 0 ? HELD :
		    0));
		ck_assert_uint_eq(backends_held(&driver), HELD);
		if (i == 0)
			io_close(&output);
	}
	driver.consume(others[1], HELD_MIN / 2);
	settle();
	ck_assert_uint_eq(others[1]->len, HELD_MIN);
	driver.end(&others[0]);
	ck_assert_uint_eq(backends_held(&driver), 0);
	driver.end(&others[1]);
}
END_TEST

/* The ends of program and output come together, one before the other. */
START_TEST(ends_together)
{
	start_program();
	put("text");
	io_close(&output);
	report(PROGRAM_ENDED, EXITED(7), -1);
	while (turn(_i == 1))
		if (backend->end == BACKEND_RUNS)
			backend->waiter = &waiter;
	ck_assert_int_eq(woken, 2);
	woken = 1;
	check_output("text");
	check_ended(BACKEND_COMPLETE, EXITED(7));
}
END_TEST

START_TEST(killed)
{
	start_program();
	if (_i == 0)
		io_close(&output);
	settle();
	check_runs();		/* its status is yet to come */
	report(PROGRAM_ENDED, KILLED, -1);
	settle();
	io_close(&output);
	settle();
	check_ended(BACKEND_BROKEN, KILLED);
}
END_TEST

START_TEST(goes_on_without_output)
{
	start_program();
	io_close(&output);
	settle();
	pass(999);
	check_runs();
	pass(1);
	check_ended(BACKEND_COMPLETE, -1);
}
END_TEST

/* A process that the program has left behind has its output. */
START_TEST(leaves_child)
{
	start_program();
	report(PROGRAM_ENDED, EXITED(0), -1);
	settle();
	pass(999);
	put("late");
	settle();
	ck_assert_int_eq(woken, 1);
	backend->waiter = &waiter;
	woken = 0;
	pass(999);
	check_runs();
	pass(1);
	check_output("late");
	check_ended(BACKEND_COMPLETE, EXITED(0));
}
END_TEST

/* Output that a slow client has no room for is no silence. */
START_TEST(ends_while_held)
{
	start_program();
	put("0123456789");
	if (_i == 0)
		settle();
	report(PROGRAM_ENDED, EXITED(0), -1);
	settle();
	pass(5000);
	check_runs();
	driver.consume(backend, 8);
	settle();
	check_output("89");
	check_runs();
	woken = 0;
	backend->waiter = &waiter;
	pass(1000);
	check_ended(BACKEND_COMPLETE, EXITED(0));
}
END_TEST

/* The manager ends before the program starts, while it runs, and after the end
 * of its output. */
START_TEST(manager_ends)
{
	if (_i == 0)
		start();
	else
		start_program();
	if (_i > 0) {
		put("half");
		settle();
		backend->waiter = &waiter;
		woken = 0;
	}
	if (_i == 2) {
		io_close(&output);
		settle();
	}
	io_close(&request);
	settle();
	ck_assert_int_eq(backend->end, BACKEND_BROKEN);
	ck_assert_int_eq(backend->status, -1);
	ck_assert_int_eq(woken, 1);
	check_output(_i == 0 ? "" : "half");
}
END_TEST

START_TEST(refused)
{
	start();
	report(_i == 0 ? PROGRAM_FAILED : PROGRAM_BUSY, 5, -1);
	settle();
	check_ended(_i == 0 ? BACKEND_FAILED : BACKEND_BUSY, -1);
	ck_assert_int_eq(backend->error, _i == 0 ? 5 : 0);
	ck_assert_int_eq(backend->retry_after, _i == 0 ? 0 : 5);
	ck_assert(!backend->started);
}
END_TEST

/* All reports come at once, and are told at once. */
START_TEST(short_life)
{
	start();
	report_started();
	put("text");
	io_close(&output);
	report(PROGRAM_ENDED, EXITED(0), -1);
	io_close(&request);
	settle();
	ck_assert_int_eq(woken, 1);
	ck_assert(backend->started);
	check_output("text");
	ck_assert_int_eq(backend->end, BACKEND_COMPLETE);
}
END_TEST

/* A report that makes no sense. */
START_TEST(misreported)
{
	int	fd = dup(0);

	if (_i < 2)
		start();
	else
		start_program();
	if (_i == 0)
		report(PROGRAM_STARTED, 0, -1);
	else if (_i == 1)
		report(PROGRAM_ENDED, EXITED(0), fd);
	else if (_i == 2)
		report(PROGRAM_STARTED, 0, fd);
	else
		report(PROGRAM_BUSY, 5, -1);
	close(fd);
	settle();
	check_ended(BACKEND_BROKEN, -1);
}
END_TEST

/* The connection ends the backend in whatever it is told. */
START_TEST(ended_when_told)
{
	if (_i < 4)
		start();
	else
		start_program();
	ends_at_wake = true;
	if (_i == 0)
		report_started();
	else if (_i == 1)
		report(PROGRAM_FAILED, 5, -1);
	else if (_i == 2)
		report(PROGRAM_BUSY, 5, -1);
	else if (_i == 3)
		shutdown(request, SHUT_RDWR);
	else if (_i == 4)
		put("0123456789");
	else
		io_close(&output);
	if (_i == 5)
		report(PROGRAM_ENDED, EXITED(0), -1);
	settle();
	pass(1000);
	ck_assert_ptr_null(backend);
	ck_assert_int_eq(woken, 1);
	ck_assert(is_dropped());
}
END_TEST

/* The connection ends it at other times. */
START_TEST(ended_before)
{
	if (_i < 2)
		start();
	else
		start_program();
	if (_i == 1)
		report_started();		/* not received yet */
	if (_i == 3)
		put("0123456789");
	if (_i == 4)
		io_close(&output);
	if (_i == 5)
		report(PROGRAM_ENDED, EXITED(0), -1);
	if (_i > 2)
		settle();
	backend->waiter = NULL;
	driver.end(&backend);
	ck_assert_ptr_null(backend);
	if (_i == 1)	/* what was not received is lost */
		ck_assert_int_eq(write(request, "", 1), -1);
	else
		ck_assert(is_dropped());
}
END_TEST

START_TEST(manager_gone)
{
	start_program();
	close(manager);
	ck_assert_ptr_null(ask(-1));
	ck_assert(errno == EPIPE || errno == ECONNRESET);
	put("text");		/* it does not concern this program */
	settle();
	check_output("text");
	backend->waiter = NULL;
	driver.end(&backend);
}
END_TEST

/* The manager does not read: nothing waits for it. */
START_TEST(manager_is_slow)
{
	struct backend	*all[MOST];
	int		 n = 0;

	while (n < MOST && (all[n] = ask_much()) != NULL)
		n++;
	ck_assert_int_lt(n, MOST);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_uint_eq(backends_count(&driver), n);
	for (int i = 0; i < n; i++)
		take_any_start();
	all[n] = ask(-1);
	ck_assert_ptr_nonnull(all[n++]);
	while (n > 0)
		driver.end(&all[--n]);
}
END_TEST

START_TEST(at_most)
{
	struct backends	 other;
	struct backend	*all[MOST];

	/* Another loop has the same socket and limit. */
	backends_share(&other, &driver, NULL, &now, NULL);
	for (int i = 0; i < MOST; i++) {
		ck_assert_ptr_nonnull(all[i] = ask(-1));
		take_start(false);
	}
	ck_assert_ptr_null(ask(-1));
	ck_assert_int_eq(errno, EMFILE);
	ck_assert_ptr_null(other.start(other.context,
	    &(struct backend_start){ .body = -1 }, HOLD));
	ck_assert_int_eq(errno, EMFILE);
	driver.end(&all[0]);
	all[0] = other.start(other.context,
	    &(struct backend_start){ .body = -1 }, HOLD);
	ck_assert_ptr_nonnull(all[0]);
	for (int i = 0; i < MOST; i++)
		other.end(&all[i]);
	backends_close(&other);
}
END_TEST

/* With a mailbox the loop's own thread frees, at the latest at the close. */
START_TEST(ended_elsewhere)
{
	struct backends	first = driver;

	backends_share(&driver, &first, NULL, &now, (struct mailbox *)&mail);
	start_program();
	backend->waiter = NULL;
	driver.end(&backend);
	ck_assert_ptr_null(backend);
	ck_assert(!is_dropped());
	put("text");
	settle();		/* it still runs */
	if (_i == 0)
		mailbox_deliver(NULL);
	else
		backends_close(&driver);
	ck_assert(is_dropped());
	backends_close(&driver);
	driver = first;
}
END_TEST

START_TEST(no_programs)
{
	struct backends	none = { .start = NULL }, other;

	backends_share(&other, &none, NULL, &now, NULL);
	ck_assert(other.start == NULL);
	ck_assert_uint_eq(backends_count(&none), 0);
	backends_close(&none);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, sends_body);
	tcase_add_test(t, output_in_pieces);
	tcase_add_test(t, holds);
	tcase_add_test(t, holds_in_all);
	tcase_add_loop_test(t, ends_together, 0, 2);
	tcase_add_loop_test(t, killed, 0, 2);
	tcase_add_test(t, goes_on_without_output);
	tcase_add_test(t, leaves_child);
	tcase_add_loop_test(t, ends_while_held, 0, 2);
	tcase_add_loop_test(t, manager_ends, 0, 3);
	tcase_add_loop_test(t, refused, 0, 2);
	tcase_add_test(t, short_life);
	tcase_add_loop_test(t, misreported, 0, 4);
	tcase_add_loop_test(t, ended_when_told, 0, 6);
	tcase_add_loop_test(t, ended_before, 0, 6);
	tcase_add_test(t, manager_gone);
	tcase_add_test(t, manager_is_slow);
	tcase_add_test(t, at_most);
	tcase_add_loop_test(t, ended_elsewhere, 0, 2);
	tcase_add_test(t, no_programs);
}
