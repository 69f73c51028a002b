/*
 * Tests of loop/batch: which connections are run together, which alone, and in
 * what order their operations are performed.
 *
 * The machine and the net are the test's own, and note their calls.  The
 * machine, with the number of the connection: a, asks for input; q, has a
 * request; r, has a response; e, it has been sent; l, has timed out.  The net:
 * R, reads; W, writes.  f and how many: a prefetch.
 */
#include <sys/socket.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loop/acceptor.h"
#include "loop/batch.h"
#define HAS_BATCHES
#include "t/unit/loop/sessions.h"
#include "t/unit/unit.h"

#define MOST	(MACHINE_BATCH_MAX + 8)	/* clients */
#define TEXT	4000		/* bytes */
#define SOON	1		/* ms: a short deadline */
#define LATE	200		/* ms: any short deadline is over */

static struct clock	 ticks;
static struct evloop	*loop;
static struct watch	*iteration_ends;
static struct clients	*clients;
static struct session	*sessions[MOST];
static struct net	 nets[MOST];
static int		 ours[MOST];
static bool		 busy[MOST];		/* not idle: no batch */
static unsigned		 flags[MOST];		/* of its WRITE */
static unsigned		 more[MOST];		/* WRITEs of its response */
static bool		 sends[MOST];		/* waits to send at first */
static bool		 blocks[MOST];		/* its next READ */
static ssize_t		 brings[MOST];		/* bytes of its READ */
static char		*rooms[MOST];		/* of its last READ */
static size_t		 sizes[MOST];
static int64_t		 idle_timeout;		/* ms */
static bool		 draining;
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
expect(const char *each, int from, int to)
{
	for (int i = from; i < to; i++)
		for (const char *what = each; *what != '\0'; what++)
			add(expected, *what, i);
}

static int
number_of(const struct session *p)
{
	int	i;

	for (i = 0; sessions[i] != p; i++)
		ck_assert_int_lt(i + 1, MOST);
	return i;
}

static struct wait *
ask_input(struct session *p, const struct workspace *w)
{
	wait_for(p, WAIT_READ, draining ? TIMEOUT_DRAIN : TIMEOUT_IDLE,
	    ticks.ms + idle_timeout, 0);
	if (w != NULL) {
		p->wait.room = w->room;
		p->wait.size = w->size;
	}
	return &p->wait;
}

/* The stage tells what comes next: the input, the response, its end. */
struct wait *
machine_run(struct session *p, struct workspace *w, unsigned stages)
{
	enum outcome	outcome = take_outcome(p);
	bool		is_new = sessions[come - 1] == NULL;
	int		i;

	if (outcome == OUTCOME_PENDING)
		return &p->wait;
	if (is_new)
		sessions[come - 1] = p;
	i = number_of(p);
	if (is_new && sends[i])
		return wait_for(p, WAIT_WRITE, TIMEOUT_SEND, FAR, WAIT_LATER);
	if (is_new)
		return ask_input(p, w);
	if (outcome == OUTCOME_TIMED_OUT) {
		tell('l', i);
		return ask_input(p, w);
	}
	if (outcome == OUTCOME_READY && p->wait.kind == WAIT_READ) {
		tell('q', i);
		p->stage = STAGE_FIND_FILE;
	}
	if (outcome == OUTCOME_READY && p->wait.kind == WAIT_WRITE &&
	    more[i] > 0) {
		more[i]--;
		wait_for(p, WAIT_WRITE, TIMEOUT_SEND, 0, flags[i]);
		p->wait.niov = 1;
		return &p->wait;
	}
	if (outcome == OUTCOME_READY && p->wait.kind == WAIT_WRITE) {
		tell('e', i);
		p->stage = STAGE_READ_REQUEST;
		return ask_input(p, w);
	}
	if ((stages & 1U << p->stage) == 0) {
		wait_for(p, WAIT_STAGE, TIMEOUT_IDLE, 0, 0);
		p->wait.outcome = OUTCOME_NONE;
		return &p->wait;
	}
	if (p->stage == STAGE_FIND_FILE) {
		tell('r', i);
		wait_for(p, WAIT_WRITE, TIMEOUT_SEND, 0, flags[i]);
		p->wait.niov = 1;
		return &p->wait;
	}
	tell('a', i);
	return ask_input(p, w);
}

void
machine_park(struct session *p)
{
	p->wait.outcome = OUTCOME_NONE;
}

bool
machine_is_idle(const struct session *p)
{
	return !busy[number_of(p)];
}

void
machine_prefetch(struct session *const *all, unsigned n)
{
	(void)all;
	tell('f', (int)n);
}

static enum net_state
perform(struct net *net, struct net_sock *sock, struct wait *w)
{
	int	i = (int)(net - nets);
	char	bytes[ROOM];

	if (w->kind == WAIT_WRITE && (w->flags & WAIT_LATER) != 0)
		return NET_WRITE;
	if (w->kind == WAIT_READ && blocks[i]) {
		blocks[i] = false;
		return NET_READ;
	}
	if (w->kind == WAIT_WRITE) {
		tell('W', i);
		w->n = (ssize_t)w->size;
	} else if (recv(sock->fd, bytes, sizeof(bytes), MSG_DONTWAIT) <= 0)
		return NET_READ;
	else {
		tell('R', i);
		rooms[i] = w->room;
		sizes[i] = w->size;
		w->n = brings[i];
	}
	w->outcome = OUTCOME_READY;
	return NET_DONE;
}

static void
end_net(struct net *net, struct net_sock *sock, unsigned close_flags)
{
	(void)net, (void)close_flags;
	close(sock->fd);
}

void
http_drain(struct http_loop *http)
{
	(void)http;
	draining = true;
}

static void
begin(void)
{
	memset(sessions, 0, sizeof(sessions));
	memset(busy, 0, sizeof(busy));
	memset(flags, 0, sizeof(flags));
	memset(more, 0, sizeof(more));
	memset(sends, 0, sizeof(sends));
	memset(blocks, 0, sizeof(blocks));
	for (int i = 0; i < MOST; i++) {
		brings[i] = 1;
		nets[i] = (struct net){ perform, end_net };
	}
	told[0] = expected[0] = '\0';
	come = gone = 0;
	draining = false;
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
		clients_add_internal(clients, ends[1], &nets[come], NULL, 0);
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
	for (int i = 0; i < 2; i++) {
		told[0] = '\0';
		ask(0, 0);
		iterate();
		ck_assert_str_eq(told, "a0 R0 q0 r0 W0 e0");
	}
}
END_TEST

/* All are received, all run, all are sent. */
START_TEST(some)
{
	add_client(3);
	ask(0, 2);
	iterate();
	ck_assert_str_eq(told, "a0 a1 a2 R0 R1 R2 q0 q1 q2 f3 r0 r1 r2 "
	    "W0 W1 W2 e0 e1 e2");
	for (int i = 1; i < 3; i++) {
		ck_assert_ptr_eq(rooms[i], rooms[i - 1] + 1);
		ck_assert_uint_eq(sizes[i], sizes[i - 1] - 1);
	}
}
END_TEST

static void
expect_batch(int from, int to)
{
	static const char *const	phases[] = { "a", "R", "q", NULL, "r",
						"W", "e" };

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		if (phases[i] != NULL)
			expect(phases[i], from, to);
		else
			add(expected, 'f', to - from);
}

/* A batch that is full is run at once. */
START_TEST(too_many)
{
	add_client(MOST);
	/* Libevent grows its array of events. */
	for (int i = 0; i < 3; i++) {
		ask(0, MOST - 1);
		iterate();
		iterate();
	}
	told[0] = '\0';
	ask(0, MOST - 1);
	iterate();
	expect_batch(0, MACHINE_BATCH_MAX);
	expect_batch(MACHINE_BATCH_MAX, MOST);
	ck_assert_str_eq(told, expected);
}
END_TEST

/* Whoever finds no room reads when it runs alone, into the other half. */
START_TEST(without_room)
{
	add_client(3);
	brings[1] = MACHINE_INPUT_SIZE / 2 - 1 - 4095;
	ask(0, 2);
	iterate();
	ck_assert_str_eq(told, "a0 a1 a2 R0 R1 q0 q1 f3 r0 r1 W0 W1 "
	    "e0 e1 R2 q2 r2 W2 e2");
	ck_assert_ptr_eq(rooms[2], rooms[0] + MACHINE_INPUT_SIZE / 2);
	ck_assert_uint_eq(sizes[2], MACHINE_INPUT_SIZE / 2);
}
END_TEST

static void
drain(void *context)
{
	acceptor_drain(context);
}

/* A batch runs before a drain, which may end its connections.  These are idle
 * until the same time; the one that was listed first may have been listed again
 * behind the other, as the clock went on between the two. */
START_TEST(drained)
{
	const char	*batch = "a0 a1 R0 R1 q0 q1 f2 r0 r1 W0 W1 e0 e1 ";
	struct watch	*timer;

	add_client(2);
	timer = evloop_timer(loop, drain, clients);
	ask(0, 1);
	evloop_arm(timer, 0);
	iterate();
	ck_assert_int_eq(strncmp(told, batch, strlen(batch)), 0);
	ck_assert(strcmp(told + strlen(batch), "a0 a1") == 0 ||
	    strcmp(told + strlen(batch), "a1 a0") == 0);
	evloop_unwatch(&timer);
}
END_TEST

/* A READ that is tried again leaves alone what the others have read. */
START_TEST(read_again)
{
	add_client(2);
	blocks[0] = true;
	ask(0, 1);
	iterate();
	ck_assert_ptr_eq(rooms[0], rooms[1] + MACHINE_INPUT_SIZE / 2);
	ck_assert_uint_eq(sizes[0], MACHINE_INPUT_SIZE / 2);
}
END_TEST

/* A connection that is not idle is run at once. */
START_TEST(not_all)
{
	add_client(3);
	busy[1] = true;
	ask(0, 2);
	iterate();
	ck_assert_str_eq(told, "a1 R1 q1 r1 W1 e1 a0 a2 R0 R2 q0 q2 f2 r0 r2 "
	    "W0 W2 e0 e2");
}
END_TEST

/* What must be sent at once, or ends a connection, is not held back. */
START_TEST(not_held)
{
	static const unsigned	each[] = { WAIT_AT_ONCE, WAIT_CORK, WAIT_MORE };

	add_client(3);
	flags[1] = each[_i];
	more[1] = 1;
	ask(0, 2);
	iterate();
	ck_assert_str_eq(told, "a0 a1 a2 R0 R1 R2 q0 q1 q2 f3 r0 r1 W1 W1 e1 "
	    "r2 W0 W2 e0 e2");
}
END_TEST

/* A connection that waits to send is run after the batch. */
START_TEST(in_order)
{
	add_client(1);
	ask(0, 0);
	sends[1] = busy[1] = true;
	add_client(1);
	iterate();
	ck_assert_str_eq(told, "a0 R0 q0 r0 W0 e0 a1");
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
	ck_assert_str_eq(told, "a0 R0 q0 r0 W0 e0 l1");
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
	tcase_add_test(t, without_room);
	tcase_add_test(t, drained);
	tcase_add_test(t, read_again);
	tcase_add_test(t, not_all);
	tcase_add_loop_test(t, not_held, 0, 3);
	tcase_add_test(t, in_order);
	tcase_add_test(t, in_time);
	tcase_add_test(t, ended);
}
