/*
 * Tests of shared/program_message: what comes over is what was sent; all else
 * is no message, and leaves no descriptor open.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "shared/program_message.h"
#include "t/unit/unit.h"

static int	ends[2];		/* main's, the manager's */
static char	buffer[PROGRAM_MESSAGE_MAX];
static int	lowest;			/* the next free descriptor */

static int
next_descriptor(void)
{
	int	fd = dup(0);

	ck_assert_int_ne(fd, -1);
	close(fd);
	return fd;
}

static void
set_up(void)
{
	ck_assert_int_eq(io_record_pipe(ends), 0);
	lowest = next_descriptor();
}

static void
tear_down(void)
{
	/* All that came was closed. */
	if (ends[0] != -1)
		ck_assert_int_eq(next_descriptor(), lowest);
	io_close(&ends[0]);
	io_close(&ends[1]);
}

/* Sends bytes as one message, with a descriptor unless fd is -1. */
static void
send_bytes(const void *bytes, size_t len, int fd)
{
	union {
		struct cmsghdr	head;
		char		bytes[CMSG_SPACE(sizeof(int))];
	}		control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
			    .cmsg_level = SOL_SOCKET,
			    .cmsg_type = SCM_RIGHTS } };
	struct iovec	iov = { (void *)(uintptr_t)bytes, len };
	struct msghdr	message = { .msg_iov = &iov, .msg_iovlen = 1 };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (fd != -1) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
	}
	ck_assert_int_eq(sendmsg(ends[0], &message, MSG_NOSIGNAL),
	    (ssize_t)len);
}

static const struct {
	const char	*file;
	size_t		 environment;	/* bytes */
	uint32_t	 body;
} starts[] = {
	{ "", 0, 0 },
	{ "a/b.cgi", 100, PROGRAM_BODY_FILE },
	{ "a/b.cgi", 100, PROGRAM_BODY_PIPE },
	{ "a/b.cgi", 100, PROGRAM_BODY_OUTPUT },
	{ "", PROGRAM_ENVIRONMENT_MAX, PROGRAM_BODY_FILE },
};

START_TEST(passes_a_start)
{
	static char		environment[PROGRAM_ENVIRONMENT_MAX];
	struct program_start	sent = { .program = 7,
				    .group = UINT64_C(1) << 40 | 3,
				    .body = starts[_i].body,
				    .file = str_of(starts[_i].file),
				    .environment = { environment,
				    starts[_i].environment } }, got;
	int			request;

	memset(environment, 'e', sizeof(environment));
	ck_assert_int_eq(program_message_send_start(ends[0], &sent, 0), 0);
	ck_assert_int_eq(program_message_recv_start(ends[1], buffer, &got,
	    &request), 1);
	ck_assert_uint_eq(got.program, 7);
	ck_assert(!got.restart);
	ck_assert_uint_eq(got.group, sent.group);
	ck_assert_uint_eq(got.body, sent.body);
	ck_assert(str_same(got.file, sent.file));
	ck_assert(str_same(got.environment, sent.environment));
	ck_assert_int_ne(request, -1);
	io_close(&request);
	ck_assert_int_eq(program_message_recv_start(ends[1], buffer, &got,
	    &request), -1);
	ck_assert_int_eq(errno, EAGAIN);
	io_close(&ends[0]);
	ck_assert_int_eq(program_message_recv_start(ends[1], buffer, &got,
	    &request), 0);
}
END_TEST

START_TEST(passes_a_restart)
{
	struct program_start	got;
	int			request;

	ck_assert_int_eq(program_message_send_restart(ends[0], 7), 0);
	ck_assert_int_eq(program_message_recv_start(ends[1], buffer, &got,
	    &request), 1);
	ck_assert_uint_eq(got.program, 7);
	ck_assert(got.restart);
	ck_assert_uint_eq(got.file.len + got.environment.len, 0);
	ck_assert_int_eq(request, -1);
}
END_TEST

START_TEST(sends_none_that_is_too_long)
{
	static char		text[PROGRAM_ENVIRONMENT_MAX + 1];
	struct program_start	start = { .environment = { text,
				    sizeof(text) } };

	ck_assert_int_eq(program_message_send_start(ends[0], &start, 0), -1);
	ck_assert_int_eq(errno, EMSGSIZE);
	start.environment.len = 0;
	start.file = (struct str){ text, PROGRAM_FILE_MAX + 1 };
	ck_assert_int_eq(program_message_send_start(ends[0], &start, 0), -1);
	ck_assert_int_eq(errno, EMSGSIZE);
}
END_TEST

#define HEAD	24

/* A head is four numbers, and one of 64 bits; bytes of the message, with a
 * descriptor or not. */
static const struct {
	uint32_t	head[6];
	size_t		len;
	bool		has_fd;
} no_starts[] = {
	{ { 0 }, 0, false },
	{ { 0 }, 0, true },
	{ { 0 }, HEAD - 1, true },
	{ { 0, 0, 0, 0 }, HEAD, false },		/* no request */
	{ { 0, 5, 0, 0 }, HEAD, true },
	{ { 0, 4, 0, 0 }, HEAD, true },		/* a RESTART has none */
	{ { 0, 4, 1, 0 }, HEAD + 1, false },
	{ { 0, 4, 1, 0 }, HEAD, false },
	{ { 0, 4, 0, 1 }, HEAD, false },
	{ { 0, 0, 1, 0 }, HEAD, true },	/* shorter than it says */
	{ { 0, 0, 0, 1 }, HEAD, true },
	{ { 0, 0, 0, 0 }, HEAD + 1, true },		/* longer */
	{ { 0, 0, 0xffffffff, 1 }, HEAD, true },	/* the sum overflows */
	{ { 0, 0, PROGRAM_FILE_MAX + 1, 0 }, HEAD + PROGRAM_FILE_MAX + 1,
	    true },
	{ { 0, 0, 0, PROGRAM_ENVIRONMENT_MAX + 1 },
	    HEAD + PROGRAM_ENVIRONMENT_MAX + 1, true },
};

START_TEST(understands_no_other_start)
{
	static char		bytes[PROGRAM_MESSAGE_MAX];
	struct program_start	got;
	int			request;

	memcpy(bytes, no_starts[_i].head, sizeof(no_starts[_i].head));
	send_bytes(bytes, no_starts[_i].len, no_starts[_i].has_fd ? 0 : -1);
	ck_assert_int_eq(program_message_recv_start(ends[1], buffer, &got,
	    &request), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_int_eq(request, -1);
}
END_TEST

START_TEST(passes_a_body)
{
	int	body;

	ck_assert_int_eq(program_message_send_body(ends[0], 0), 0);
	ck_assert_int_eq(program_message_recv_body(ends[1], &body), 1);
	ck_assert_int_ne(body, -1);
	io_close(&body);
	send_bytes("", 1, -1);
	ck_assert_int_eq(program_message_recv_body(ends[1], &body), -1);
	ck_assert_int_eq(errno, EBADMSG);
	send_bytes("", 0, 0);
	ck_assert_int_eq(program_message_recv_body(ends[1], &body), -1);
	ck_assert_int_eq(errno, EBADMSG);
	io_close(&ends[0]);
	ck_assert_int_eq(program_message_recv_body(ends[1], &body), 0);
}
END_TEST

static const struct {
	struct program_report	report;
	size_t			len;
	bool			has_output, is_good;
} reports[] = {
#define ALL	sizeof(struct program_report)
	{ { .kind = PROGRAM_STARTED }, ALL, true, true },
	{ { .kind = PROGRAM_ENDED, .status = 256 }, ALL, false, true },
	{ { .kind = PROGRAM_FAILED, .error = ENOENT }, ALL, false, true },
	{ { .kind = PROGRAM_BUSY, .retry_after = 9 }, ALL, false, true },
	{ { .kind = PROGRAM_INPUT }, ALL, true, true },
	{ { .kind = PROGRAM_RECALL }, ALL, false, true },
	{ { .kind = PROGRAM_RECALL }, ALL, true, false },
	{ { .kind = PROGRAM_INPUT }, ALL, false, false },
	{ { .kind = PROGRAM_STARTED }, ALL, false, false },
	{ { .kind = PROGRAM_ENDED }, ALL, true, false },
	{ { .kind = PROGRAM_REPORT_COUNT }, ALL, false, false },
	{ { .kind = PROGRAM_STARTED }, ALL - 1, true, false },
	{ { .kind = PROGRAM_STARTED }, 0, true, false },
	{ { .kind = PROGRAM_STARTED }, 0, false, false },
#undef ALL
};

START_TEST(passes_a_report)
{
	struct program_report	got;
	int			output, n;

	send_bytes(&reports[_i].report, reports[_i].len,
	    reports[_i].has_output ? 0 : -1);
	n = program_message_recv_report(ends[1], &got, &output);
	ck_assert_int_eq(n, reports[_i].is_good ? 1 : -1);
	if (n == -1) {
		ck_assert_int_eq(errno, EBADMSG);
		ck_assert_int_eq(output, -1);
		return;
	}
	ck_assert_mem_eq(&got, &reports[_i].report, sizeof(got));
	ck_assert_int_eq(output != -1, reports[_i].has_output);
	io_close(&output);
	io_close(&ends[0]);
	ck_assert_int_eq(program_message_recv_report(ends[1], &got, &output),
	    0);
}
END_TEST

/* Main gives back what is recalled meanwhile, and closes. */
START_TEST(passes_a_done_before_a_recall)
{
	struct program_done	got, done = { .nanswered = 7,
				    .again = true };

	ck_assert_int_eq(program_message_send_report(ends[1],
	    &(struct program_report){ .kind = PROGRAM_RECALL }, -1), 0);
	ck_assert_int_eq(program_message_send_done(ends[0], &done), 0);
	io_close(&ends[0]);
	ck_assert_int_eq(program_message_recv_done(ends[1], &got), 1);
	ck_assert_uint_eq(got.nanswered, 7);
	ck_assert(got.again);
	ck_assert_int_eq(program_message_recv_done(ends[1], &got), 0);
	io_close(&ends[1]);
}
END_TEST

START_TEST(refuses_a_done_that_is_cut)
{
	struct program_done	got;

	ck_assert_int_eq(write(ends[0], "abcd", 4), 4);
	ck_assert_int_eq(program_message_recv_done(ends[1], &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
}
END_TEST

/* The manager has refused: it has not read the body, and closes. */
START_TEST(passes_a_report_before_a_body)
{
	struct program_report	got, busy = { .kind = PROGRAM_BUSY,
				    .retry_after = 7 };
	int			output;

	ck_assert_int_eq(program_message_send_body(ends[0], 0), 0);
	ck_assert_int_eq(program_message_send_report(ends[1], &busy, -1), 0);
	io_close(&ends[1]);
	ck_assert_int_eq(program_message_recv_report(ends[0], &got, &output),
	    1);
	ck_assert_uint_eq(got.retry_after, 7);
	ck_assert_int_eq(program_message_recv_report(ends[0], &got, &output),
	    0);
	io_close(&ends[0]);
}
END_TEST

#define COUNT(table)	(int)(sizeof(table) / sizeof((table)[0]))

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, passes_a_start, 0, COUNT(starts));
	tcase_add_test(tests, passes_a_restart);
	tcase_add_test(tests, sends_none_that_is_too_long);
	tcase_add_loop_test(tests, understands_no_other_start, 0,
	    COUNT(no_starts));
	tcase_add_test(tests, passes_a_body);
	tcase_add_loop_test(tests, passes_a_report, 0, COUNT(reports));
	tcase_add_test(tests, passes_a_report_before_a_body);
	tcase_add_test(tests, passes_a_done_before_a_recall);
	tcase_add_test(tests, refuses_a_done_that_is_cut);
}
