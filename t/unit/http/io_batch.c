/*
 * Unit test of http/io_batch, with clients of a transport whose results are
 * set.
 */
#include <errno.h>
#include <string.h>

#include "http/conn.h"
#include "http/io_batch.h"
#include "t/unit/unit.h"

#define CLIENTS	4

/* Results of the next call for a client: bytes, or an errno below 0. */
static ssize_t		 gives[CLIENTS];
static int		 order[2 * CLIENTS], made;	/* of the calls */
static struct conf	 conf;
static struct http_loop	 http;
static struct clock	 ticks;
static struct session	 peers[CLIENTS];
static struct conn	 conns[CLIENTS], *all[CLIENTS];
static struct output	 outputs[CLIENTS];
static struct io_batch	 batch;

static ssize_t
give_result(int fd)
{
	order[made++] = fd;
	if (gives[fd] >= 0)
		return gives[fd];
	errno = (int)-gives[fd];
	return -1;
}

static ssize_t
do_recv(void *context, int fd, void *to, size_t size)
{
	(void)context;
	ck_assert(gives[fd] <= (ssize_t)size);
	if (gives[fd] > 0)
		memset(to, 'a' + fd, (size_t)gives[fd]);
	return give_result(fd);
}

static ssize_t
do_send(void *context, int fd, const struct iovec *iov, int n, bool more)
{
	(void)context;
	ck_assert_int_eq(n, 1);
	ck_assert(!more);
	ck_assert_int_eq(*(const char *)iov->iov_base, 'a' + fd);
	return give_result(fd);
}

static const struct transport	transport = { .recv = do_recv,
	.send = do_send };

static void
init_clients(void)
{
	memset(&http, 0, sizeof(http));
	memset(outputs, 0, sizeof(outputs));
	http.conf = &conf;
	http.clock = &ticks;
	made = 0;
	for (int i = 0; i < CLIENTS; i++) {
		peers[i] = (struct session){ .http = &http, .fd = i };
		conns[i] = (struct conn){ .http = &http, .session = &peers[i],
			.transport = &transport, .output = &outputs[i],
			.wait.fd = i };
		all[i] = &conns[i];
		gives[i] = 10;
	}
}

static void
check_order(const char *wanted)
{
	char	got[2 * CLIENTS + 1] = "";

	for (int i = 0; i < made; i++)
		got[i] = (char)('0' + order[i]);
	ck_assert_str_eq(got, wanted);
}

static void
check_call(int i, ssize_t n, int error)
{
	ck_assert_ptr_nonnull(conns[i].op);
	ck_assert_int_eq(conns[i].op->result, n);
	if (n == -1)
		ck_assert_int_eq(conns[i].op->error, error);
}

START_TEST(receives_side_by_side)
{
	gives[1] = -EAGAIN;
	gives[2] = 0;
	gives[3] = 5;
	io_batch_recv(&batch, all, CLIENTS);
	check_order("0123");
	check_call(0, 10, 0);
	check_call(1, -1, EAGAIN);
	check_call(2, 0, 0);
	check_call(3, 5, 0);
	ck_assert_int_eq(http.batch_offset, 15);
	ck_assert_int_eq(memcmp(http.input, "aaaaaaaaaaddddd", 15), 0);
	ck_assert_ptr_eq(conns[0].op->at, http.input);
	ck_assert_ptr_eq(conns[3].op->at, http.input + 10);
}
END_TEST

/* A connection without room in the buffer gets no call, and makes its own. */
START_TEST(receives_what_has_room)
{
	gives[1] = HTTP_INPUT_SIZE / 2 - 10 - 4095;
	io_batch_recv(&batch, all, CLIENTS);
	check_order("01");
	check_call(1, gives[1], 0);
	ck_assert_ptr_null(conns[2].op);
	ck_assert_ptr_null(conns[3].op);
	ck_assert(http.batch_offset <= HTTP_INPUT_SIZE / 2);
}
END_TEST

/* A read that fills its room says so by its length. */
START_TEST(tells_of_the_room)
{
	gives[0] = HTTP_INPUT_SIZE / 2;
	io_batch_recv(&batch, all, CLIENTS);
	check_order("0");
	ck_assert_int_eq(conns[0].op->len, HTTP_INPUT_SIZE / 2);
}
END_TEST

static void
put_piece(int i, const char *at)
{
	output_put(&outputs[i], at, 10);
	conns[i].step = STEP_SEND;
}

static void
put_all(void)
{
	static const char	*at[] = { "a123456789", "b123456789",
					"c123456789", "d123456789" };

	for (int i = 0; i < CLIENTS; i++)
		put_piece(i, at[i]);
}

START_TEST(sends)
{
	put_all();
	gives[1] = -EPIPE;
	gives[2] = 4;
	gives[3] = -EINTR;
	io_batch_send(&batch, all, CLIENTS);
	check_order("0123");
	check_call(0, 10, 0);
	check_call(1, -1, EPIPE);
	check_call(2, 4, 0);
	check_call(3, -1, EINTR);
	ck_assert_int_eq(conns[2].op->len, 10);
	/* The step takes the bytes out of the output, not the batch. */
	ck_assert_int_eq(outputs[0].bytes, 10);
}
END_TEST

static void
another_piece(int i)
{
	put_piece(i, "more......");
}

static void
of_a_file(int i)
{
	outputs[i].pieces[0].at = NULL;
}

static void
close_after(int i)
{
	conns[i].close = true;
}

static void
set_waiting(int i)
{
	conns[i].go = GO_WAIT;
}

static void
set_other_step(int i)
{
	conns[i].step = STEP_BODY;
}

static void
limit_pace(int i)
{
	(void)i;
	http.pace = (struct token_bucket_size){ 1, 5 };
}

/* All other connections make their own call. */
START_TEST(sends_what_is_simple)
{
	static void (*const kinds[])(int) = {another_piece, of_a_file,
	    close_after, set_waiting, set_other_step, limit_pace};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		init_clients();
		put_all();
		kinds[k](1);
		io_batch_send(&batch, all, CLIENTS);
		check_order(kinds[k] == limit_pace ? "" : "023");
		ck_assert_ptr_null(conns[1].op);
	}
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, init_clients, NULL);
	tcase_add_test(t, receives_side_by_side);
	tcase_add_test(t, receives_what_has_room);
	tcase_add_test(t, tells_of_the_room);
	tcase_add_test(t, sends);
	tcase_add_test(t, sends_what_is_simple);
}
