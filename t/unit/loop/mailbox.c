/*
 * Tests of loop/mailbox: threads post records to a loop, which may be asleep.
 * With ThreadSanitizer they also show that a record's contents are handed over.
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

#define POSTERS		4
#define RECORDS		20000		/* of each thread */
#define WAKES		4000
#define ITERATIONS	5000		/* there and back */
#define TIMEOUT		30000		/* ms */
#define AGAIN		100		/* times that a record posts itself */

struct record {
	struct mail	 queued;	/* first: casts rely on it */
	struct side	*side;		/* the receiver */
	int		 putter;
	int		 number;	/* not atomic: the mailbox is */
};

/* A thread with a loop and a mailbox, or the test's own. */
struct side {
	struct clock	 clock;
	struct evloop	*loop;
	struct mailbox	*queue;
	struct side	*other;
	pthread_t	 thread;
	_Atomic int	 taken;
	int		 next[POSTERS];
	int		 left;		/* records until it stops; 0: never */
};

static struct side	here, there;
static struct record	records[POSTERS][RECORDS];

static void
deliver_record(struct mail *queued)
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
return_it(struct mail *queued)
{
	struct record	*r = (struct record *)queued;
	struct side	*s = r->side;

	r->side = s->other;
	if (++r->number < 2 * ITERATIONS && late)
		mailbox_post_late(s->queue, s->other->queue, queued);
	else if (r->number < 2 * ITERATIONS)
		mailbox_post(s->other->queue, queued);
	if (--s->left == 0)
		evloop_stop(s->loop);
}

static void
open_side(struct side *s, int left)
{
	*s = (struct side){ .left = left };
	s->loop = evloop_new(&s->clock);
	s->queue = mailbox_new(s->loop);
}

static void
close_side(struct side *s)
{
	mailbox_free(&s->queue);
	evloop_free(&s->loop);
}

static void
post_record(struct record *r, int putter, int number)
{
	*r = (struct record){ .queued.deliver = deliver_record, .side = &here,
	    .putter = putter, .number = number };
	mailbox_post(here.queue, &r->queued);
}

static void *
post_mail(void *context)
{
	int	n = *(int *)context;

	for (int i = 0; i < RECORDS; i++)
		post_record(&records[n][i], n, i);
	return NULL;
}

/* Receives all records of POSTERS threads. */
static void
deliver_all(void *(*put_them)(void *))
{
	pthread_t	threads[POSTERS];
	int		numbers[POSTERS];

	open_side(&here, POSTERS * RECORDS);
	for (int i = 0; i < POSTERS; i++) {
		numbers[i] = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, put_them,
		    &numbers[i]), 0);
	}
	evloop_run(here.loop);
	for (int i = 0; i < POSTERS; i++)
		pthread_join(threads[i], NULL);
	close_side(&here);
}

START_TEST(many_put)
{
	deliver_all(post_mail);
	for (int i = 0; i < POSTERS; i++)
		ck_assert_int_eq(here.next[i], RECORDS);
}
END_TEST

static void *
run(void *context)
{
	static struct stats_slot part;		/* of a timed loop */
	struct side		*s = context;

	stats_use_thread(&part);
	evloop_run(s->loop);
	return NULL;
}

/* Each record is posted when the one before has been delivered: so the receiver
 * sleeps, or is about to. */
START_TEST(sleeper_is_woken)
{
	int64_t	end;

	open_side(&here, WAKES);
	end = clock_ms() + TIMEOUT;
	ck_assert_int_eq(pthread_create(&here.thread, NULL, run, &here), 0);
	for (int i = 0; i < WAKES; i++) {
		post_record(&records[0][i], 0, i);
		while (atomic_load(&here.taken) <= i) {
			ck_assert_int_lt(clock_ms(), end);
			sched_yield();
		}
	}
	pthread_join(here.thread, NULL);
	close_side(&here);
}
END_TEST

/* The receiver is woken at once, or when an iteration has posted several. */
START_TEST(there_and_back)
{
	static struct record	several[3];

	late = _i == 1;
	memset(several, 0, sizeof(several));
	open_side(&here, 3 * ITERATIONS);
	open_side(&there, 3 * ITERATIONS);
	here.other = &there;
	there.other = &here;
	ck_assert_int_eq(pthread_create(&there.thread, NULL, run, &there), 0);
	for (int i = 0; i < 3; i++) {
		several[i].queued.deliver = return_it;
		several[i].side = &here;
		mailbox_post(here.queue, &several[i].queued);
	}
	evloop_run(here.loop);
	pthread_join(there.thread, NULL);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(several[i].number, 2 * ITERATIONS);
	close_side(&here);
	close_side(&there);
}
END_TEST

static void *
post_last(void *unused)
{
	(void)unused;
	post_record(&records[0][1], 0, 1);
	return NULL;
}

/* Quiet mail is delivered with the next mail, or when the receiver is woken. */
START_TEST(left_is_taken)
{
	struct record	*r = &records[0][0];
	pthread_t	 other;

	open_side(&here, _i == 0 ? 2 : 1);
	*r = (struct record){ .queued.deliver = deliver_record, .side = &here };
	mailbox_post_quiet(here.queue, &r->queued);
	if (_i == 0)
		ck_assert_int_eq(pthread_create(&other, NULL, post_last, NULL),
		    0);
	else
		mailbox_wake(here.queue);
	evloop_run(here.loop);
	if (_i == 0)
		pthread_join(other, NULL);
	ck_assert_int_eq(here.next[0], _i == 0 ? 2 : 1);
	close_side(&here);
}
END_TEST

/* Quiet mail of several threads, in any order. */
static void
deliver_any(struct mail *queued)
{
	struct record	*r = (struct record *)queued;

	atomic_fetch_add(&r->side->taken, 1);
	if (--r->side->left == 0)
		evloop_stop(r->side->loop);
}

static void *
post_quiet(void *context)
{
	int		 n = *(int *)context;
	struct record	*r;

	for (int i = 0; i < RECORDS; i++) {
		r = &records[n][i];
		*r = (struct record){ .queued.deliver = deliver_any,
		    .side = &here };
		mailbox_post_quiet(here.queue, &r->queued);
		if (i % 100 == 99)
			mailbox_wake(here.queue);
	}
	return NULL;
}

START_TEST(many_leave)
{
	deliver_all(post_quiet);
	ck_assert_int_eq(atomic_load(&here.taken), POSTERS * RECORDS);
}
END_TEST

static void
post_again(struct mail *queued)
{
	struct record	*r = (struct record *)queued;

	if (++r->number == AGAIN)
		evloop_stop(here.loop);
	else
		mailbox_post(here.queue, queued);
}

static int	times_ready;

static void
always_ready(void *context)
{
	(void)context;
	if (++times_ready == 2 * AGAIN)
		evloop_stop(here.loop);
}

/* A watch that is always ready does not starve: it runs in each iteration. */
START_TEST(ready_is_no_reason)
{
	struct record	 r = { .queued.deliver = post_again };
	struct watch	*watch;
	int		 ends[2];

	times_ready = 0;
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "", 1), 1);
	open_side(&here, 0);
	watch = evloop_watch(here.loop, ends[0], always_ready, NULL);
	evloop_set(watch, EVLOOP_READ);
	mailbox_post(here.queue, &r.queued);
	evloop_run(here.loop);
	ck_assert_int_eq(r.number, AGAIN);
	evloop_unwatch(&watch);
	close_side(&here);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* The loop has ended with mail in the mailbox. */
START_TEST(rest_is_taken)
{
	struct record	r[2];

	open_side(&here, 3);
	post_record(&r[0], 0, 0);
	post_record(&r[1], 0, 1);
	mailbox_deliver(here.queue);
	ck_assert_int_eq(atomic_load(&here.taken), 2);
	mailbox_deliver(here.queue);
	ck_assert_int_eq(atomic_load(&here.taken), 2);
	close_side(&here);
}
END_TEST

static unsigned	sent, times_handled;

static void
on_flag(void *context, unsigned times)
{
	ck_assert_ptr_eq(context, &here);
	times_handled++;
	sent += times;
	if (sent == RECORDS)
		evloop_stop(here.loop);
}

static void *
send_flags(void *context)
{
	for (int i = 0; i < RECORDS - 3; i++)
		mailbox_flag_send(context, here.queue);
	return NULL;
}

START_TEST(notes_add_up)
{
	struct flag_msg	n;

	sent = times_handled = 0;
	open_side(&here, 0);
	mailbox_flag_init(&n, on_flag, &here);
	for (int i = 0; i < 3; i++)
		mailbox_flag_send(&n, here.queue);
	mailbox_deliver(here.queue);
	ck_assert_uint_eq(times_handled, 1);
	ck_assert_uint_eq(sent, 3);
	close_side(&here);
	open_side(&here, 0);
	ck_assert_int_eq(pthread_create(&there.thread, NULL, send_flags, &n),
	    0);
	evloop_run(here.loop);
	pthread_join(there.thread, NULL);
	ck_assert_uint_eq(sent, RECORDS);
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
