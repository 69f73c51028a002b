/*
 * Tests of loop/backends with processes of pools whose connections are kept for
 * the next request (loop/leases).  The test is the program manager, and the
 * process at the other end of the connection.
 */
#include "conf/program.h"
#include "loop/leases.h"
#include "t/unit/loop/programs.h"

#define MANY	1000			/* requests for a connection */

enum { APP, OTHER };			/* numbers of programs */

static struct backend_start	asked;

static void
begin_all(void)
{
	begin();
	signal(SIGPIPE, SIG_IGN);
	asked = (struct backend_start){
		.program = APP, .name = "app", .environment = { "A=1", 4 },
		.protocol = CONF_FASTCGI, .keep = true, .body = -1,
	};
}

/*
 * Manager and process
 */

static bool
is_manager_asked(void)
{
	return poll(&(struct pollfd){ .fd = manager, .events = POLLIN }, 1,
	    0) == 1;
}

static void
start(void)
{
	backend = driver.start(driver.context, &asked, 4096);
	ck_assert_ptr_nonnull(backend);
	backend->waiter = &waiter;
	woken = 0;
}

/* The manager gives a new process, whose connection may have so many. */
static void
start_new(uint32_t requests)
{
	const struct program_report	started = { .kind = PROGRAM_STARTED,
					    .requests = requests };
	int				ends[2];

	start();
	(void)take_any_start();
	io_close(&output);
	ck_assert_int_eq(io_pipe(ends), 0);
	ck_assert_int_eq(program_message_send_report(request, &started,
	    ends[0]), 0);
	close(ends[0]);
	output = ends[1];
	settle();
	ck_assert(backend->started);
	backend->waiter = &waiter;
	woken = 0;
}

/* A connection that is kept: nobody is asked, and the request is sent. */
static void
start_kept(void)
{
	start();
	ck_assert(backend->started);
	ck_assert(!is_manager_asked());
}

static void
start_asking(void)
{
	start();
	ck_assert(!backend->started);
	(void)take_any_start();
}

/* The process reads its request and answers. */
static void
answer(void)
{
	uint8_t	asks[1000];
	char	bytes[] = "\1\6\0\0\0\2\0\0ok" "\1\3\0\0\0\10\0\0\0\0\0\0\0\0\0";

	ck_assert_int_ge(read(output, asks, sizeof(asks)), 8);
	bytes[2] = bytes[12] = (char)asks[2];
	bytes[3] = bytes[13] = (char)asks[3];
	ck_assert_int_eq(write(output, bytes, sizeof(bytes)), sizeof(bytes));
	settle();
	ck_assert_int_eq(backend->end, BACKEND_COMPLETE);
	ck_assert_int_eq(woken, 1);
	check_output("ok");
	driver.end(&backend);
}

static void
check_done(uint32_t nanswered, bool again)
{
	struct program_done	done;

	ck_assert_int_eq(program_message_recv_done(request, &done), 1);
	ck_assert_uint_eq(done.nanswered, nanswered);
	ck_assert_int_eq(done.again, again);
}

static void
check_given_back(uint32_t nanswered, bool again)
{
	check_done(nanswered, again);
	ck_assert(is_dropped());
	ck_assert_uint_eq(backends_count(&driver), backend != NULL);
}

static void
check_silent(void)
{
	struct program_done	done;

	ck_assert_int_eq(program_message_recv_done(request, &done), -1);
	ck_assert_int_eq(errno, EAGAIN);
}

static void
recall(void)
{
	report(PROGRAM_RECALL, 0, -1);
	settle();
}

/*
 * Tests
 */

START_TEST(asks_once)
{
	start_new(MANY);
	answer();
	for (int i = 0; i < 50; i++) {
		ck_assert_uint_eq(backends_count(&driver), 1);
		start_kept();
		ck_assert_uint_eq(backends_count(&driver), 1);
		answer();
		now.ms += 10;
	}
	check_silent();
	recall();
	check_given_back(51, true);
	start_asking();
}
END_TEST

START_TEST(gives_back_what_has_had_all)
{
	start_new(3);
	answer();
	start_kept();
	answer();
	check_silent();
	start_kept();
	answer();
	check_given_back(3, true);
	start_asking();
}
END_TEST

/* What a manager says that has it for one request, or says nothing. */
START_TEST(keeps_none_for_one_request)
{
	start_new((uint32_t)_i);
	answer();
	check_given_back(1, true);
}
END_TEST

START_TEST(gives_back_in_time)
{
	start_new(MANY);
	answer();
	pass(LEASES_MS - 1);
	check_silent();
	start_kept();
	answer();
	/* One timer serves all, and is late by half of it. */
	pass(1);
	check_silent();
	pass(LEASES_MS / 2);
	pass(LEASES_MS / 2);
	check_given_back(2, true);
}
END_TEST

/* At work it is said to be, and goes back at the end. */
START_TEST(is_recalled_at_work)
{
	start_new(MANY);
	recall();
	check_done(0, false);
	check_runs();
	answer();
	check_given_back(1, true);
}
END_TEST

/* The manager looks for itself why.  The next request sees that a connection
 * has been closed, if the loop does not; that it says something, the loop. */
START_TEST(gives_back_what_is_of_no_use)
{
	start_new(MANY);
	answer();
	if (_i % 2 == 0)
		io_close(&output);
	else
		ck_assert_int_eq(write(output, "x", 1), 1);
	if (_i < 2) {
		settle();
		check_given_back(1, true);
		start_asking();
	} else {
		start();
		ck_assert(!backend->started);
		check_given_back(1, true);
		(void)take_any_start();
	}
}
END_TEST

START_TEST(drops_what_has_ended)
{
	start_new(MANY);
	answer();
	report(PROGRAM_ENDED, KILLED, -1);
	io_close(&request);
	settle();
	ck_assert_uint_eq(backends_count(&driver), 0);
	start_asking();
}
END_TEST

/* A body goes over the connection, and no request goes behind it. */
START_TEST(has_a_body_last)
{
	start_new(MANY);
	answer();
	asked.sends_body = true;
	start_kept();
	ck_assert_uint_gt(backend->room, 0);
	driver.send(backend, "abc", 3);
	driver.finish(backend);
	answer();
	check_given_back(2, false);
}
END_TEST

/* The manager ends the process. */
START_TEST(gives_up_in_a_request)
{
	struct program_done	done;

	start_new(MANY);
	answer();
	start_kept();
	backend->waiter = NULL;
	driver.end(&backend);
	ck_assert_int_eq(program_message_recv_done(request, &done), 0);
	ck_assert_uint_eq(backends_count(&driver), 0);
}
END_TEST

START_TEST(keeps_for_its_program)
{
	int	first;

	start_new(MANY);
	answer();
	check_silent();
	first = request;
	request = -1;
	asked.program = OTHER;
	start_asking();
	ck_assert_uint_eq(backends_count(&driver), 2);
	backend->waiter = NULL;
	driver.end(&backend);
	asked.program = APP;
	io_close(&request);
	request = first;
	start_kept();
	answer();
	pass(2 * LEASES_MS);
	ck_assert_uint_eq(backends_count(&driver), 0);
}
END_TEST

/* A kept one makes room for a request. */
START_TEST(keeps_within_most)
{
	struct backend	*all[MOST];
	int		first;

	start_new(MANY);
	answer();
	first = request;
	request = -1;
	asked.program = OTHER;
	for (int i = 0; i < MOST; i++) {
		all[i] = driver.start(driver.context, &asked, 4096);
		ck_assert_ptr_nonnull(all[i]);
		(void)take_any_start();
	}
	ck_assert_ptr_null(driver.start(driver.context, &asked, 4096));
	ck_assert_int_eq(errno, EMFILE);
	for (int i = 0; i < MOST; i++)
		driver.end(&all[i]);
	io_close(&request);
	request = first;
	check_given_back(1, true);
}
END_TEST

START_TEST(gives_back_at_the_end)
{
	start_new(MANY);
	answer();
	backends_close(&driver);
	check_done(1, true);
	ck_assert(is_dropped());
	io_close(&manager);
	io_close(&request);
	io_close(&output);
	begin_all();
}
END_TEST

static void
end_all(void)
{
	pass(2 * LEASES_MS);
	end();
}

/* It goes with bytes unread, before it has said something or behind that; or
 * with none; or its process fails.  SCGI has no record for the end. */
START_TEST(goes)
{
	static const struct {
		uint8_t	protocol;
		bool	keep, reads, says;
		int	status;
		bool	unread;
	}	cases[] = {
		{ CONF_FASTCGI, false, false, false, -1, true },
		{ CONF_FASTCGI, false, true, false, -1, false },
		{ CONF_FASTCGI, false, false, true, -1, false },
		{ CONF_SCGI, false, false, false, -1, true },
		{ CONF_FASTCGI, true, false, false, EXITED(0), true },
		{ CONF_FASTCGI, true, false, false, KILLED, false },
		{ CONF_FASTCGI, true, true, false, EXITED(0), false },
	};
	char	bytes[4096];

	asked.environment = (struct str){ "CONTENT_LENGTH=0", 17 };
	asked.protocol = cases[_i].protocol;
	asked.keep = cases[_i].keep;
	start_new(1);
	if (cases[_i].reads)
		ck_assert_int_gt(read(output, bytes, sizeof(bytes)), 0);
	if (cases[_i].says)
		ck_assert_int_eq(write(output, "\1", 1), 1);
	settle();
	io_close(&output);
	settle();
	if (cases[_i].keep) {
		report(PROGRAM_ENDED, cases[_i].status, -1);
		settle();
	}
	ck_assert_int_eq(backend->end, BACKEND_BROKEN);
	ck_assert_int_eq(backend->unread, cases[_i].unread);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin_all, end_all);
	tcase_add_test(t, asks_once);
	tcase_add_test(t, gives_back_what_has_had_all);
	tcase_add_loop_test(t, keeps_none_for_one_request, 0, 2);
	tcase_add_test(t, gives_back_in_time);
	tcase_add_test(t, is_recalled_at_work);
	tcase_add_loop_test(t, gives_back_what_is_of_no_use, 0, 3);
	tcase_add_test(t, drops_what_has_ended);
	tcase_add_test(t, has_a_body_last);
	tcase_add_test(t, gives_up_in_a_request);
	tcase_add_test(t, keeps_for_its_program);
	tcase_add_test(t, keeps_within_most);
	tcase_add_test(t, gives_back_at_the_end);
	tcase_add_loop_test(t, goes, 0, 7);
}
