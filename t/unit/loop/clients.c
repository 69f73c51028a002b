/*
 * Tests of loop/clients: all input is read, though edges report input and its
 * end once.  The test runs single iterations, so the time of each read is
 * certain.
 *
 * The machine is the test's own: it reads, and answers nothing.
 */
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <stdlib.h>
#include <unistd.h>

#include "backend.h"
#include "lib/io.h"
#include "loop/acceptor.h"
#include "loop/clients_private.h"
#include "shared/listener.h"
#include "t/unit/loop/sessions.h"
#include "t/unit/unit.h"

static struct clock	 ticks;
static struct evloop	*loop;
static struct watch	*iteration_ends;
static struct clients	*clients;
static int		 ours;			/* the client's end */
static int		 heard, iterations;
static int64_t		 deadline;		/* ms from now; FAR: none */
static bool		 holds;		/* waits to send what it reads */
static int		 term;			/* of its waits */
static bool		 runs_program;	/* waits for one when it has read */
static int64_t		 answer;		/* ms: that deadline */
static struct backend	 backend;
static int		 told;			/* how often by the driver */
static enum outcome	 told_last;
static bool		 wants_end;	/* it asks for the client's end */
static enum outcome	 last;		/* of the last wait */

static struct wait *
wait_for_program(struct session *p)
{
	wait_for(p, WAIT_BACKEND, TIMEOUT_PROGRAM, ticks.ms + answer,
	    wants_end ? WAIT_ENDING : 0);
	p->wait.backend = &backend;
	return &p->wait;
}

/* Reads, and lets others have their turn when a read has filled its room. */
struct wait *
machine_run(struct session *p, struct workspace *w, unsigned stages)
{
	enum outcome	outcome = take_outcome(p);
	ssize_t		n = outcome == OUTCOME_READY ? p->wait.n : -1;

	(void)w;
	last = outcome;
	ck_assert_uint_eq(stages, STAGES_ALL);
	if (p->wait.kind == WAIT_BACKEND && outcome != OUTCOME_PENDING) {
		told++;
		told_last = outcome;
		wants_end &= outcome != OUTCOME_ENDED;
		n = -1;
		if (runs_program)
			return wait_for_program(p);
	}
	if (outcome == OUTCOME_PENDING)
		return &p->wait;
	if (n == 0)
		return wait_for(p, WAIT_CLOSE, TIMEOUT_IDLE, 0, 0);
	heard += n > 0 ? (int)n : 0;
	if (n > 0 && runs_program)
		return wait_for_program(p);
	if (n > 0 && holds)
		return wait_for(p, WAIT_WRITE, TIMEOUT_SEND, FAR, WAIT_LATER);
	wait_for(p, WAIT_READ, TIMEOUT_IDLE, deadline == FAR ? FAR :
	    ticks.ms + deadline, n == ROOM ? WAIT_LATER : 0);
	p->wait.term = (uint8_t)term;
	return &p->wait;
}

void
machine_park(struct session *p)
{
	(void)p;
}

void
http_drain(struct http_loop *http)
{
	(void)http;
}

static void
iterate(void)
{
	evloop_arm(iteration_ends, 0);
	evloop_run(loop);
}

static bool
count_iteration(void *context)
{
	(void)context;
	iterations++;
	return false;
}

static void
begin(void)
{
	int	ends[2];

	heard = come = gone = 0;
	deadline = FAR;
	holds = runs_program = wants_end = false;
	term = told = 0;
	loop = evloop_new(&ticks);
	iteration_ends = evloop_timer(loop, stop, loop);
	clients = clients_new(loop, &ticks, NULL, 4, NULL, NULL);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ours = ends[0];
	clients_add_internal(clients, ends[1], NULL, NULL, 0);
}

static void
end(void)
{
	clients_free(&clients);
	ck_assert_int_eq(gone, 1);
	evloop_unwatch(&iteration_ends);
	evloop_free(&loop);
	io_close(&ours);
}

static void
say(int bytes)
{
	static const char	text[10 * ROOM];

	ck_assert_int_eq(write(ours, text, (size_t)bytes), bytes);
}

/* Input that arrives at once is read in several iterations. */
START_TEST(in_pieces)
{
	say(3 * ROOM + 1);
	for (int i = 1; i <= 3; i++) {
		iterate();
		ck_assert_int_eq(heard, i * ROOM);
	}
	iterate();
	ck_assert_int_eq(heard, 3 * ROOM + 1);
	say(1);
	iterate();
	ck_assert_int_eq(heard, 3 * ROOM + 2);
}
END_TEST

/* The end arrives with the last bytes, or with more than one read takes. */
START_TEST(end_behind)
{
	say(_i);
	ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
	for (int i = 0; i <= _i / ROOM + 1; i++)
		iterate();
	ck_assert_int_eq(heard, _i);
	ck_assert_int_eq(gone, 1);
}
END_TEST

START_TEST(end_later)
{
	say(1);
	iterate();
	ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
	iterate();
	ck_assert_int_eq(gone, 1);
}
END_TEST

/* Input arrives while the connection waits for another event. */
START_TEST(meanwhile)
{
	holds = true;
	say(1);
	iterate();
	holds = false;
	say(1);
	if (_i == 1)
		ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
	iterate();		/* the socket takes output */
	iterate();
	ck_assert_int_eq(heard, 2);
	iterate();
	ck_assert_int_eq(gone, _i);
}
END_TEST

static bool	was_full, was_drained;

/* Waits for output before it reads, and for input before it writes. */
static enum net_state
perform_other(struct net *net, struct net_sock *s, struct wait *w)
{
	(void)net;
	was_full = s->full;
	was_drained = s->drained;
	s->full = s->drained = true;
	return w->kind == WAIT_READ ? NET_WRITE : w->kind == WAIT_WRITE ?
	    NET_READ : NET_NONE;
}

static void
end_other(struct net *net, struct net_sock *s, unsigned flags)
{
	(void)net;
	net_close_sock(s, flags);
}

/* Whatever a layer has waited for is noted as ready. */
START_TEST(by_layer)
{
	struct net	net = { perform_other, end_other };
	int		ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	clients_add_internal(clients, ends[1], &net, NULL, 0);
	was_full = was_drained = true;
	iterate();
	ck_assert(!was_full);
	ck_assert(!was_drained);
	clients_end(clients);
	ck_assert_int_eq(gone, 2);
	gone = 1;
	close(ends[0]);
}
END_TEST

/* Connections with a term have a list of their own, but count together and are
 * found like others. */
START_TEST(terms)
{
	const struct client_list	*usual = &clients->lists[TIMEOUT_IDLE];
	const struct client_list	*own = &clients->lists[TIMEOUT_COUNT +
					    WAIT_TERMS_MAX - 1];

	ck_assert(!TAILQ_EMPTY(usual));
	term = WAIT_TERMS_MAX;
	say(1);
	iterate();
	ck_assert(TAILQ_EMPTY(usual));
	ck_assert(!TAILQ_EMPTY(own));
	ck_assert_uint_eq(clients->list_len[TIMEOUT_IDLE], 1);
	ck_assert_ptr_eq(clients_find_idle(clients), TAILQ_FIRST(own));
	ck_assert(clients_evict(clients));
	deadline = 100;
	say(1);
	iterate();
	term = 0;		/* of the next wait */
	while (TAILQ_EMPTY(usual))
		iterate();
	ck_assert(TAILQ_EMPTY(own));
	ck_assert_uint_eq(clients->list_len[TIMEOUT_IDLE], 1);
}
END_TEST

/* The client has asked for a program, and the connection waits for that. */
static void
run_program(void)
{
	backend = (struct backend){ .waiter = NULL };
	answer = FAR;
	runs_program = true;
	say(1);
	iterate();
	ck_assert_ptr_nonnull(backend.waiter);
	ck_assert_int_eq(told, 0);
}

/* The driver of programs wakes it, again and again. */
START_TEST(program_says_more)
{
	run_program();
	for (int i = 1; i <= 3; i++) {
		clients_wake(backend.waiter, OUTCOME_READY);
		ck_assert_int_eq(told, i);
		ck_assert_int_eq(told_last, OUTCOME_READY);
		ck_assert_ptr_nonnull(backend.waiter);
	}
	runs_program = false;
	clients_wake(backend.waiter, OUTCOME_READY);
	ck_assert_ptr_null(backend.waiter);
	/* It has not missed input meanwhile. */
	say(2);
	heard = 0;
	iterate();
	ck_assert_int_eq(heard, 2);
}
END_TEST

/* A client that says more, or that has said all, waits for its answer. */
START_TEST(program_and_input)
{
	run_program();
	if (_i > 0)
		say(_i);
	else
		ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
	for (int i = 0; i < 3; i++)
		iterate();
	ck_assert_int_eq(told, 0);
	/* Which costs no iterations. */
	evloop_on_iteration(loop, count_iteration, NULL);
	iterations = 0;
	evloop_arm(iteration_ends, ticks.ms + 50);
	evloop_run(loop);
	ck_assert_int_le(iterations, 2);
	evloop_on_iteration(loop, NULL, NULL);
	heard = 0;
	runs_program = false;
	clients_wake(backend.waiter, OUTCOME_READY);
	ck_assert_int_eq(told_last, OUTCOME_READY);
	iterate();
	ck_assert_int_eq(heard, _i);
	ck_assert_int_eq(gone, _i == 0);
}
END_TEST

/* A wait that asks for it is told that the client says no more, before it or in
 * it, behind what is unread; the next one is not. */
START_TEST(program_and_end)
{
	wants_end = true;
	if (_i == 0) {
		say(1);
		ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
		backend = (struct backend){ .waiter = NULL };
		answer = FAR;
		runs_program = true;
	} else {
		run_program();
		if (_i > 1)
			say(_i);
		iterate();
		ck_assert_int_eq(told, 0);
		ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
	}
	for (int i = 0; i < 3; i++)
		iterate();
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(told_last, OUTCOME_ENDED);
	ck_assert_ptr_nonnull(backend.waiter);
	/* It goes after all. */
	runs_program = false;
	close(ours);
	ours = -1;
	for (int i = 0; i < 3 && told == 1; i++)
		iterate();
	ck_assert_int_eq(told_last, OUTCOME_FAILED);
}
END_TEST

/* The client goes: before the wait, in it, or after it has said all. */
START_TEST(program_without_client)
{
	if (_i == 0) {
		say(1);
		close(ours);
		ours = -1;
		backend = (struct backend){ .waiter = NULL };
		answer = FAR;
		runs_program = true;
		iterate();
	} else
		run_program();
	if (_i == 2) {
		ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
		iterate();
		ck_assert_int_eq(told, 0);
	}
	runs_program = false;
	if (_i > 0)
		close(ours);
	ours = -1;
	for (int i = 0; i < 3 && told == 0; i++)
		iterate();
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(told_last, OUTCOME_FAILED);
	ck_assert_ptr_null(backend.waiter);
	iterate();
	ck_assert_int_eq(gone, 1);
}
END_TEST

START_TEST(program_is_late)
{
	backend = (struct backend){ .waiter = NULL };
	answer = 10;
	runs_program = true;
	say(1);
	iterate();
	ck_assert_ptr_nonnull(backend.waiter);
	ck_assert_uint_eq(clients->list_len[TIMEOUT_PROGRAM], 1);
	runs_program = false;
	while (told == 0)
		iterate();
	ck_assert_int_eq(told_last, OUTCOME_TIMED_OUT);
	ck_assert_ptr_null(backend.waiter);
	ck_assert_uint_eq(clients->list_len[TIMEOUT_PROGRAM], 0);
}
END_TEST

/* All connections are closed while one waits for a program. */
START_TEST(program_is_left)
{
	run_program();
	clients_end(clients);
	ck_assert_ptr_null(backend.waiter);
	ck_assert_int_eq(told, 0);
}
END_TEST

/* The time to take output is over, but the socket has not yet reported that
 * some was taken. */
START_TEST(room_before_its_report)
{
	struct client	*c;

	holds = true;
	say(1);
	iterate();
	c = TAILQ_FIRST(&clients->lists[TIMEOUT_SEND]);
	ck_assert_ptr_nonnull(c);
	c->sock.late = true;
	clients_wake(c, OUTCOME_TIMED_OUT);
	ck_assert_int_eq(last, OUTCOME_NONE);
	c->timeout = TIMEOUT_SEND;
	clients_wake(c, OUTCOME_TIMED_OUT);
	ck_assert_int_eq(last, OUTCOME_TIMED_OUT);
}
END_TEST

/* The last connection takes all deadlines with it: the timer stops. */
START_TEST(nobody_left)
{
	struct watch	*first = evloop_timer(loop, stop, loop);

	deadline = 300;
	say(1);
	iterate();
	ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
	iterate();
	ck_assert_int_eq(gone, 1);
	evloop_arm(first, ticks.ms + 1000);
	evloop_on_iteration(loop, count_iteration, NULL);
	iterations = 0;
	evloop_run(loop);
	ck_assert_int_eq(iterations, 1);
	evloop_on_iteration(loop, NULL, NULL);
	evloop_unwatch(&first);
}
END_TEST

#ifdef __linux__
static struct listener
door(void)
{
	struct sockaddr_in	sin = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct listener		l = { .fd = socket(AF_INET, SOCK_STREAM |
				    SOCK_NONBLOCK, 0) };
	int			seconds = 20;

	ck_assert_int_eq(bind(l.fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	ck_assert_int_eq(setsockopt(l.fd, IPPROTO_TCP, TCP_DEFER_ACCEPT,
	    &seconds, sizeof(seconds)), 0);
	ck_assert_int_eq(listen(l.fd, 10), 0);
	return l;
}

static int
connect_client(const struct listener *l)
{
	struct sockaddr_in	sin;
	socklen_t		len = sizeof(sin);
	int			fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(getsockname(l->fd, (struct sockaddr *)&sin, &len), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sin, len), 0);
	return fd;
}

static bool	is_shut, is_over;

static void
shut(void *context)
{
	(void)context;
	is_shut = true;
}

static void
over(void *context)
{
	(void)context;
	is_over = true;
	evloop_stop(loop);
}

static struct clients *
host(const struct listener *l, size_t limit)
{
	struct clients	*all = clients_new(loop, &ticks, NULL, limit, over,
			    NULL);

	is_shut = is_over = false;
	acceptor_listen(all, &(struct acceptor_setup){
		.policy = &accept_plain, .listeners = l, .n = 1,
		.on_closed = shut
	});
	return all;
}

/* All connections but the fixture's have ended. */
static void
leave(struct clients *all, int client)
{
	close(client);
	evloop_run(loop);
	ck_assert(is_shut && is_over);
	acceptor_free(all);
	clients_free(&all);
	ck_assert_int_eq(gone, come - 1);
	gone = 0;
}

/* In a drain: a connection gets a moment to send its request where the address
 * is given up; where it is not, another process accepts the connection. */
START_TEST(about_to_speak)
{
	struct listener	 l = door();
	struct clients	*all = host(&l, 4);
	int		 one = connect_client(&l), silent = connect_client(&l);

	iterate();
	ck_assert_int_eq(come, 1);
	listener_block_new(&l);
	acceptor_drain(all);
	ck_assert(!is_shut && !is_over);
	ck_assert_int_eq(write(one, "x", 1), 1);
	iterate();
	ck_assert_int_eq(come, 2);
	ck_assert_int_eq(heard, 1);
	leave(all, one);
	close(silent);
}
END_TEST

START_TEST(others_hear)
{
	struct listener	 l = door();
	struct clients	*all = host(&l, 4);

	acceptor_drain(all);
	ck_assert(is_shut && is_over);
	acceptor_free(all);
	clients_free(&all);
}
END_TEST

/* At the limit a connection is evicted first. */
START_TEST(moment_without_room)
{
	struct listener	 l = door();
	struct clients	*all = host(&l, 1);
	int		 busy = connect_client(&l), other = connect_client(&l);

	ck_assert_int_eq(write(busy, "x", 1), 1);
	iterate();
	ck_assert_int_eq(come, 2);
	newest->stage = STAGE_COUNT;	/* not evictable */
	ck_assert_int_eq(write(other, "x", 1), 1);
	iterate();
	listener_block_new(&l);
	acceptor_drain(all);
	iterate();
	ck_assert_int_eq(come, 2);
	close(busy);
	iterate();
	iterate();
	ck_assert_int_eq(come, 3);
	leave(all, other);
}
END_TEST
#endif

#ifdef __linux__
/* Some systems keep it for root to give sockets a filter. */
static bool
may_block_new(void)
{
	struct listener	l = { .fd = socket(AF_INET, SOCK_STREAM, 0) };
	bool		blocked;

	listener_block_new(&l);
	blocked = listener_is_blocked(&l);
	close(l.fd);
	return blocked || geteuid() == 0;
}
#endif

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, in_pieces);
	tcase_add_loop_test(t, end_behind, 1, 3 * ROOM + 1);
	tcase_add_test(t, end_later);
	tcase_add_loop_test(t, meanwhile, 0, 2);
	tcase_add_test(t, by_layer);
	tcase_add_test(t, terms);
	tcase_add_test(t, program_says_more);
	tcase_add_loop_test(t, program_and_input, 0, 3);
	tcase_add_loop_test(t, program_and_end, 0, 3);
	tcase_add_loop_test(t, program_without_client, 0, 3);
	tcase_add_test(t, program_is_late);
	tcase_add_test(t, program_is_left);
	tcase_add_test(t, room_before_its_report);
	tcase_add_test(t, nobody_left);
#ifdef __linux__
	if (may_block_new())
		tcase_add_test(t, about_to_speak);
	tcase_add_test(t, others_hear);
	if (may_block_new())
		tcase_add_test(t, moment_without_room);
#endif
}
