/*
 * Tests of loop/stages: connections that go from loop to loop.  All loops run
 * in one thread, iteration by iteration, so the order of events is certain, and
 * iterations can be counted.  A loop that is asleep is not run, so a connection
 * that waits for the recheck a second later fails its test.
 *
 * The machine is the test's own: a byte is a request, and gets no response.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend.h"
#include "lib/log.h"
#include "loop/acceptor.h"
#include "loop/clients_private.h"
#include "loop/stages.h"
#include "shared/listener.h"
#include "t/unit/loop/sessions.h"
#include "t/unit/unit.h"

#define MOST		12		/* clients */
#define REQUESTS	300
#define TIMEOUT		30000		/* ms */

static struct clock	 clocks[STAGE_COUNT];
static struct evloop	*loops[STAGE_COUNT];
static int		 polls[STAGE_COUNT];	/* a loop's epoll; -1:
						 * unknown */
static struct watch	*ends[STAGE_COUNT];	/* of an iteration */
static struct mailbox	*mailboxes[STAGE_COUNT];
static struct clients	*stages[STAGE_COUNT];
static struct listener	 sock;
static struct sockaddr_un sock_addr;
static int		 ours[MOST];		/* the other end of each */
static int		 served, timed_out, drained;
static int		 idle;			/* connections seen idle */
static int		 enough;		/* these end an iteration */
static enum wait_kind	 holds;		/* the wait of the send stage */
static int64_t		 until;		/* that wait's deadline; 0: none */
static struct backend	 backend;		/* BACKEND: that wait's */
static bool		 draining;
static bool		 piecemeal;		/* a full read ends the
						 * iteration */

/*
 * The machine
 */

static struct wait *
read_requests(struct session *p, enum outcome outcome)
{
	ssize_t	n = outcome == OUTCOME_READY ? p->wait.n : -1;

	p->asked += n > 0 ? (int)n : 0;
	if (piecemeal && n == ROOM)
		return wait_for(p, WAIT_READ, TIMEOUT_BODY, FAR, WAIT_LATER);
	p->stage = n > 0 ? STAGE_FIND_FILE : n == 0 ? STAGE_ACCEPT : p->stage;
	if (p->stage != STAGE_READ_REQUEST)
		return NULL;
	return draining ? wait_for(p, WAIT_READ, TIMEOUT_DRAIN, 1, 0) :
	    wait_for(p, WAIT_READ, TIMEOUT_IDLE, FAR, 0);
}

static struct wait *
send_data(struct session *p)
{
	if (until != 0) {
		wait_for(p, holds, holds == WAIT_DISK ? TIMEOUT_DISK :
		    TIMEOUT_SEND, until, WAIT_LATER);
		if (holds == WAIT_BACKEND)
			p->wait.backend = &backend;
		return &p->wait;
	}
	served += p->asked;
	p->asked = 0;
	p->stage = STAGE_READ_REQUEST;
	return NULL;
}

static struct wait *
run_step(struct session *p, enum outcome outcome)
{
	switch (p->stage) {
	case STAGE_READ_REQUEST:
		return read_requests(p, outcome);
	case STAGE_FIND_FILE:
		p->stage = STAGE_SEND_HEADER;
		return NULL;
	case STAGE_SEND_HEADER:
		p->stage = STAGE_SEND_DATA;
		return NULL;
	case STAGE_SEND_DATA:
		return send_data(p);
	default:
		return wait_for(p, WAIT_CLOSE, TIMEOUT_IDLE, 0, 0);
	}
}

struct wait *
machine_run(struct session *p, struct workspace *workspace, unsigned runs)
{
	enum outcome	 outcome = take_outcome(p);
	struct wait	*w = NULL;

	(void)workspace;
	if (outcome == OUTCOME_PENDING)
		return &p->wait;
	timed_out += outcome == OUTCOME_TIMED_OUT;
	if (outcome > OUTCOME_READY)
		p->stage = STAGE_ACCEPT;
	for (; w == NULL && (runs & 1U << p->stage) != 0;
	    outcome = OUTCOME_NONE)
		w = run_step(p, outcome);
	if (w != NULL)
		return w;
	w = wait_for(p, WAIT_STAGE, TIMEOUT_IDLE, 0, 0);
	w->stage = (uint8_t)p->stage;
	w->outcome = OUTCOME_NONE;
	return w;
}

void
machine_park(struct session *p)
{
	if (p->wait.kind == WAIT_READ && p->wait.timeout == TIMEOUT_IDLE &&
	    ++idle == enough)
		evloop_stop(loops[STAGE_READ_REQUEST]);
}

void
http_drain(struct http_loop *http)
{
	(void)http;
	draining = true;
}

/*
 * The loops
 */

static void
iterate(enum stage s)
{
	evloop_arm(ends[s], 0);
	evloop_run(loops[s]);
}

/* Whether that thread was woken, or has something to do. */
static bool
awake(enum stage s)
{
	struct pollfd	p = { .fd = polls[s], .events = POLLIN };

	return p.fd == -1 || poll(&p, 1, 0) == 1;
}

/* Whether the condition comes true within so many iterations of the loops that
 * are awake; a drain has deadlines, too. */
static bool
within(int iterations, const int *number, int value)
{
	while (*number != value && iterations-- > 0)
		for (int i = 0; i < STAGE_COUNT; i++)
			if (draining || awake((enum stage)i))
				iterate((enum stage)i);
	return *number == value;
}

static void
all_gone(void *context)
{
	(void)context;
	drained++;
}

static void
nothing(struct task *e)
{
	(void)e;
}

static void
open_sock(void)
{
	char	dir[] = "/tmp/amped-unit-XXXXXX";

	ck_assert_ptr_ne(mkdtemp(dir), NULL);
	sock_addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(sock_addr.sun_path, sizeof(sock_addr.sun_path), "%s/sock",
	    dir);
	sock.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(sock.fd, (struct sockaddr *)&sock_addr,
	    sizeof(sock_addr)), 0);
	ck_assert_int_eq(listen(sock.fd, MOST), 0);
}

/* The first descriptor that a loop opens is its epoll descriptor. */
static void
open_loop(int i)
{
	polls[i] = dup(sock.fd);
	ck_assert_int_ne(polls[i], -1);
	close(polls[i]);
	loops[i] = evloop_new(&clocks[i]);
	if (!evloop_has_edges(loops[i]))
		polls[i] = -1;
}

static size_t	others;

static size_t
least(void *context)
{
	size_t	own = clients_count(stages[STAGE_ACCEPT]);

	(void)context;
	return own < others ? own : others;
}

static void
open_stages(size_t limit)
{
	come = served = gone = timed_out = drained = idle = enough = 0;
	until = 0;
	others = SIZE_MAX;
	draining = piecemeal = false;
	task = (struct task){ .complete = nothing, .free = nothing };
	TAILQ_INIT(&task.waiters);
	open_sock();
	for (int i = 0; i < STAGE_COUNT; i++) {
		open_loop(i);
		mailboxes[i] = mailbox_new(loops[i]);
		ends[i] = evloop_timer(loops[i], stop, loops[i]);
		stages[i] = clients_new(loops[i], &clocks[i], NULL,
		    i == STAGE_ACCEPT ? limit : 0, i == STAGE_ACCEPT ?
		    all_gone : NULL, NULL);
	}
	for (int i = 0; i < STAGE_COUNT; i++)
		stages_join(stages[i], (enum stage)i, stages, mailboxes[i]);
	acceptor_listen(stages[STAGE_ACCEPT], &(struct acceptor_setup){
		.policy = &accept_balanced, .listeners = &sock, .n = 1,
		.borrowed = true, .least = least
	});
}

static void
close_stages(void)
{
	for (int i = 0; i < STAGE_COUNT; i++)
		stages_end(stages[i]);
	for (int i = 0; i < STAGE_COUNT; i++)
		mailbox_deliver(mailboxes[i]);
	for (int i = STAGE_COUNT; i-- > 0; )
		stages_free(&stages[i]);
	for (int i = 0; i < STAGE_COUNT; i++) {
		evloop_unwatch(&ends[i]);
		mailbox_free(&mailboxes[i]);
		evloop_free(&loops[i]);
	}
	close(sock.fd);
	unlink(sock_addr.sun_path);
	*strrchr(sock_addr.sun_path, '/') = '\0';
	rmdir(sock_addr.sun_path);
	ck_assert_int_eq(gone, come);
}

static void
visit(int i)
{
	ours[i] = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(ours[i], (struct sockaddr *)&sock_addr,
	    sizeof(sock_addr)), 0);
}

static void
ask(int i)
{
	ck_assert_int_eq(write(ours[i], "x", 1), 1);
}

/* The connections have had a response, so the read stage watches them. */
static void
make_known(int n)
{
	for (int i = 0; i < n; i++) {
		visit(i);
		ask(i);
	}
	ck_assert(within(5, &served, n));
	iterate(STAGE_READ_REQUEST);
}

/* A connection that came back without input woke no stage. */
static bool
lies_there(void)
{
	return polls[STAGE_READ_REQUEST] == -1 || !awake(STAGE_READ_REQUEST);
}

/*
 * Tests
 */

/* A request takes one iteration of each stage.  After its response a connection
 * stays in the mailbox, wakes no stage, and is handled in the read stage's next
 * iteration. */
START_TEST(one_after_the_other)
{
	int	n = _i;

	open_stages(MOST);
	make_known(n);
	for (int i = 0; i < REQUESTS; i++) {
		ask(i % n);
		ck_assert(within(1, &served, n + i + 1));
		ck_assert(lies_there());
	}
	close_stages();
}
END_TEST

/* A recheck empties the mailbox, because a deadline must begin. */
START_TEST(look_later)
{
	int64_t	end;

	open_stages(MOST);
	make_known(1);
	ask(0);
	ck_assert(within(1, &served, 2));
	enough = idle + 1;
	end = clock_ms() + TIMEOUT;
	evloop_arm(ends[STAGE_READ_REQUEST], end);
	evloop_run(loops[STAGE_READ_REQUEST]);
	ck_assert_int_eq(idle, enough);
	ck_assert_int_lt(clock_ms(), end);
	close_stages();
}
END_TEST

/* More input than one read takes, all at once. */
START_TEST(many_at_once)
{
	open_stages(MOST);
	make_known(2);
	for (int i = 0; i < REQUESTS; i++)
		ask(i % 2);
	ck_assert(within(REQUESTS / 2 / ROOM + 2, &served, REQUESTS + 2));
	close_stages();
}
END_TEST

/* More input, of which no new edge tells: one iteration for each part. */
START_TEST(piece_by_piece)
{
	open_stages(MOST);
	make_known(1);
	piecemeal = true;
	for (int i = 0; i < 3 * ROOM + 1; i++)
		ask(0);
	ck_assert(within(4, &served, 3 * ROOM + 2));
	close_stages();
}
END_TEST

/* A connection is in that stage when a further request, or the end, arrives.
 * The read stage sees it at once, or when the connection is back. */
static void
go_as_far(enum stage s, bool end, bool at_once)
{
	open_stages(MOST);
	make_known(1);
	ask(0);
	for (int i = STAGE_READ_REQUEST; i < (int)s; i++)
		iterate((enum stage)i);
	if (end)
		ck_assert_int_eq(shutdown(ours[0], SHUT_WR), 0);
	else
		ask(0);
	if (at_once)
		iterate(STAGE_READ_REQUEST);
	for (int i = (int)s; i < STAGE_COUNT; i++)
		iterate((enum stage)i);
	ck_assert_int_eq(served, 2);
}

START_TEST(more_while_elsewhere)
{
	for (int at_once = 0; at_once < 2; at_once++) {
		go_as_far((enum stage)_i, false, at_once);
		ck_assert(within(1, &served, 3));
		/* No count of it is left. */
		ask(0);
		ck_assert(within(1, &served, 4));
		ck_assert(lies_there());
		close_stages();
	}
}
END_TEST

START_TEST(end_while_elsewhere)
{
	for (int at_once = 0; at_once < 2; at_once++) {
		go_as_far((enum stage)_i, true, at_once);
		ck_assert(within(2, &gone, 1));
		close_stages();
	}
}
END_TEST

/* The last request and the end arrive together. */
START_TEST(end_behind_request)
{
	open_stages(MOST);
	make_known(1);
	ask(0);
	ck_assert_int_eq(shutdown(ours[0], SHUT_WR), 0);
	ck_assert(within(3, &gone, 1));
	ck_assert_int_eq(served, 2);
	close_stages();
}
END_TEST

/* To wait for output a connection goes to the read stage and back. */
START_TEST(room_to_send)
{
	open_stages(MOST);
	make_known(1);
	holds = WAIT_WRITE;
	until = FAR;
	ask(0);
	for (int i = 0; i < 5; i++)
		iterate((enum stage)i);
	ask(0);				/* not yet seen */
	iterate(STAGE_READ_REQUEST);
	iterate(STAGE_SEND_DATA);
	ck_assert_int_eq(served, 1);
	until = 0;
	others = SIZE_MAX;
	ck_assert(within(3, &served, 3));
	/* The watch begins anew, and reports what has come before. */
	ask(0);
	ck_assert(within(2, &served, 4));
	ck_assert_int_eq(timed_out, 0);
	close_stages();
}
END_TEST

/* To wait for a program, too: there the end of the client is seen. */
START_TEST(program)
{
	open_stages(MOST);
	make_known(1);
	holds = WAIT_BACKEND;
	until = FAR;
	ask(0);
	ck_assert(!within(5, &gone, 1));
	ck_assert_ptr_nonnull(backend.waiter);
	ask(0);
	ck_assert(!within(5, &gone, 1));
	if (_i == 0) {
		until = 0;
		clients_wake(backend.waiter, OUTCOME_READY);
		iterate(STAGE_SEND_DATA);
		ck_assert(within(3, &served, 3));
	} else {
		close(ours[0]);
		ck_assert(within(3, &gone, 1));
		ck_assert_int_eq(served, 1);
	}
	ck_assert_ptr_null(backend.waiter);
	close_stages();
}
END_TEST

/* On that way an old deadline must not end its wait: another thread has the
 * connection. */
START_TEST(old_deadline)
{
	open_stages(MOST);
	make_known(1);
	holds = WAIT_DISK;
	until = 1;
	ask(0);
	for (int i = STAGE_READ_REQUEST; i < STAGE_COUNT; i++)
		iterate((enum stage)i);
	holds = WAIT_WRITE;
	until = FAR;
	clients_finish_task(&task);
	iterate(STAGE_SEND_DATA);
	ck_assert_int_eq(timed_out, 0);
	until = 0;
	others = SIZE_MAX;
	ck_assert(within(2, &served, 2));
	ck_assert_int_eq(timed_out, 0);
	close_stages();
}
END_TEST

static int	lines;		/* of the error log */

static void
count_line(void *context, const char *line, size_t n)
{
	(void)context, (void)line, (void)n;
	lines++;
}

static void
look_meanwhile(void *context, const char *line, size_t n)
{
	count_line(context, line, n);
	iterate(STAGE_READ_REQUEST);
}

/* A connection that could be evicted is in the mailbox, or busy, or seen just
 * when accepting is paused: still the next connection is accepted at once. */
START_TEST(room_for_another)
{
	open_stages(2);
	for (int i = 0; i < 2; i++) {
		visit(i);
		ask(i);
		ck_assert(within(5, &served, i + 1));
		iterate(STAGE_READ_REQUEST);
	}
	ask(0);
	ask(1);
	holds = WAIT_DISK;
	until = _i == 2 ? FAR : 0;
	for (int i = STAGE_READ_REQUEST; i < STAGE_COUNT; i++)
		iterate((enum stage)i);
	visit(2);
	lines = 0;
	log_set_output(_i == 1 ? look_meanwhile : count_line, NULL);
	iterate(STAGE_ACCEPT);
	log_set_output(NULL, NULL);
	ck_assert_int_eq(lines, 1);
	ck_assert_int_eq(come, 2);
	until = 0;
	others = SIZE_MAX;
	if (_i == 2) {
		/* An earlier request for room had reached these. */
		iterate(STAGE_READ_REQUEST);
		iterate(STAGE_SEND_DATA);
		clients_finish_task(&task);
		iterate(STAGE_SEND_DATA);
	}
	ck_assert(within(4, &come, 3));
	ck_assert(within(3, &gone, 1));
	close_stages();
}
END_TEST

/* By then each has waited for a last request, in any stage. */
START_TEST(drain_finds_all)
{
	open_stages(MOST);
	make_known(3);
	ask(0);
	ask(1);
	for (int i = STAGE_READ_REQUEST; i < (_i == 0 ? STAGE_SEND_DATA :
	    STAGE_COUNT); i++)
		iterate((enum stage)i);
	for (int i = 0; i < STAGE_COUNT; i++)
		acceptor_drain(stages[i]);
	if (_i == 0) {
		iterate(STAGE_SEND_DATA);
		ck_assert(awake(STAGE_READ_REQUEST));
	}
	ck_assert(within(5, &drained, 1));
	ck_assert_int_eq(served, 5);
	ck_assert_int_eq(gone, 3);
	close_stages();
}
END_TEST

/* A pipeline with more connections than another one leaves the queue to that;
 * but no connection is left there. */
START_TEST(shares)
{
	int64_t	end = clock_ms() + TIMEOUT;

	open_stages(MOST);
	others = 0;
	for (int i = 0; i < MOST - 2; i++)
		visit(i);
	iterate(STAGE_ACCEPT);
	ck_assert_int_eq(come, 5);
	while (come < MOST - 2) {
		ck_assert_int_lt(clock_ms(), end);
		iterate(STAGE_ACCEPT);
	}
	close_stages();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, one_after_the_other, 1, 5);
	tcase_add_test(tests, look_later);
	tcase_add_test(tests, many_at_once);
	tcase_add_test(tests, piece_by_piece);
	tcase_add_loop_test(tests, more_while_elsewhere, STAGE_FIND_FILE,
	    STAGE_COUNT);
	tcase_add_loop_test(tests, end_while_elsewhere, STAGE_FIND_FILE,
	    STAGE_COUNT);
	tcase_add_test(tests, end_behind_request);
	tcase_add_test(tests, room_to_send);
	tcase_add_loop_test(tests, program, 0, 2);
	tcase_add_test(tests, old_deadline);
	tcase_add_loop_test(tests, room_for_another, 0, 3);
	tcase_add_loop_test(tests, drain_finds_all, 0, 2);
	tcase_add_test(tests, shares);
}
