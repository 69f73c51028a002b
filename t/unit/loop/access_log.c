/*
 * Tests of loop/access_log: when it requests an access logger; threads that
 * write lines at the same time.  The test is the access logger; with
 * ThreadSanitizer it also shows that lines do not overlap.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "helpers/wire.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "loop/access_log.h"
#include "shared/channel.h"
#include "stats/stats.h"
#include "t/unit/unit.h"

#define WRITERS		4
#define LINES		4000		/* of each thread */
#define MOST		200		/* bytes of a line */

struct writer {
	pthread_t		 thread;
	int			 number;
	struct stats_slot	 part;
	int			 next;		/* number of the next line */
	uint64_t		 found;
};

static struct clock	 now;
static struct evloop	*loop;
static struct access_log	*access_log;
static struct watch	*tick;
static struct writer	 writers[WRITERS];
static atomic_int	 left;		/* writers that run */
static int		 pipe_of_helper;
static struct buf	 log_text;	/* the access logger's */

static void *
be_helper(void *nothing)
{
	static char	buffer[WIRE_MAX];
	struct job	job;

	while (wire_recv_request(pipe_of_helper, &job, buffer) == 1) {
		buf_add(&log_text, job.append.bytes.at, job.append.bytes.len);
		job.append.done = job.append.bytes.len;
		wire_send_reply(pipe_of_helper, &job);
	}
	close(pipe_of_helper);
	return nothing;
}

/* Every other line is committed empty. */
static void *
write_lines(void *context)
{
	struct writer	*w = context;
	char		*to;

	stats_use_thread(&w->part);
	for (int i = 0; i < LINES; i++) {
		if ((to = access_log_reserve(access_log, MOST)) != NULL)
			access_log_commit(access_log, 0);
		to = access_log_reserve(access_log, MOST);
		if (to != NULL)
			access_log_commit(access_log, (size_t)snprintf(to, MOST,
			    "%d %d:%.*s\n", w->number, i, i % 100, "xxxxxxxxxx"
			    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
		else
			sched_yield();
	}
	left--;
	return NULL;
}

static void
look(void *unused)
{
	(void)unused;
	if (left == 0)
		evloop_stop(loop);
	else
		evloop_arm(tick, now.ms + 5);
}

/* Lines are whole, and those of each writer in order. */
static void
check_line(const char *line, size_t len)
{
	struct writer	*w;
	int		 number, i, at = 0;

	ck_assert_int_eq(sscanf(line, "%d %d:%n", &number, &i, &at), 2);
	ck_assert(number >= 0 && number < WRITERS);
	w = &writers[number];
	ck_assert_int_ge(i, w->next);
	w->next = i + 1;
	w->found++;
	ck_assert_uint_eq(len - (size_t)at, (size_t)(i % 100));
	ck_assert_uint_eq(strspn(line + at, "x"), (size_t)(i % 100));
}

static void
check_log(void)
{
	const char	*at = buf_string(&log_text), *end;

	for (; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		ck_assert_ptr_nonnull(end);
		check_line(at, (size_t)(end - at));
	}
}

static void
begin(pthread_t *helper)
{
	int	ends[2], control[2];

	ck_assert_int_eq(io_pipe(ends), 0);
	ck_assert_int_eq(io_pipe(control), 0);
	pipe_of_helper = ends[1];
	loop = evloop_new(&now);
	access_log = access_log_new(loop, &now, control[0]);
	access_log_share(access_log);
	access_log_join(access_log, ends[0]);
	ck_assert_int_eq(pthread_create(helper, NULL, be_helper, NULL), 0);
	left = WRITERS;
	for (int i = 0; i < WRITERS; i++) {
		writers[i].number = i;
		ck_assert_int_eq(pthread_create(&writers[i].thread, NULL,
		    write_lines, &writers[i]), 0);
	}
}

static void
end(pthread_t helper)
{
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	access_log_free(&access_log);
	pthread_join(helper, NULL);
	check_log();
}

START_TEST(threads)
{
	pthread_t	helper;

	begin(&helper);
	tick = evloop_timer(loop, look, NULL);
	evloop_arm(tick, 0);
	evloop_run(loop);
	end(helper);
	for (int i = 0; i < WRITERS; i++) {
		ck_assert_uint_gt(writers[i].found, 0);
		/* A logger is requested twice at most. */
		ck_assert_uint_ge(writers[i].found + writers[i].part.counters[
		    STATS_LOG_LINES_DROPPED], LINES);
	}
	evloop_unwatch(&tick);
	evloop_free(&loop);
	buf_free(&log_text);
}
END_TEST

/* Threads go on writing lines while the log is finished. */
START_TEST(finished)
{
	pthread_t	helper;

	begin(&helper);
	access_log_finish(access_log);
	end(helper);
	evloop_free(&loop);
	buf_free(&log_text);
}
END_TEST

static void
write_line(const char *line)
{
	char	*to = access_log_reserve(access_log, MOST);

	ck_assert_ptr_nonnull(to);
	memcpy(to, line, strlen(line));
	access_log_commit(access_log, strlen(line));
}

/* How often an access logger has been requested. */
static int
questions(int control)
{
	enum channel_message	message;
	int			fd, n = 0;

	while (channel_recv(control, &message, &fd) == 1) {
		ck_assert_int_eq(message, CHANNEL_WANT_ACCESS_LOGGER);
		n++;
	}
	return n;
}

static void
begin_alone(int control[2])
{
	ck_assert_int_eq(io_pipe(control), 0);
	ck_assert_int_eq(io_nonblock(control[1]), 0);
	loop = evloop_new(&now);
	access_log = access_log_new(loop, &now, control[0]);
}

static void
end_alone(int control[2])
{
	close(control[1]);
	access_log_free(&access_log);
	evloop_free(&loop);
	close(control[0]);
}

/* At the start nothing is requested at once, and no line is lost. */
START_TEST(asks_late_unless_there_is_much)
{
	int	control[2], lines = 0;

	begin_alone(control);
	write_line("one\n");
	ck_assert_int_eq(questions(control[1]), 0);
	while (questions(control[1]) == 0 && lines++ < 100000)
		write_line("one of many lines, and so on, and so on\n");
	ck_assert_int_lt(lines, 4000);
	for (int i = 0; i < 4000; i++)
		write_line("more of them\n");
	ck_assert_int_eq(questions(control[1]), 0);
	end_alone(control);
}
END_TEST

static void
asked(void *control)
{
	if (questions(*(int *)control) > 0)
		evloop_stop(loop);
}

START_TEST(asks_in_time)
{
	int		 control[2];
	struct watch	*w;

	begin_alone(control);
	w = evloop_watch(loop, control[1], asked, &control[1]);
	evloop_set(w, EVLOOP_READ);
	ck_assert_int_eq(questions(control[1]), 0);
	evloop_run(loop);
	evloop_unwatch(&w);
	end_alone(control);
}
END_TEST

static void
take_order(void *context)
{
	static char	buffer[WIRE_MAX];
	struct job	job;
	int		fd = *(int *)context;

	ck_assert_int_eq(wire_recv_request(fd, &job, buffer), 1);
	buf_add(&log_text, job.append.bytes.at, job.append.bytes.len);
	job.append.done = job.append.bytes.len;
	wire_send_reply(fd, &job);
	evloop_stop(loop);
}

/* An access logger that was not requested, as the log was opened again: at
 * once, and later with lines. */
START_TEST(comes_unasked)
{
	int		 control[2], ends[2];
	struct watch	*w;

	begin_alone(control);
	ck_assert_int_eq(io_pipe(ends), 0);
	w = evloop_watch(loop, ends[1], take_order, &ends[1]);
	evloop_set(w, EVLOOP_READ);
	access_log_join(access_log, ends[0]);
	write_line("one\n");
	evloop_run(loop);
	write_line("two\n");
	evloop_run(loop);
	ck_assert_str_eq(buf_string(&log_text), "one\ntwo\n");
	ck_assert_int_eq(questions(control[1]), 0);
	evloop_unwatch(&w);
	close(ends[1]);
	end_alone(control);
	buf_free(&log_text);
}
END_TEST

/* The access logger dies unnoticed; another one can be had. */
static void
die(int helper, int control, pthread_t *another)
{
	int	ends[2];

	close(helper);
	ck_assert_int_eq(io_pipe(ends), 0);
	ck_assert_int_eq(channel_send(control, CHANNEL_ACCESS_LOGGER,
	    ends[0]), 0);
	close(ends[0]);
	pipe_of_helper = ends[1];
	ck_assert_int_eq(pthread_create(another, NULL, be_helper, NULL), 0);
}

static void
end_with_another(int control[2], pthread_t another, size_t bytes)
{
	access_log_finish(access_log);
	ck_assert_int_eq(questions(control[1]), 1);
	end_alone(control);
	pthread_join(another, NULL);
	ck_assert_uint_eq(log_text.len, bytes);
	buf_free(&log_text);
}

START_TEST(finished_when_it_has_died)
{
	int		 control[2], ends[2];
	pthread_t	 another;

	begin_alone(control);
	ck_assert_int_eq(io_pipe(ends), 0);
	access_log_join(access_log, ends[0]);
	write_line("one\n");
	die(ends[1], control[1], &another);
	end_with_another(control, another, 4);
}
END_TEST

/* The same with a batch in flight. */
START_TEST(finished_when_it_dies_of_a_batch)
{
	static char	 buffer[WIRE_MAX];
	int		 control[2], ends[2];
	pthread_t	 another;
	struct job	 job;

	begin_alone(control);
	ck_assert_int_eq(io_pipe(ends), 0);
	access_log_join(access_log, ends[0]);
	for (int i = 0; i < 10000; i++)
		write_line("one line of many\n");
	ck_assert_int_eq(wire_recv_request(ends[1], &job, buffer), 1);
	die(ends[1], control[1], &another);
	end_with_another(control, another, 10000 * 17);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, asks_late_unless_there_is_much);
	tcase_add_test(tests, asks_in_time);
	tcase_add_test(tests, comes_unasked);
	tcase_add_test(tests, threads);
	tcase_add_test(tests, finished);
	tcase_add_test(tests, finished_when_it_has_died);
	tcase_add_test(tests, finished_when_it_dies_of_a_batch);
}
