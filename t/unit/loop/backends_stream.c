/*
 * Tests of loop/backends with bodies that come while their programs run: over a
 * pipe to a CGI, over a connection to others.  The test is the program manager,
 * and the program.
 */
#include <sys/socket.h>

#include <netinet/in.h>

#include "conf/program.h"
#include "lib/buf.h"
#include "proto/fastcgi.h"
#include "t/unit/loop/programs.h"

#define HOLD		1024		/* bytes of output */

static struct backend_start	asked;
static int			input;	/* the program's end of its pipe */

static void
begin_all(void)
{
	begin();
	signal(SIGPIPE, SIG_IGN);
	asked = (struct backend_start){
		.program = 3, .name = "app", .protocol = CONF_CGI,
		.environment = { "A=1\0CONTENT_LENGTH=3", 21 }, .body = -1,
		.sends_body = true,
	};
}

static void
ask(void)
{
	struct program_start	start;

	backend = driver.start(driver.context, &asked, HOLD);
	ck_assert_ptr_nonnull(backend);
	start = take_any_start();
	ck_assert_uint_eq(start.body, asked.protocol != CONF_CGI ||
	    !asked.sends_body ? PROGRAM_BODY_NONE : PROGRAM_BODY_PIPE);
	backend->waiter = &waiter;
}

static void
wait_again(void)
{
	backend->waiter = &waiter;
	woken = 0;
}

static void
report_started(void)
{
	int	ends[2];

	ck_assert_int_eq(io_pipe(ends), 0);
	ck_assert_int_eq(io_nonblock(ends[1]), 0);
	report(PROGRAM_STARTED, 0, ends[0]);
	close(ends[0]);
	output = ends[1];
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
	ck_assert_uint_eq(backend->room, 0);
	ck_assert(is_dropped());
}

/*
 * A pipe
 */

static void
report_input(void)
{
	int	ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	report(PROGRAM_INPUT, 0, ends[1]);
	close(ends[1]);
	ck_assert_int_eq(io_nonblock(ends[0]), 0);
	input = ends[0];
}

static void
start_with_pipe(void)
{
	ask();
	report_input();
	settle();
	ck_assert_int_eq(woken, 0);
	ck_assert_uint_eq(backend->room, 0);
	report_started();
	settle();
	ck_assert_int_eq(woken, 1);
	ck_assert_uint_gt(backend->room, 0);
	wait_again();
}

/* Sends as much as there is room for; returns that. */
static size_t
send_all(void)
{
	static const char	bytes[64 * 1024];
	size_t			n, all = 0;

	while ((n = backend->room) > 0) {
		ck_assert_uint_le(n, sizeof(bytes));
		driver.send(backend, bytes, n);
		all += n;
	}
	return all;
}

/* Reads what there is; returns how much. */
static size_t
read_input(void)
{
	char	bytes[4096];
	size_t	all = 0;
	ssize_t	n;

	while ((n = read(input, bytes, sizeof(bytes))) > 0)
		all += (size_t)n;
	return all;
}

/* The room ends when the pipe is full, and begins again when the program has
 * read enough; then the connection that waits is woken, once. */
START_TEST(body_comes)
{
	char	bytes[8];
	size_t	sent, taken = 0;

	start_with_pipe();
	driver.send(backend, "abc", 3);
	ck_assert_int_eq(read(input, bytes, sizeof(bytes)), 3);
	ck_assert(memcmp(bytes, "abc", 3) == 0);
	sent = send_all();
	ck_assert_uint_gt(sent, 64 * 1024);
	settle();
	ck_assert_int_eq(woken, 0);
	while (woken == 0) {
		taken += read_input();
		settle();
	}
	ck_assert_int_eq(woken, 1);
	ck_assert_uint_gt(backend->room, 0);
	driver.finish(backend);
	ck_assert_uint_eq(backend->room, 0);
	settle();
	taken += read_input();
	ck_assert_uint_eq(taken, sent);
	ck_assert_int_eq(read(input, bytes, 1), 0);	/* its end */
	wait_again();
	pass(60000);
	check_runs();
	close(input);
}
END_TEST

/* What is on its way arrives before the end of the body does. */
START_TEST(body_ends_late)
{
	size_t	sent, taken = 0;
	char	byte;

	start_with_pipe();
	sent = send_all();
	driver.finish(backend);
	while (taken < sent) {
		taken += read_input();
		settle();
	}
	ck_assert_uint_eq(taken, sent);
	settle();
	ck_assert_int_eq(read(input, &byte, 1), 0);
	close(input);
}
END_TEST

/* A program that reads no more: the rest is dropped, and the program goes on.
 * So is one without output. */
START_TEST(body_is_not_read)
{
	start_with_pipe();
	if (_i == 0)
		send_all();
	close(input);
	settle();
	for (int i = 0; i < 100; i++) {
		ck_assert_uint_ge(backend->room, 10);
		driver.send(backend, "0123456789", 10);
		settle();
	}
	driver.finish(backend);
	put("text");
	settle();
	check_output("text");
	woken = 0;
	report(PROGRAM_ENDED, EXITED(0), -1);
	io_close(&output);
	backend->waiter = &waiter;
	settle();
	check_ended(BACKEND_COMPLETE, EXITED(0));
}
END_TEST

/* Output and body have nothing to do with each other. */
START_TEST(body_goes_on_behind_output)
{
	char	bytes[4];

	start_with_pipe();
	io_close(&output);
	settle();
	driver.send(backend, "ab", 2);
	ck_assert_int_eq(read(input, bytes, sizeof(bytes)), 2);
	report(PROGRAM_ENDED, EXITED(1), -1);
	settle();
	check_ended(BACKEND_COMPLETE, EXITED(1));
	ck_assert_uint_eq(backend->room, 0);
	ck_assert_int_eq(read(input, bytes, 1), 0);
	close(input);
}
END_TEST

/* A pipe that was not asked for, a second one, one that is late, none. */
START_TEST(wrong_pipe)
{
	asked.sends_body = _i > 0;
	if (_i < 2)
		ask();
	else
		start_with_pipe();
	if (_i == 1)
		report_input();
	if (_i > 0)
		close(input);
	report_input();
	close(input);
	settle();
	check_ended(BACKEND_BROKEN, -1);
}
END_TEST

START_TEST(no_pipe)
{
	ask();
	report_started();
	settle();
	woken = 0;
	backend->waiter = &waiter;
	driver.send(backend, "ab", 2);
	ck_assert_uint_gt(backend->room, 0);
	driver.finish(backend);
	put("text");
	settle();
	check_output("text");
}
END_TEST

/*
 * Output of another program in place of bytes of main
 */

static struct backend	*source;
static int		 source_output;	/* the program's end */
static int		 source_request;	/* the manager's */

static void
start_source_by(int protocol, void (*report_start)(void))
{
	int	own = request;

	request = -1;
	asked.protocol = (uint8_t)protocol;
	source = driver.start(driver.context, &asked, HOLD);
	ck_assert_ptr_nonnull(source);
	(void)take_any_start();
	report_start();
	source_output = output;
	output = -1;
	settle();
	source_request = request;
	request = own;
}

static void
start_source(int protocol)
{
	start_source_by(protocol, report_started);
}

static void
end_source(void)
{
	driver.end(&source);
	io_close(&source_output);
	io_close(&source_request);
}

static void
put_source(size_t n)
{
	static const char	bytes[128 * 1024];

	ck_assert_int_eq(write(source_output, bytes, n), (ssize_t)n);
}

static void
note_told(void *told)
{
	++*(int *)told;
}

/* Bytes go from pipe to pipe until that is full, and on when there is room; each
 * is told. */
START_TEST(body_is_poured)
{
	int	told = 0;
	size_t	moved, taken;
	ssize_t	n;

	start_with_pipe();
	start_source(_i == 0 ? CONF_CGI : CONF_SCGI);
	source->told = note_told;
	source->told_context = &told;
	ck_assert(driver.keep_out(source));
	put_source(100);
	settle();
	ck_assert_int_eq(told, 0);
	ck_assert_int_eq(driver.pour(source, backend, 60), 60);
	ck_assert_int_eq(driver.pour(source, backend, 60), 40);
	ck_assert_uint_eq(source->len, 0);
	ck_assert_uint_eq(read_input(), 100);
	for (moved = 0; moved == 0 || backend->room > 0; moved += (size_t)n) {
		put_source(8192);
		turn(false);
		n = driver.pour(source, backend, 1 << 20);
	}
	ck_assert_int_gt(told, 0);
	ck_assert_uint_ge(moved, 64 * 1024);
	told = woken = 0;
	settle();
	ck_assert_int_eq(told + woken, 0);
	for (taken = 0; woken == 0; settle())
		taken += read_input();
	ck_assert_uint_gt(backend->room, 0);
	n = driver.pour(source, backend, 1 << 20);
	ck_assert_uint_eq(moved + (size_t)n, taken + read_input());
	/* Nothing is there. */
	ck_assert_int_eq(driver.pour(source, backend, 1), 0);
	backend->waiter = &waiter;
	settle();
	ck_assert_int_eq(driver.pour(source, backend, 1), 0);
	told = 0;
	settle();
	ck_assert_int_eq(told, 0);
	put_source(1);
	turn(false);
	ck_assert_int_eq(told, 1);
	driver.let_in(source);
	settle();
	ck_assert_uint_eq(source->len, 1);
	end_source();
	close(input);
}
END_TEST

static void
report_tcp(void)
{
	struct sockaddr_in	a = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t		len = sizeof(a);
	int			server = socket(AF_INET, SOCK_STREAM, 0),
				end = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(server, (struct sockaddr *)&a, len), 0);
	ck_assert_int_eq(listen(server, 1), 0);
	ck_assert_int_eq(getsockname(server, (struct sockaddr *)&a, &len), 0);
	ck_assert_int_eq(connect(end, (struct sockaddr *)&a, len), 0);
	output = accept(server, NULL, NULL);
	ck_assert_int_ne(output, -1);
	report(PROGRAM_STARTED, 0, end);
	close(end);
	close(server);
}

/* Handles what comes next. */
static void
await(void)
{
	while (!turn(false))
		(void)poll(NULL, 0, 1);
}

/* Urgent data of TCP stands in the way of the bytes behind it. */
START_TEST(urgent_is_not_poured)
{
	int	n = 0;

	start_with_pipe();
	start_source_by(CONF_SCGI, report_tcp);
	ck_assert(driver.keep_out(source));
	ck_assert_int_eq(send(source_output, "u", 1, MSG_OOB), 1);
	put_source(3);
	for (; n < 9 && driver.pour(source, backend, 9) == 0; n++)
		await();
	ck_assert_int_lt(n, 9);
	driver.let_in(source);
	await();
	ck_assert_uint_eq(source->len, 3);
	end_source();
	close(input);
}
END_TEST

/* What the connection tells once is not lost: here, that the server has not
 * read the request. */
START_TEST(error_shows_behind_pouring)
{
	const struct linger	none = { .l_onoff = 1 };

	start_with_pipe();
	start_source_by(CONF_SCGI, report_tcp);
	ck_assert(driver.keep_out(source));
	ck_assert_int_eq(setsockopt(source_output, SOL_SOCKET, SO_LINGER,
	    &none, sizeof(none)), 0);
	io_close(&source_output);
	while (driver.pour(source, backend, 9) == 0)
		await();
	driver.let_in(source);
	await();
	ck_assert_int_eq(source->end, BACKEND_BROKEN);
	ck_assert(source->unread);
	end_source();
	close(input);
}
END_TEST

/* The end, and one that reads no more, show when main reads. */
START_TEST(body_is_not_poured)
{
	start_with_pipe();
	start_source(_i == 0 ? CONF_CGI : CONF_FASTCGI);
	ck_assert_int_eq(driver.keep_out(source), _i == 0);
	if (_i == 0) {
		put_source(3);
		close(input);
		ck_assert_int_eq(driver.pour(source, backend, 9), -1);
		driver.let_in(source);
		settle();
		ck_assert_uint_eq(source->len, 3);
		driver.consume(source, 3);
		ck_assert(driver.keep_out(source));
		io_close(&source_output);
		ck_assert_int_eq(driver.pour(source, backend, 9), -1);
	} else
		close(input);
	end_source();
}
END_TEST

/*
 * A connection
 */

/* Reads a record of FastCGI, of this type and with that content; its id. */
static uint16_t
check_record(enum fastcgi_type type, const char *want)
{
	uint8_t	head[FASTCGI_HEADER];
	char	content[300];
	size_t	len;

	ck_assert_int_eq(read(output, head, sizeof(head)), sizeof(head));
	ck_assert_uint_eq(head[1], type);
	len = (size_t)head[4] << 8 | head[5];
	ck_assert_uint_le(len + head[6], sizeof(content));
	if (len + head[6] > 0)
		ck_assert_int_eq(read(output, content, len + head[6]),
		    len + head[6]);
	if (want != NULL) {
		ck_assert_uint_eq(len, strlen(want));
		ck_assert(memcmp(content, want, len) == 0);
	}
	return (uint16_t)(head[2] << 8 | head[3]);
}

/* The end of an answer without error. */
static void
put_end(uint16_t id)
{
	char	record[16] = { 1, 3, (char)(id >> 8), (char)id, 0, 8 };

	ck_assert_int_eq(write(output, record, sizeof(record)),
	    sizeof(record));
}

static uint16_t
start_fastcgi(void)
{
	uint16_t	id;

	asked.protocol = CONF_FASTCGI;
	asked.keep = true;
	ask();
	report_started();
	settle();
	wait_again();
	id = check_record(FASTCGI_BEGIN_REQUEST, NULL);
	check_record(FASTCGI_PARAMS, NULL);
	check_record(FASTCGI_PARAMS, "");
	ck_assert_uint_gt(backend->room, 1000);
	return id;
}

/* Each part is a record, and one without content the end.  No connection is
 * kept behind a body. */
START_TEST(fastcgi_body)
{
	uint16_t		id = start_fastcgi();
	struct program_done	done;

	driver.send(backend, "abc", 3);
	check_record(FASTCGI_STDIN, "abc");
	driver.send(backend, "de", 2);
	check_record(FASTCGI_STDIN, "de");
	driver.finish(backend);
	ck_assert_uint_eq(backend->room, 0);
	check_record(FASTCGI_STDIN, "");
	put_end(id);
	settle();
	ck_assert_int_eq(program_message_recv_done(request, &done), 1);
	ck_assert(!done.again);
	check_ended(BACKEND_COMPLETE, EXITED(0));
}
END_TEST

/* The answer is whole before the body is. */
START_TEST(fastcgi_ends_before_body)
{
	uint16_t		id = start_fastcgi();
	struct program_done	done;

	driver.send(backend, "abc", 3);
	put_end(id);
	settle();
	ck_assert_int_eq(program_message_recv_done(request, &done), 1);
	ck_assert(!done.again);
	check_ended(BACKEND_COMPLETE, EXITED(0));
}
END_TEST

/* SCGI has no framing. */
START_TEST(scgi_body)
{
	char	bytes[100];
	ssize_t	n;

	asked.protocol = CONF_SCGI;
	ask();
	report_started();
	settle();
	wait_again();
	ck_assert_int_gt(read(output, bytes, sizeof(bytes)), 0);
	driver.send(backend, "ab", 2);
	driver.send(backend, "c", 1);
	driver.finish(backend);
	n = read(output, bytes, sizeof(bytes));
	ck_assert_int_eq(n, 3);
	ck_assert(memcmp(bytes, "abc", 3) == 0);
	put("hello");
	settle();
	check_output("hello");
	ck_assert_int_eq(backend->end, BACKEND_RUNS);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin_all, end);
	tcase_add_test(t, body_comes);
	tcase_add_test(t, body_ends_late);
	tcase_add_loop_test(t, body_is_not_read, 0, 2);
	tcase_add_test(t, body_goes_on_behind_output);
	tcase_add_loop_test(t, wrong_pipe, 0, 3);
	tcase_add_test(t, no_pipe);
	tcase_add_loop_test(t, body_is_poured, 0, 2);
	tcase_add_loop_test(t, body_is_not_poured, 0, 2);
	tcase_add_test(t, urgent_is_not_poured);
	tcase_add_test(t, error_shows_behind_pouring);
	tcase_add_test(t, fastcgi_body);
	tcase_add_test(t, fastcgi_ends_before_body);
	tcase_add_test(t, scgi_body);
}
