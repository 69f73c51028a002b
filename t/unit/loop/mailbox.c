/*
 * Tests of loop/mailbox: threads that hand records to a loop, which may sleep.
 * With ThreadSanitizer they also show that what goes along is handed over.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop/mailbox.h"
#include "stats/stats.h"
#include "t/unit/unit.h"

#define PUTTERS		4
#define RECORDS		20000		/* of each */
#define WAKES		4000
#define TURNS		5000		/* there and back */
#define PATIENCE	30000		/* ms, for what must come */
#define AGAIN		100		/* times that one puts itself */

struct record {
	struct queued	 queued;	/* first: casts rely on it */
	struct side	*side;		/* that is to take it */
	int		 putter;
	int		 number;	/* not atomic: the queue is */
};

/* A thread with a loop and a queue, or the test's own. */
struct side {
	struct clock	 clock;
	struct evloop	*loop;
	struct queue	*queue;
	struct side	*other;
	pthread_t	 thread;
	_Atomic int	 taken;
	int		 next[PUTTERS];
	int		 left;		/* until it stops; 0: never */
};

static struct side	here, there;
static struct record	records[PUTTERS][RECORDS];

static void
take(struct queued *queued)
{
	struct record	*r = (struct record *)queued;
	struct side	*s = r->side;

	ck_assert_int_eq(r->number, s->next[r->putter]);
	s->next[r->putter]++;
	atomic_fetch_add(&s->taken, 1);
	if (--s->left == 0)
		evloop_stop(s->loop);
}

static bool	late;

static void
return_it(struct queued *queued)
{
	struct record	*r = (struct record *)queued;
	struct side	*s = r->side;

	r->side = s->other;
	if (++r->number < 2 * TURNS && late)
		queue_put_late(s->queue, s->other->queue, queued);
	else if (r->number < 2 * TURNS)
		queue_put(s->other->queue, queued);
	if (--s->left == 0)
		evloop_stop(s->loop);
}

static void
open_side(struct side *s, int left)
{
	*s = (struct side){ .left = left };
	s->loop = evloop_new(&s->clock);
	s->queue = queue_new(s->loop);
}

static void
close_side(struct side *s)
{
	queue_free(&s->queue);
	evloop_free(&s->loop);
}

static void
put_record(struct record *r, int putter, int number)
{
	*r = (struct record){ .queued.take = take, .side = &here,
	    .putter = putter, .number = number };
	queue_put(here.queue, &r->queued);
}

static void *
put(void *context)
{
	int	n = *(int *)context;

	for (int i = 0; i < RECORDS; i++)
		put_record(&records[n][i], n, i);
	return NULL;
}

/* All that so many threads do so. */
static void
take_all(void *(*put_them)(void *))
{
	pthread_t	threads[PUTTERS];
	int		numbers[PUTTERS];

	open_side(&here, PUTTERS * RECORDS);
	for (int i = 0; i < PUTTERS; i++) {
		numbers[i] = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, put_them,
		    &numbers[i]), 0);
	}
	evloop_run(here.loop);
	for (int i = 0; i < PUTTERS; i++)
		pthread_join(threads[i], NULL);
	close_side(&here);
}

START_TEST(many_put)
{
	take_all(put);
	for (int i = 0; i < PUTTERS; i++)
		ck_assert_int_eq(here.next[i], RECORDS);
}
END_TEST

static void *
run(void *context)
{
	static struct stats_part part;		/* a loop is timed */
	struct side		*s = context;

	stats_thread_in(&part);
	evloop_run(s->loop);
	return NULL;
}

/* Each record only when the one before has been taken: so who takes has gone
 * to sleep, or is about to. */
START_TEST(sleeper_is_woken)
{
	int64_t	end;

	open_side(&here, WAKES);
	end = clock_ms() + PATIENCE;
	ck_assert_int_eq(pthread_create(&here.thread, NULL, run, &here), 0);
	for (int i = 0; i < WAKES; i++) {
		put_record(&records[0][i], 0, i);
		while (atomic_load(&here.taken) <= i) {
			ck_assert_int_lt(clock_ms(), end);
			sched_yield();
		}
	}
	pthread_join(here.thread, NULL);
	close_side(&here);
}
END_TEST

/* Rung for at once, or when a turn ends, in which several have been put. */
START_TEST(there_and_back)
{
	static struct record	several[3];

	late = _i == 1;
	memset(several, 0, sizeof(several));
	open_side(&here, 3 * TURNS);
	open_side(&there, 3 * TURNS);
	here.other = &there;
	there.other = &here;
	ck_assert_int_eq(pthread_create(&there.thread, NULL, run, &there), 0);
	for (int i = 0; i < 3; i++) {
		several[i].queued.take = return_it;
		several[i].side = &here;
		queue_put(here.queue, &several[i].queued);
	}
	evloop_run(here.loop);
	pthread_join(there.thread, NULL);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(several[i].number, 2 * TURNS);
	close_side(&here);
	close_side(&there);
}
END_TEST

static void *
put_last(void *unused)
{
	(void)unused;
	put_record(&records[0][1], 0, 1);
	return NULL;
}

/* It is left, and taken with what comes next, or when somebody rings after
 * all. */
START_TEST(left_is_taken)
{
	struct record	*r = &records[0][0];
	pthread_t	 other;

	open_side(&here, _i == 0 ? 2 : 1);
	*r = (struct record){ .queued.take = take, .side = &here };
	queue_leave(here.queue, &r->queued);
	if (_i == 0)
		ck_assert_int_eq(pthread_create(&other, NULL, put_last, NULL),
		    0);
	else
		queue_ring(here.queue);
	evloop_run(here.loop);
	if (_i == 0)
		pthread_join(other, NULL);
	ck_assert_int_eq(here.next[0], _i == 0 ? 2 : 1);
	close_side(&here);
}
END_TEST

/* By all of several threads, in whatever order. */
static void
take_any(struct queued *queued)
{
	struct record	*r = (struct record *)queued;

	atomic_fetch_add(&r->side->taken, 1);
	if (--r->side->left == 0)
		evloop_stop(r->side->loop);
}

static void *
leave(void *context)
{
	int		 n = *(int *)context;
	struct record	*r;

	for (int i = 0; i < RECORDS; i++) {
		r = &records[n][i];
		*r = (struct record){ .queued.take = take_any, .side = &here };
		queue_leave(here.queue, &r->queued);
		if (i % 100 == 99)
			queue_ring(here.queue);
	}
	return NULL;
}

START_TEST(many_leave)
{
	take_all(leave);
	ck_assert_int_eq(atomic_load(&here.taken), PUTTERS * RECORDS);
}
END_TEST

static void
put_again(struct queued *queued)
{
	struct record	*r = (struct record *)queued;

	if (++r->number == AGAIN)
		evloop_stop(here.loop);
	else
		queue_put(here.queue, queued);
}

static int	times_ready;

static void
always_ready(void *context)
{
	(void)context;
	if (++times_ready == 2 * AGAIN)
		evloop_stop(here.loop);
}

/* What is watched may be ready all the time: so many turns, so many times. */
START_TEST(ready_is_no_reason)
{
	struct record	 r = { .queued.take = put_again };
	struct watch	*watch;
	int		 ends[2];

	times_ready = 0;
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "", 1), 1);
	open_side(&here, 0);
	watch = evloop_watch(here.loop, ends[0], always_ready, NULL);
	evloop_set(watch, EVLOOP_READ);
	queue_put(here.queue, &r.queued);
	evloop_run(here.loop);
	ck_assert_int_eq(r.number, AGAIN);
	evloop_unwatch(&watch);
	close_side(&here);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* The loop has ended with some under way. */
START_TEST(rest_is_taken)
{
	struct record	r[2];

	open_side(&here, 3);
	put_record(&r[0], 0, 0);
	put_record(&r[1], 0, 1);
	queue_empty(here.queue);
	ck_assert_int_eq(atomic_load(&here.taken), 2);
	queue_empty(here.queue);
	ck_assert_int_eq(atomic_load(&here.taken), 2);
	close_side(&here);
}
END_TEST

static unsigned	heeded, times_heeded;

static void
heed(void *context, unsigned times)
{
	ck_assert_ptr_eq(context, &here);
	times_heeded++;
	heeded += times;
	if (heeded == RECORDS)
		evloop_stop(here.loop);
}

static void *
send_notes(void *context)
{
	for (int i = 0; i < RECORDS - 3; i++)
		note_send(context, here.queue);
	return NULL;
}

START_TEST(notes_add_up)
{
	struct note	n;

	heeded = times_heeded = 0;
	open_side(&here, 0);
	note_init(&n, heed, &here);
	for (int i = 0; i < 3; i++)
		note_send(&n, here.queue);
	queue_empty(here.queue);
	ck_assert_uint_eq(times_heeded, 1);
	ck_assert_uint_eq(heeded, 3);
	close_side(&here);
	open_side(&here, 0);
	ck_assert_int_eq(pthread_create(&there.thread, NULL, send_notes, &n),
	    0);
	evloop_run(here.loop);
	pthread_join(there.thread, NULL);
	ck_assert_uint_eq(heeded, RECORDS);
	close_side(&here);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, many_put);
	tcase_add_test(tests, sleeper_is_woken);
	tcase_add_loop_test(tests, there_and_back, 0, 2);
	tcase_add_loop_test(tests, left_is_taken, 0, 2);
	tcase_add_test(tests, many_leave);
	tcase_add_test(tests, ready_is_no_reason);
	tcase_add_test(tests, rest_is_taken);
	tcase_add_test(tests, notes_add_up);
}
