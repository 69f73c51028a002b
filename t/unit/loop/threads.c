/*
 * Tests of loop/threads: threads run commands, acknowledge them, and end.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "loop/threads.h"
#include "stats/stats.h"
#include "t/unit/unit.h"

#define THREADS		40

struct record {
	struct loop_thread	loop_thread;	/* first: casts rely on it */
	pthread_t		thread;
	int			done[THREADS_COMMAND_COUNT];
};

static struct clock	clock_of_main;
static struct evloop	*loop;
static int		acked[THREADS_ACK_COUNT];
static atomic_bool	held;		/* by a disk that does not answer */

static void
run_command(struct loop_thread *m, enum threads_command order)
{
	struct record	*r = (struct record *)m;
	sigset_t	 blocked;

	r->thread = pthread_self();
	r->done[order]++;
	stats_count(STATS_REQUESTS);
	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
	ck_assert(sigismember(&blocked, SIGTERM));
	ck_assert(!sigismember(&blocked, SIGSEGV));
	while (held)
		sched_yield();
	threads_ack(m, order == THREADS_SERVE ? THREADS_CLOSED : THREADS_IDLE);
}

/* Memory that the threads have written is visible here. */
static void
on_ack(void *context, enum threads_ack mark)
{
	struct threads	**tp = context;
	struct record	*r;

	acked[mark]++;
	for (unsigned i = 0; i < THREADS; i++) {
		r = (struct record *)threads_get(*tp, i);
		ck_assert_uint_eq(r->loop_thread.number, i + 1);
		ck_assert_int_eq(r->done[mark == THREADS_CLOSED ?
		    THREADS_SERVE : THREADS_DRAIN], 1);
		ck_assert(!pthread_equal(r->thread, pthread_self()));
	}
	evloop_stop(loop);
}

static struct threads	*threads;

static void
open_threads(unsigned members)
{
	const struct threads_setup	setup = {
		.count = members,
		.at_once = members,
		.size = sizeof(struct record),
		.on_command = run_command,
		.on_ack = on_ack,
		.context = &threads,
		.loop = loop = evloop_new(&clock_of_main),
	};

	threads = threads_new(&setup);
	threads_start(threads);
}

START_TEST(obeys)
{
	open_threads(THREADS);
	threads_send(threads, THREADS_SERVE);
	evloop_run(loop);
	ck_assert_int_eq(acked[THREADS_CLOSED], 1);
	ck_assert_int_eq(acked[THREADS_IDLE], 0);
	threads_send(threads, THREADS_DRAIN);
	evloop_run(loop);
	ck_assert_int_eq(acked[THREADS_CLOSED], 1);
	ck_assert_int_eq(acked[THREADS_IDLE], 1);
	ck_assert(threads_end(threads));
	ck_assert_uint_eq(stats[STATS_REQUESTS], 0);	/* the threads' */
	threads_free(&threads);
	evloop_free(&loop);
}
END_TEST

/* Several commands at once, then the end: the commands have been run. */
START_TEST(ends)
{
	struct record	*r;

	open_threads(THREADS);
	threads_send(threads, THREADS_SERVE);
	threads_send(threads, THREADS_DRAIN);
	ck_assert(threads_end(threads));
	for (unsigned i = 0; i < THREADS; i++) {
		r = (struct record *)threads_get(threads, i);
		ck_assert_int_eq(r->done[THREADS_SERVE], 1);
		ck_assert_int_eq(r->done[THREADS_DRAIN], 1);
	}
	threads_free(&threads);
	evloop_free(&loop);
}
END_TEST

/* A thread that waits for a disk is not waited for. */
START_TEST(is_held)
{
	held = true;
	open_threads(1);
	threads_send(threads, THREADS_SERVE);
	ck_assert(!threads_end(threads));
	held = false;
	ck_assert(threads_end(threads));
	threads_free(&threads);
	evloop_free(&loop);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, obeys);
	tcase_add_test(tests, ends);
	tcase_add_test(tests, is_held);
}
