/*
 * Tests of loop/batch: which connections are run together, and which alone.
 *
 * The machine is the test's own, and notes its calls: t and a number, a batch;
 * r, a connection is run after its batch; w, a connection that cannot be in a
 * batch is run; p, the end of a batch; l, a connection has timed out.
 */
#include <sys/socket.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loop/batch.h"
#define RUNS_TOGETHER
#include "t/unit/loop/sessions.h"
#include "t/unit/unit.h"

#define MOST	(MACHINE_BATCH_MAX + 8)	/* clients */
#define TEXT	600		/* bytes */
#define SOON	1		/* ms: a short deadline */
#define LATE	200		/* ms: any short deadline is over */

static struct clock	 ticks;
static struct evloop	*loop;
static struct watch	*iteration_ends;
static struct clients	*clients;
static struct session	*sessions[MOST];
static int		 ours[MOST];
static bool		 joined[MOST];		/* by machine_run_batch() */
static bool		 plain[MOST];		/* cannot be in a batch */
static bool		 late[MOST];		/* has timed out */
static bool		 sends[MOST];		/* waits to send at first */
static int64_t		 idle_timeout;		/* ms */
static char		 told[TEXT], expected[TEXT];

static void
add(char *to, char what, int number)
{
	size_t	n = strlen(to);

	snprintf(to + n, TEXT - n, "%s%c%d", n > 0 ? " " : "", what, number);
}

static void
tell(char what, int number)
{
	add(told, what, number);
}

static void
expect(char what, int number)
{
	add(expected, what, number);
}

static int
number_of(const struct session *p)
{
	int	i;

	for (i = 0; sessions[i] != p; i++)
		ck_assert_int_lt(i + 1, come);
	return i;
}

static void
swallow(const struct session *p)
{
	char	bytes[ROOM];

	ck_assert_int_eq(recv(p->fd, bytes, sizeof(bytes), 0), 1);
}

const struct wait *
machine_run(struct session *p)
{
	int	i;

	if (newest == p && sessions[come - 1] == NULL) {	/* just added */
		sessions[come - 1] = p;
		if (sends[come - 1])
			return wait_for(p, WAIT_WRITE, TIMEOUT_SEND, FAR);
	} else if (late[i = number_of(p)])
		tell('l', i);
	else
		tell(joined[i] ? 'r' : 'w', i);
	p->readable = false;
	joined[number_of(p)] = late[number_of(p)] = false;
	return wait_for(p, WAIT_READ, TIMEOUT_IDLE, ticks.ms + idle_timeout);
}

const struct wait *
machine_run_stage(struct session *p, enum stage *stage)
{
	(void)p, (void)stage;
	ck_abort_msg("there are no stages");
}

bool
machine_can_batch(const struct session *p)
{
	int	i = number_of(p);

	swallow(p);
	joined[i] = !plain[i];
	return joined[i];
}

void
machine_run_batch(struct session *const *all, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		ck_assert(joined[number_of(all[i])]);
	tell('t', (int)n);
}

void
machine_end_batch(struct http_loop *http)
{
	(void)http;
	tell('p', 0);
}

void
machine_wake(struct session *p, enum outcome outcome)
{
	late[number_of(p)] = outcome == OUTCOME_TIMED_OUT;
}

void
http_drain(struct http_loop *http)
{
	(void)http;
}

static void
begin(void)
{
	memset(sessions, 0, sizeof(sessions));
	memset(joined, 0, sizeof(joined));
	memset(plain, 0, sizeof(plain));
	memset(late, 0, sizeof(late));
	memset(sends, 0, sizeof(sends));
	told[0] = expected[0] = '\0';
	come = gone = 0;
	idle_timeout = FAR;
	loop = evloop_new(&ticks);
	iteration_ends = evloop_timer(loop, stop, loop);
	clients = clients_new(loop, &ticks, NULL, MOST, NULL, NULL);
	batch_enable(clients);
}

static void
end(void)
{
	clients_free(&clients);
	ck_assert_int_eq(gone, come);
	for (int i = 0; i < come; i++)
		close(ours[i]);
	evloop_unwatch(&iteration_ends);
	evloop_free(&loop);
}

static void
add_client(int n)
{
	int	ends[2];

	while (n-- > 0) {
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		ours[come] = ends[0];
		clients_add_internal(clients, ends[1], NULL, NULL, 0);
	}
}

static void
ask(int from, int to)
{
	for (int i = from; i <= to; i++)
		ck_assert_int_eq(write(ours[i], "x", 1), 1);
}

static void
iterate(void)
{
	evloop_arm(iteration_ends, 0);
	evloop_run(loop);
}

/* A batch of one is not run together. */
START_TEST(one)
{
	add_client(1);
	ask(0, 0);
	iterate();
	ck_assert_str_eq(told, "r0 p0");
	told[0] = '\0';
	ask(0, 0);
	iterate();
	ck_assert_str_eq(told, "r0 p0");
}
END_TEST

START_TEST(some)
{
	add_client(3);
	ask(0, 2);
	iterate();
	ck_assert_str_eq(told, "t3 r0 r1 r2 p0");
}
END_TEST

START_TEST(too_many)
{
	add_client(MACHINE_BATCH_MAX + 2);
	/* Libevent grows its array of events. */
	for (int i = 0; i < 3; i++) {
		ask(0, MACHINE_BATCH_MAX + 1);
		iterate();
		iterate();
	}
	told[0] = '\0';
	ask(0, MACHINE_BATCH_MAX + 1);
	iterate();
	expect('t', MACHINE_BATCH_MAX);
	for (int i = 0; i < MACHINE_BATCH_MAX; i++)
		expect('r', i);
	expect('p', 0);
	expect('t', 2);
	expect('r', MACHINE_BATCH_MAX);
	expect('r', MACHINE_BATCH_MAX + 1);
	expect('p', 0);
	ck_assert_str_eq(told, expected);
}
END_TEST

/* A connection that cannot be in a batch is run at once. */
START_TEST(not_all)
{
	add_client(3);
	plain[1] = true;
	ask(0, 2);
	iterate();
	ck_assert_str_eq(told, "w1 t2 r0 r2 p0");
}
END_TEST

/* A connection that waits to send is run after the batch. */
START_TEST(in_order)
{
	add_client(1);
	ask(0, 0);
	sends[1] = true;
	add_client(1);
	iterate();
	ck_assert_str_eq(told, "r0 p0 w1");
}
END_TEST

/* A request that has arrived is answered, even after its deadline. */
START_TEST(in_time)
{
	int64_t	until;

	idle_timeout = SOON;
	add_client(2);
	ask(0, 0);
	for (until = clock_ms() + LATE; clock_ms() < until;)
		sched_yield();
	idle_timeout = FAR;
	iterate();
	ck_assert_str_eq(told, "r0 p0 l1");
}
END_TEST

static void
end_all(void *context)
{
	clients_end(context);
}

/* The clients are ended in the iteration in which a batch is collected. */
START_TEST(ended)
{
	struct watch	*w = evloop_timer(loop, end_all, clients);

	add_client(2);
	ask(0, 1);
	evloop_arm(w, 0);
	iterate();
	ck_assert_str_eq(told, "");
	ck_assert_int_eq(gone, 2);
	evloop_unwatch(&w);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, one);
	tcase_add_test(t, some);
	tcase_add_test(t, too_many);
	tcase_add_test(t, not_all);
	tcase_add_test(t, in_order);
	tcase_add_test(t, in_time);
	tcase_add_test(t, ended);
}
