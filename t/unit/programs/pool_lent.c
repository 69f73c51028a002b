/*
 * Tests of programs/pool: connections that main keeps for several requests, and
 * their recall.
 */
#include "t/unit/programs/exchange.h"

/* Indices in programs. */
enum {
	ONE, PAIR, FULL, WORN, PROGRAMS
};

static char		 file[64];
static char		*command[] = { file };

#define POOL_OF(i, NAME, n, waiting) [i] = { .name = (char []){ NAME },	\
	.number = (i), .protocol = CONF_FASTCGI, .most = (n),		\
	.queue = (waiting), .command = { command, 1 },			\
	.within = WAIT_MS, .idle = 10 * (int64_t)WAIT_MS

static struct conf_program programs[PROGRAMS] = {
	POOL_OF(ONE, "one", 1, 4) },
	POOL_OF(PAIR, "pair", 2, 4) },
	POOL_OF(FULL, "full", 1, 0) },
	POOL_OF(WORN, "worn", 1, 4), .requests = 7 },
};
static const struct conf conf = { .programs = programs,
    .nprograms = PROGRAMS };

static void
set_up(void)
{
	ck_assert_ptr_ne(mkdtemp(directory), NULL);
	snprintf(file, sizeof(file), "%s/application", directory);
	write_file("application", 0755, application);
	start_manager(&conf);
}

/* Takes the report that one has its process, which answers with its id;
 * *requests: how many the connection may have. */
static struct exchange
take_process(int request, int *pid, uint32_t *requests)
{
	struct exchange		x = { .request = request };
	struct program_report	report;

	x.connection = await_report(request, PROGRAM_STARTED, &report);
	*requests = report.requests;
	ask(&x, "$$\n");
	*pid = await_number(&x);
	return x;
}

static int
start(uint32_t program)
{
	return start_texts(program, "", "", -1);
}

/* Begins what main may keep: the connection of a process that has answered. */
static struct exchange
borrow(uint32_t program, int *pid)
{
	struct exchange	x;
	uint32_t	requests;
	int		first = run(program);

	x = take_process(start(program), pid, &requests);
	ck_assert_int_eq(*pid, first);
	ck_assert_uint_gt(requests, 1);
	return x;
}

static void
say(const struct exchange *x, uint32_t nanswered)
{
	ck_assert_int_eq(program_message_send_done(x->request,
	    &(struct program_done){ .nanswered = nanswered, .again = true }),
	    0);
}

static void
give_back(struct exchange *x, uint32_t nanswered)
{
	say(x, nanswered);
	await_end(&x->request);
	close_exchange(x);
}

static void
await_recall(const struct exchange *x)
{
	struct program_report	report;

	await_report(x->request, PROGRAM_RECALL, &report);
}

static bool
has_report(int request)
{
	return poll(&(struct pollfd){ .fd = request, .events = POLLIN }, 1,
	    0) == 1;
}

/* The end of the first request tells whether a process is of any use. */
START_TEST(lends_one_that_has_answered)
{
	struct exchange	x;
	uint32_t	requests;
	int		pid, other;

	x = take_process(start(ONE), &pid, &requests);
	ck_assert_uint_eq(requests, 1);
	give_back(&x, 1);
	x = take_process(start(ONE), &other, &requests);
	ck_assert_int_eq(other, pid);
	ck_assert_uint_eq(requests, UINT32_MAX);
	give_back(&x, 3);
}
END_TEST

/* A request that waits has it as soon as main gives it back. */
START_TEST(recalls_for_one_that_waits)
{
	int		pid, other, request;
	uint32_t	requests;
	struct exchange	x = borrow(ONE, &pid);

	for (int i = 0; i < 5; i++) {
		ck_assert(!has_report(x.request));
		request = start(ONE);
		await_recall(&x);
		/* It may be at work. */
		if (i % 2 == 0)
			say(&x, 0);
		give_back(&x, 1);
		x = take_process(request, &other, &requests);
		ck_assert_int_eq(other, pid);
		ck_assert_uint_eq(requests, UINT32_MAX);
	}
	give_back(&x, 1);
}
END_TEST

/* Where others wait behind it, nobody needs to be asked. */
START_TEST(lends_none_that_others_wait_for)
{
	int		pid, second, third;
	uint32_t	requests;
	struct exchange	x = borrow(ONE, &pid);

	second = start(ONE);
	third = start(ONE);
	await_recall(&x);
	give_back(&x, 1);
	x = take_process(second, &pid, &requests);
	ck_assert_uint_eq(requests, 1);
	give_back(&x, 1);
	x = take_process(third, &pid, &requests);
	ck_assert_uint_eq(requests, UINT32_MAX);
	give_back(&x, 1);
}
END_TEST

/* With no room in the queue it depends on whether a request goes on. */
START_TEST(refuses_once_it_is_at_work)
{
	struct program_report	report;
	int			pid, other, request;
	uint32_t		requests;
	struct exchange		x = borrow(FULL, &pid);

	request = start(FULL);
	await_recall(&x);
	ck_assert(!has_report(request));
	if (_i == 0) {
		say(&x, 0);
		await_report(request, PROGRAM_BUSY, &report);
		await_end(&request);
		/* And it is known now. */
		request = start(FULL);
		await_report(request, PROGRAM_BUSY, &report);
		await_end(&request);
		give_back(&x, 1);
		ck_assert_int_eq(run(FULL), pid);
	} else {
		give_back(&x, 1);
		x = take_process(request, &other, &requests);
		ck_assert_int_eq(other, pid);
		give_back(&x, 1);
	}
}
END_TEST

/* The first that is asked for is at work, the other one only kept. */
START_TEST(recalls_the_next)
{
	struct exchange	x[2];
	int		pids[2], pid, request;
	uint32_t	requests;

	x[0] = begin_at(PAIR, &pid);
	x[1] = begin_at(PAIR, &pid);
	finish(&x[0]);
	finish(&x[1]);
	for (int i = 0; i < 2; i++)
		x[i] = take_process(start(PAIR), &pids[i], &requests);
	request = start(PAIR);
	await_recall(&x[0]);
	ck_assert(!has_report(x[1].request));
	say(&x[0], 0);
	await_recall(&x[1]);
	give_back(&x[1], 4);
	x[1] = take_process(request, &pid, &requests);
	ck_assert_int_eq(pid, pids[1]);
	give_back(&x[1], 1);
	give_back(&x[0], 1);
}
END_TEST

START_TEST(recalls_none_while_one_may_start)
{
	struct exchange	x, y;
	int		pid, other;

	x = borrow(PAIR, &pid);
	y = begin_at(PAIR, &other);
	ck_assert_int_ne(pid, other);
	ck_assert(!has_report(x.request));
	finish(&y);
	give_back(&x, 1);
}
END_TEST

START_TEST(recalls_at_a_restart)
{
	struct exchange	x;
	int		pid;

	x = borrow(ONE, &pid);
	ck_assert_int_eq(program_message_send_restart(mains, ONE), 0);
	await_recall(&x);
	give_back(&x, 1);
	ck_assert_int_ne(run(ONE), pid);
}
END_TEST

START_TEST(recalls_at_the_end)
{
	struct exchange	x;
	int		pid, connection;

	x = borrow(ONE, &pid);
	connection = dup(x.connection);
	io_close(&mains);
	await_recall(&x);
	give_back(&x, 1);
	await_no_process(&connection);
	ck_assert_int_eq(await_manager(), 0);
}
END_TEST

/* All requests count, and no connection may have more than are left. */
START_TEST(lends_until_it_is_worn)
{
	struct exchange	x;
	int		pid, other;
	uint32_t	requests;

	pid = run(WORN);
	x = take_process(start(WORN), &other, &requests);
	ck_assert_int_eq(other, pid);
	ck_assert_uint_eq(requests, 6);
	give_back(&x, 4);
	x = take_process(start(WORN), &other, &requests);
	ck_assert_int_eq(other, pid);
	ck_assert_uint_eq(requests, 2);
	give_back(&x, 2);
	ck_assert_int_ne(run(WORN), pid);
}
END_TEST

/* It has answered, so this is no early end: the next one starts at once. */
START_TEST(replaces_one_that_dies)
{
	struct exchange	x;
	int		pid, connection;

	x = borrow(ONE, &pid);
	connection = dup(x.connection);
	ask(&x, "exit(3)\n");
	(void)await_status(x.request);
	await_end(&x.request);
	await_no_process(&connection);
	close_exchange(&x);
	ck_assert_int_ne(run(ONE), pid);
	x = borrow(ONE, &pid);
	ask(&x, "close($c)\n");
	connection = dup(x.connection);
	x.answer.len = 0;
	(void)read_output(connection, NULL, &x.answer);
	io_close(&connection);
	give_back(&x, 1);
	ck_assert_int_ne(run(ONE), pid);
}
END_TEST

/* Its main dies. */
START_TEST(ends_one_that_is_left)
{
	struct exchange	x;
	int		pid;

	x = borrow(ONE, &pid);
	io_close(&x.request);
	await_gone(&x);
	ck_assert_int_ne(run(ONE), pid);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, end_manager);
	tcase_add_test(tests, lends_one_that_has_answered);
	tcase_add_test(tests, recalls_for_one_that_waits);
	tcase_add_test(tests, lends_none_that_others_wait_for);
	tcase_add_loop_test(tests, refuses_once_it_is_at_work, 0, 2);
	tcase_add_test(tests, recalls_the_next);
	tcase_add_test(tests, recalls_none_while_one_may_start);
	tcase_add_test(tests, recalls_at_a_restart);
	tcase_add_test(tests, recalls_at_the_end);
	tcase_add_test(tests, lends_until_it_is_worn);
	tcase_add_test(tests, replaces_one_that_dies);
	tcase_add_test(tests, ends_one_that_is_left);
}
