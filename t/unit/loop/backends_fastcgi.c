/*
 * Tests of loop/backends with FastCGI and SCGI.  The test is the program
 * manager, and the program at the other end of the connection.
 */
#include <sys/socket.h>

#include "conf/program.h"
#include "lib/buf.h"
#include "lib/log.h"
#include "proto/fastcgi.h"
#include "shared/error_lines.h"
#include "t/unit/loop/programs.h"
#include "t/unit/loop/records.h"

#define LARGE		(1 << 20)	/* bytes that no socket takes at once */
#define HEAD		"\1\1\0\1\0\10\0\0" "\0\1\1\0\0\0\0\0" \
			"\1\4\0\1\0\4\4\0" "\1\1A1" "\0\0\0\0" \
			"\1\4\0\1\0\0\0\0"
#define HEAD_SIZE	(sizeof(HEAD) - 1)

/* In the texts of records each request has the id 1. */
static struct backend_start	asked;
static size_t			hold;
static struct buf		taken;		/* by the program */
static struct buf		lines;		/* of the error log */
static struct buf		got;		/* output of the backend */

static struct stream		asks, answers;
static uint16_t			id;		/* of the last request */

static void
note_line(void *unused, const char *line, size_t len)
{
	(void)unused;
	buf_add(&lines, line, len);
}

static void	start_program(void);

/* Of the request before those of a test. */
static void
learn_id(void)
{
	uint8_t	header[FASTCGI_HEADER];

	start_program();
	ck_assert_int_eq(read(output, header, sizeof(header)),
	    sizeof(header));
	id = (uint16_t)(header[2] << 8 | header[3]);
	ck_assert_uint_ne(id, 0);
	backend->waiter = NULL;
	driver.end(&backend);
}

static void
begin_all(void)
{
	begin();
	signal(SIGPIPE, SIG_IGN);
	log_set_output(note_line, NULL);
	hold = 4096;
	asked = (struct backend_start){
		.program = 4, .place = 3, .name = "app", .file = STR("file"),
		.environment = { "A=1", 4 }, .protocol = CONF_FASTCGI,
		.keep = true, .body = -1,
	};
	learn_id();
}

static void
end_all(void)
{
	io_close(&asked.body);
	end();
	log_set_output(NULL, NULL);
	buf_free(&taken);
	buf_free(&lines);
	buf_free(&got);
}

/*
 * Manager and program
 */

static void
start(void)
{
	struct program_start	message;

	backend = driver.start(driver.context, &asked, hold);
	ck_assert_ptr_nonnull(backend);
	id = (uint16_t)(id % UINT16_MAX + 1);
	asks = answers = (struct stream){ .left = 0 };
	message = take_any_start();
	ck_assert_uint_eq(message.program, 3);
	ck_assert_uint_eq(message.body, PROGRAM_BODY_NONE);
	ck_assert_uint_eq(message.file.len, 0);
	ck_assert_uint_eq(message.environment.len, 0);
	backend->waiter = &waiter;
	woken = 0;
}

static void
report_started(void)
{
	int	ends[2];

	io_close(&output);
	ck_assert_int_eq(io_pipe(ends), 0);
	ck_assert_int_eq(io_nonblock(ends[1]), 0);
	report(PROGRAM_STARTED, 0, ends[0]);
	close(ends[0]);
	output = ends[1];
}

static void
wait_again(void)
{
	backend->waiter = &waiter;
	woken = 0;
}

static void
start_program(void)
{
	start();
	report_started();
	settle();
	ck_assert(backend->started);
	ck_assert_int_eq(woken, 1);
	wait_again();
}

static void
make_body(size_t size)
{
	asked.body = body_make(size);
}

/* Reads once; false: there is nothing now, or no more. */
static bool
take_some(void)
{
	char	bytes[4096];
	ssize_t	n = read(output, bytes, sizeof(bytes));

	if (n > 0 && asked.protocol == CONF_FASTCGI)
		stream_change(&asks, bytes, (size_t)n, id, 1);
	if (n > 0)
		buf_add(&taken, bytes, (size_t)n);
	return n > 0;
}

static void
check_taken(const char *want, size_t len)
{
	while (take_some())
		continue;
	ck_assert_msg(taken.len == len && memcmp(taken.at, want, len) == 0,
	    "%s", unit_show(taken.at, taken.len));
}

static void
put_bytes(const char *at, size_t len)
{
	struct buf	bytes = { 0 };

	buf_add(&bytes, at, len);
	if (asked.protocol == CONF_FASTCGI)
		stream_change(&answers, bytes.at, len, 1, id);
	ck_assert_int_eq(write(output, bytes.at, len), len);
	buf_free(&bytes);
}
#define PUT(bytes)	put_bytes(bytes, sizeof(bytes) - 1)

/* What the manager is told of the answer. */
enum done { NOT_WHOLE, WHOLE, AGAIN, UNREAD };

static enum done
recv_done(void)
{
	struct program_done	done;

	return program_message_recv_done(request, &done) != 1 ||
	    done.nanswered != 1 ? NOT_WHOLE : done.again ? AGAIN :
	    done.unread ? UNREAD : WHOLE;
}

static void
check_ended(enum backend_end how, int status, enum done done)
{
	ck_assert_int_eq(backend->end, how);
	ck_assert_int_eq(backend->status, status);
	ck_assert_int_eq(woken, 1);
	ck_assert_int_eq(recv_done(), done);
	ck_assert(is_dropped());
}

/*
 * Tests
 */

/* A connection that is kept, and one that is not. */
START_TEST(hello)
{
	char	want[] = HEAD NO_STDIN;

	asked.keep = _i == 0;
	want[10] = (char)asked.keep;	/* KEEP_CONN */
	start_program();
	check_taken(want, sizeof(want) - 1);
	PUT(OUT("\5", "hello") END("\3", "\0"));
	settle();
	check_output("hello");
	check_ended(BACKEND_COMPLETE, EXITED(3), _i == 0 ? AGAIN : WHOLE);
}
END_TEST

START_TEST(small_body)
{
	const char	stdin_head[] = "\1\5\0\1\0\3\5\0";
	char		head[] = HEAD;

	make_body(3);
	start_program();
	io_close(&asked.body);
	while (take_some())
		continue;
	ck_assert_uint_eq(taken.len, HEAD_SIZE + 24);
	head[10] = 0;		/* not KEEP_CONN */
	ck_assert(memcmp(taken.at, head, HEAD_SIZE) == 0);
	ck_assert(memcmp(taken.at + HEAD_SIZE, stdin_head, 8) == 0);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(taken.at[HEAD_SIZE + 8 + i],
		    body_get_byte(3, i));
	ck_assert(memcmp(taken.at + HEAD_SIZE + 16, NO_STDIN, 8) == 0);
	PUT(END("\0", "\0"));
	settle();
	check_ended(BACKEND_COMPLETE, EXITED(0), WHOLE);
}
END_TEST

/* An answer that comes in two parts, cut at every byte. */
START_TEST(two_parts)
{
	const char	answer[] = OUT("\3", "hel") ERR("\4", "oops")
			    "\1\6\0\1\0\2\6\0" "lo" "xxxxxx"
			    OUT("\0", "") "\1\3\0\1\0\10\1\0" "\0\0\0\7\0\0\0\0" "p";
	const size_t	len = sizeof(answer) - 1;

	for (size_t cut = 0; cut <= len; cut++) {
		start_program();
		put_bytes(answer, cut);
		settle();
		ck_assert_int_eq(backend->end, cut < len ? BACKEND_RUNS :
		    BACKEND_COMPLETE);
		ck_assert_int_eq(woken, backend->len > 0);
		wait_again();
		if (cut < len)
			put_bytes(answer + cut, len - cut);
		settle();
		check_output("hello");
		woken = 1;
		check_ended(BACKEND_COMPLETE, EXITED(7), AGAIN);
		backend->waiter = NULL;
		driver.end(&backend);
		ck_assert_ptr_nonnull(strstr(buf_string(&lines),
		    ": app: oops\n"));
		lines.len = 0;
		now.ms += 50;		/* a line's time */
	}
}
END_TEST

static void
consume_all(void)
{
	if (backend->len == 0)
		return;
	buf_add(&got, backend->at, backend->len);
	driver.consume(backend, backend->len);
	wait_again();
}

/* Checks the body that has been taken; drops what is behind it. */
static void
check_large_body(void)
{
	size_t		 at = HEAD_SIZE, len, n = 0;
	const uint8_t	*r;

	do {
		r = (const uint8_t *)taken.at + at;
		ck_assert(r[0] == 1 && r[1] == FASTCGI_STDIN);
		len = (size_t)r[4] << 8 | r[5];
		for (size_t i = 0; i < len; i++, n++)
			if ((char)r[8 + i] != body_get_byte(LARGE, n))
				ck_abort_msg("byte %zu", n);
		at += 8 + len + r[6];
	} while (len > 0);
	ck_assert_uint_eq(at, taken.len);
	ck_assert_uint_eq(n, LARGE);
}

/* Puts as much as there is room for; returns how much in all. */
static size_t
put_some(const char *at, size_t len, size_t put)
{
	ssize_t	n = write(output, at + put, len - put);

	return n > 0 ? put + (size_t)n : put;
}

/*
 * A large body and a large answer: the program reads while it writes, or not
 * before it has written all.
 */
START_TEST(both_ways)
{
	struct buf	answer = { 0 };
	size_t		put = 0;

	make_body(LARGE);
	start_program();
	for (int i = 0; i < 1 << 10; i++) {
		buf_add(&answer, "\1\6\0\1\4\0\0\0", 8);
		answer.at[answer.len - 6] = (char)(id >> 8);
		answer.at[answer.len - 5] = (char)id;
		for (int k = 0; k < 1024; k++)
			buf_addc(&answer, (char)i);
	}
	while (put < answer.len) {
		put = put_some(answer.at, answer.len, put);
		if (_i == 0)
			take_some();
		settle();
		consume_all();
	}
	if (_i == 1)
		ck_assert_uint_eq(taken.len, 0);
	while (take_some() || turn(false))
		consume_all();
	consume_all();
	check_large_body();
	ck_assert_uint_eq(got.len, 1 << 20);
	for (size_t i = 0; i < got.len; i++)
		if (got.at[i] != (char)(i >> 10))
			ck_abort_msg("byte %zu", i);
	wait_again();
	PUT(END("\0", "\0"));
	settle();
	check_ended(BACKEND_COMPLETE, EXITED(0), WHOLE);
	buf_free(&answer);
}
END_TEST

/* The program answers, and reads nothing of its body: what is under way would
 * be the next request's begin.  Then it closes, or does not. */
START_TEST(answers_early)
{
	make_body(LARGE);
	start_program();
	PUT(OUT("\2", "no") END("\0", "\0"));
	if (_i == 1)
		io_close(&output);
	settle();
	check_output("no");
	check_ended(BACKEND_COMPLETE, EXITED(0), WHOLE);
}
END_TEST

/* It closes before the request is sent, with an answer behind it. */
START_TEST(takes_nothing)
{
	start();
	report_started();
	shutdown(output, SHUT_RD);
	PUT(OUT("\2", "no") END("\0", "\0"));
	settle();
	check_output("no");
	check_ended(BACKEND_COMPLETE, EXITED(0), WHOLE);
}
END_TEST

/* A record of the request before comes late. */
START_TEST(skips_late_records)
{
	char	late[] = OUT("\4", "late");

	start_program();
	late[2] = (char)((uint16_t)(id - 1) >> 8);
	late[3] = (char)(id - 1);
	ck_assert_int_eq(write(output, late, sizeof(late) - 1),
	    sizeof(late) - 1);
	PUT(OUT("\5", "right") END("\0", "\0"));
	settle();
	check_output("right");
	check_ended(BACKEND_COMPLETE, EXITED(0), AGAIN);
}
END_TEST

START_TEST(goes_on_behind_end)
{
	start_program();
	PUT(END("\0", "\0") "\1");
	settle();
	check_ended(BACKEND_COMPLETE, EXITED(0), WHOLE);
}
END_TEST

START_TEST(unknown_protocol)
{
	start_program();
	PUT("HTTP/1.1 400 Bad request\r\n");
	settle();
	check_ended(BACKEND_BROKEN, -1, NOT_WHOLE);
}
END_TEST

static const struct {
	bool		 has_output;
	const char	*answer;
	enum backend_end end;
} refusals[] = {
	{ false, END("\0", "\1"), BACKEND_BROKEN },
	{ false, END("\0", "\2"), BACKEND_BUSY },
	{ true, END("\0", "\2"), BACKEND_BROKEN },
	{ false, END("\0", "\3"), BACKEND_BROKEN },
	{ true, END("\0", "\377"), BACKEND_BROKEN },
};

START_TEST(refused)
{
	start_program();
	if (refusals[_i].has_output)
		PUT(OUT("\1", "x"));
	settle();
	wait_again();
	put_bytes(refusals[_i].answer, 16);
	settle();
	check_ended(refusals[_i].end, -1, NOT_WHOLE);
	ck_assert_uint_eq(backend->retry_after > 0,
	    refusals[_i].end == BACKEND_BUSY);
}
END_TEST

/* Output that a slow client has no room for makes the program wait. */
START_TEST(holds)
{
	hold = 16;
	start_program();
	PUT(OUT("\12", "0123456789") OUT("\12", "abcdefghij")
	    END("\0", "\0"));
	settle();
	check_output("0123456789abcdef");
	driver.consume(backend, 7);
	settle();
	check_output("789abcdef");
	check_runs();
	wait_again();
	driver.consume(backend, 1);
	settle();
	check_output("89abcdefghij");
	check_ended(BACKEND_COMPLETE, EXITED(0), AGAIN);
}
END_TEST

/* What is no output wakes nobody. */
START_TEST(not_woken)
{
	start_program();
	PUT(ERR("\2", "x\n") OUT("\0", ""));
	settle();
	ck_assert_int_eq(woken, 0);
	ck_assert_ptr_nonnull(strstr(buf_string(&lines), ": app: x\n"));
}
END_TEST

/* All requests for a program have one rate; those that fail tell the end of
 * what was left out. */
START_TEST(many_errors)
{
	start_program();
	for (int i = 0; i < ERROR_LINES_BURST; i++)
		PUT(ERR("\2", "x\n"));
	settle();
	PUT(END("\0", "\0"));
	settle();
	backend->waiter = NULL;
	driver.end(&backend);
	lines.len = 0;
	start_program();
	PUT(ERR("\5", "last\n"));
	settle();
	ck_assert_uint_eq(lines.len, 0);
	PUT("end");
	settle();
	if (_i == 0)
		io_close(&output);
	else
		PUT("unknown");
	settle();
	pass(1000);
	check_ended(BACKEND_BROKEN, -1, NOT_WHOLE);
	ck_assert_ptr_nonnull(strstr(buf_string(&lines), ": app: last\n"));
}
END_TEST

/* A server elsewhere has no status that could follow. */
START_TEST(closes)
{
	asked.keep = false;
	start_program();
	if (_i > 0)
		PUT(OUT("\4", "half"));
	settle();
	wait_again();
	io_close(&output);
	settle();
	check_output(_i > 0 ? "half" : "");
	check_ended(BACKEND_BROKEN, -1, _i > 0 ? NOT_WHOLE : UNREAD);
}
END_TEST

/* The own program dies: connection and report end in any order. */
START_TEST(dies)
{
	start_program();
	PUT(OUT("\5", "half"));
	settle();
	wait_again();
	if (_i == 0) {
		report(PROGRAM_ENDED, KILLED, -1);
		settle();
		check_runs();
		io_close(&output);
	} else {
		io_close(&output);
		settle();
		pass(999);
		check_runs();
		report(PROGRAM_ENDED, _i == 1 ? KILLED : EXITED(0), -1);
	}
	settle();
	check_output("half");
	check_ended(BACKEND_BROKEN, _i < 2 ? KILLED : EXITED(0), NOT_WHOLE);
}
END_TEST

START_TEST(no_report_of_death)
{
	start_program();
	io_close(&output);
	settle();
	pass(999);
	check_runs();
	pass(1);
	check_ended(BACKEND_BROKEN, -1, NOT_WHOLE);
}
END_TEST

/* Its last request, and its exit before the answer is read. */
START_TEST(exits_behind_answer)
{
	start_program();
	report(PROGRAM_ENDED, EXITED(0), -1);
	settle();
	PUT(OUT("\4", "text") END("\1", "\0"));
	io_close(&output);
	settle();
	check_output("text");
	ck_assert_int_eq(backend->end, BACKEND_COMPLETE);
	ck_assert_int_eq(backend->status, EXITED(1));
}
END_TEST

/* A process that the program has left behind has its connection. */
START_TEST(leaves_child)
{
	start_program();
	report(PROGRAM_ENDED, EXITED(0), -1);
	settle();
	pass(999);
	check_runs();
	pass(1);
	check_ended(BACKEND_BROKEN, EXITED(0), NOT_WHOLE);
}
END_TEST

/* The body cannot be read. */
START_TEST(body_fails)
{
	int	fd = open("/", O_RDONLY | O_CLOEXEC);

	asked.body = fd;
	start();
	report_started();
	settle();
	check_ended(BACKEND_BROKEN, -1, NOT_WHOLE);
}
END_TEST

START_TEST(no_body)
{
	asked.body = lowest + 100;	/* not open */
	ck_assert_ptr_null(driver.start(driver.context, &asked, hold));
	ck_assert_int_eq(errno, EBADF);
	asked.body = -1;
}
END_TEST

enum state {
	ASKED, REPORTED, SENDING, SENT, ANSWERING, FULL, CLOSED, ENDED,
	COMPLETE, NSTATES
};

/* Brings a request into a state. */
static void
reach(enum state state)
{
	hold = 16;
	if (state == SENDING)
		make_body(LARGE);
	if (state < SENDING)
		start();
	else
		start_program();
	if (state == REPORTED)
		report_started();
	else if (state == ANSWERING)
		PUT(ERR("\4", "part") OUT("\5", "half"));
	else if (state == FULL)
		PUT(OUT("\24", "01234567890123456789"));
	else if (state == CLOSED)
		io_close(&output);
	else if (state == ENDED)
		report(PROGRAM_ENDED, EXITED(0), -1);
	else if (state == COMPLETE)
		PUT(OUT("\1", "x") END("\0", "\0"));
	if (state != REPORTED)
		settle();
	backend->waiter = NULL;
}

START_TEST(ended_in_each_state)
{
	reach((enum state)_i);
	driver.end(&backend);
	ck_assert_ptr_null(backend);
	if (_i == REPORTED)	/* what was not received is lost */
		ck_assert_int_eq(write(request, "", 1), -1);
	else {
		ck_assert_int_eq(recv_done(), _i == COMPLETE ? AGAIN :
		    NOT_WHOLE);
		ck_assert(is_dropped());
	}
}
END_TEST

START_TEST(manager_ends_in_each_state)
{
	enum state	state = (enum state)_i;

	reach(state);
	wait_again();
	io_close(&request);
	settle();
	pass(1000);
	ck_assert_int_eq(backend->end, state == COMPLETE ? BACKEND_COMPLETE :
	    BACKEND_BROKEN);
}
END_TEST

/* The connection ends the backend in whatever it is told. */
START_TEST(ended_when_told)
{
	if (_i < 1)
		start();
	else
		start_program();
	ends_at_wake = true;
	if (_i == 0)
		report_started();
	else if (_i == 1)
		PUT(OUT("\1", "x"));
	else if (_i == 2)
		PUT(END("\0", "\0"));
	else if (_i == 3)
		PUT(END("\0", "\2"));
	else if (_i == 4)
		PUT("unknown protocol");
	else
		io_close(&output);
	settle();
	pass(1000);
	ck_assert_ptr_null(backend);
	ck_assert_int_eq(woken, 1);
	ck_assert_int_eq(recv_done(), _i == 2 ? AGAIN : NOT_WHOLE);
	ck_assert(is_dropped());
}
END_TEST

/*
 * SCGI
 */

static void
set_scgi(void)
{
	asked.protocol = CONF_SCGI;
	asked.keep = false;
	asked.environment = (struct str){ "A=1\0CONTENT_LENGTH=3", 21 };
}

START_TEST(scgi)
{
	char	want[] = "28:CONTENT_LENGTH\0" "3\0SCGI\0" "1\0A\0" "1\0,...";

	set_scgi();
	make_body(3);
	start_program();
	for (size_t i = 0; i < 3; i++)
		want[sizeof(want) - 4 + i] = body_get_byte(3, i);
	check_taken(want, sizeof(want) - 1);
	PUT("Status: 200\n\n");
	settle();
	ck_assert_int_eq(woken, 1);
	wait_again();
	PUT("text");
	io_close(&output);
	while (turn(false))
		if (backend->end == BACKEND_RUNS)
			wait_again();
	check_output("Status: 200\n\ntext");
	check_ended(BACKEND_COMPLETE, -1, WHOLE);
}
END_TEST

/* It answers before it has read, and ends its output only. */
START_TEST(scgi_early)
{
	set_scgi();
	make_body(LARGE);
	start_program();
	PUT("text");
	shutdown(output, SHUT_WR);
	settle();
	check_output("text");
	check_ended(BACKEND_COMPLETE, -1, WHOLE);
}
END_TEST

/* It closes before it has read all: a reset, which is no answer by itself. */
START_TEST(scgi_reset)
{
	set_scgi();
	make_body(LARGE);
	start_program();
	if (_i == 1)
		PUT("text");
	io_close(&output);
	settle();
	check_output(_i == 1 ? "text" : "");
	ck_assert_int_eq(backend->end, _i == 1 ? BACKEND_COMPLETE :
	    BACKEND_BROKEN);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin_all, end_all);
	tcase_add_loop_test(t, hello, 0, 2);
	tcase_add_test(t, small_body);
	tcase_add_test(t, two_parts);
	tcase_add_loop_test(t, both_ways, 0, 2);
	tcase_add_loop_test(t, answers_early, 0, 2);
	tcase_add_test(t, takes_nothing);
	tcase_add_test(t, skips_late_records);
	tcase_add_test(t, goes_on_behind_end);
	tcase_add_test(t, unknown_protocol);
	tcase_add_loop_test(t, refused, 0,
	    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(t, holds);
	tcase_add_test(t, not_woken);
	tcase_add_loop_test(t, many_errors, 0, 2);
	tcase_add_loop_test(t, closes, 0, 2);
	tcase_add_loop_test(t, dies, 0, 3);
	tcase_add_test(t, no_report_of_death);
	tcase_add_test(t, exits_behind_answer);
	tcase_add_test(t, leaves_child);
	tcase_add_test(t, body_fails);
	tcase_add_test(t, no_body);
	tcase_add_loop_test(t, ended_in_each_state, 0, NSTATES);
	tcase_add_loop_test(t, manager_ends_in_each_state, 0, NSTATES);
	tcase_add_loop_test(t, ended_when_told, 0, 6);
	tcase_add_test(t, scgi);
	tcase_add_test(t, scgi_early);
	tcase_add_loop_test(t, scgi_reset, 0, 2);
}
