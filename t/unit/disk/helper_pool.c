/*
 * Tests of disk/helper_pool: its requests to the monitor, also if messages are
 * lost.  The test plays the monitor and the helpers.
 */
#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "disk/helper_pool.h"
#include "disk/task_queue.h"
#include "lib/io.h"
#include "loop/clients.h"
#include "shared/channel.h"
#include "shared/helper_slots.h"
#include "shared/main_env.h"
#include "shared/mounts.h"
#include "t/unit/conf/confs.h"

#define WAIT_MAX	30000		/* ms */

static struct conf	*conf;
static struct clock	 clock_now;
static struct evloop	*loop;
static struct main_env	 env;
static struct helper_pool	*pool;
static struct watch	*tick;
static struct task	 tasks[8];
static int		 monitor;	/* the monitor's end of the channel */
static int		 heard[CHANNEL_COUNT];
static int		 waiting_for, ended;
static int64_t		 limit;
static bool		 stop_at_end;	/* when a task ends */

/* Replaces the function of clients.c. */
void
clients_finish_task(struct task *t)
{
	(void)t;
	ended++;
	if (stop_at_end)
		evloop_stop(loop);
}

static void
read_channel(void)
{
	enum channel_message	message;
	int			fd;

	while (channel_recv(monitor, &message, &fd) == 1) {
		heard[message]++;
		io_close(&fd);
	}
}

static void
check_all(void *unused)
{
	(void)unused;
	read_channel();
	ck_assert_int_lt(clock_now.ms, limit);
	if (heard[waiting_for] > 0)
		evloop_stop(loop);
	else
		evloop_arm(tick, clock_now.ms + 5);
}

/* Runs the loop until the pool sends this message. */
static void
wait_for(enum channel_message message)
{
	waiting_for = message;
	clock_update(&clock_now);
	limit = clock_now.ms + WAIT_MAX;
	evloop_arm(tick, 0);
	evloop_run(loop);
	heard[message]--;
}

static void
set_up(void)
{
	int	ends[2];

	setup();
	conf = good("helpers 2 max 4 share 4 within 1s\n"
	    "limits {\n disk 3s\n}\n" SITE);
	ck_assert_int_eq(io_pipe(ends), 0);
	ck_assert_int_eq(io_nonblock(ends[0]), 0);
	ck_assert_int_eq(io_nonblock(ends[1]), 0);
	monitor = ends[1];
	clock_update(&clock_now);
	loop = evloop_new(&clock_now);
	env = (struct main_env){ .conf = conf, .channel = ends[0],
	    .mounts = mounts_new(conf), .helper_slots = helper_slots_new(8) };
	tick = evloop_timer(loop, check_all, NULL);
	memset(heard, 0, sizeof(heard));
	pool = helper_pool_new(loop, &clock_now, &env, -1);
	ended = 0;
	stop_at_end = false;
	/* The pool requests one helper at once, and the rest of the reserve
	 * later. */
	read_channel();
	ck_assert_int_eq(heard[CHANNEL_WANT_HELPER], 1);
	wait_for(CHANNEL_WANT_HELPER);
	wait_for(CHANNEL_WANT_HELPER);
	ck_assert_int_eq(heard[CHANNEL_WANT_HELPER], 0);
}

static void
tear_down(void)
{
	helper_pool_free(&pool);
	evloop_unwatch(&tick);
	evloop_free(&loop);
	mounts_free(&env.mounts);
	helper_slots_free(&env.helper_slots);
	io_close(&env.channel);
	io_close(&monitor);
	conf_free(&conf);
	teardown();
}

/* Adds a helper; returns the helper's end of its pipe. */
static int
add_helper(void)
{
	int	ends[2];

	ck_assert_int_eq(io_pipe(ends), 0);
	helper_pool_add(pool, ends[0]);
	return ends[1];
}

static bool
is_closed(int pipe)
{
	struct pollfd	p = { .fd = pipe, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) != 0;
}

static void
submit_task(int i)
{
	job_init(&tasks[i].job, JOB_RESOLVE);
	tasks[i].job.find.root = dir;
	tasks[i].job.find.path = "x";
	helper_pool_submit(pool, &tasks[i]);
}

/* Fills the channel with messages of any kind. */
static void
fill_pipe(void)
{
	while (channel_send(env.channel, CHANNEL_READY, -1) == 0)
		continue;
	ck_assert_int_eq(errno, EAGAIN);
}

/* Without an answer the pool asks again.  If all answers come late, it keeps no
 * more helpers than it may have. */
START_TEST(answers_get_lost)
{
	int	pipes[8], open = 0;

	for (int i = 0; i < 4; i++)
		submit_task(i);
	wait_for(CHANNEL_WANT_HELPER);
	wait_for(CHANNEL_WANT_HELPER);
	ck_assert_int_eq(heard[CHANNEL_WANT_HELPER], 0);
	for (int i = 0; i < 4; i++)
		wait_for(CHANNEL_WANT_HELPER);
	ck_assert_int_eq(heard[CHANNEL_WANT_HELPER], 0);
	for (int i = 0; i < 8; i++)
		pipes[i] = add_helper();
	for (int i = 0; i < 8; i++) {
		open += !is_closed(pipes[i]);
		close(pipes[i]);
	}
	ck_assert_int_eq(open, 4);
}
END_TEST

/* The reserve is filled though no task waits. */
START_TEST(reserve_gets_lost)
{
	int	pipe = add_helper();

	wait_for(CHANNEL_WANT_HELPER);
	ck_assert_int_eq(heard[CHANNEL_WANT_HELPER], 0);
	close(pipe);
}
END_TEST

/* Helpers that die young are replaced after a delay. */
START_TEST(reserve_dies_young)
{
	int	pipes[2] = { add_helper(), add_helper() };

	close(pipes[0]);
	close(pipes[1]);
	wait_for(CHANNEL_WANT_HELPER);
	wait_for(CHANNEL_WANT_HELPER);
	ck_assert_int_eq(heard[CHANNEL_WANT_HELPER], 0);
}
END_TEST

START_TEST(cannot_ask)
{
	int	pipes[2] = { add_helper(), add_helper() };

	fill_pipe();
	for (int i = 0; i < 3; i++)
		submit_task(i);
	wait_for(CHANNEL_WANT_HELPER);
	ck_assert_int_eq(heard[CHANNEL_WANT_HELPER], 0);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

/* The monitor cannot start a helper: the pool asks again later. */
START_TEST(is_refused)
{
	int	pipes[2] = { add_helper(), add_helper() };

	for (int i = 0; i < 3; i++)
		submit_task(i);
	wait_for(CHANNEL_WANT_HELPER);
	helper_pool_add(pool, -1);
	ck_assert_int_eq(ended, 0);
	wait_for(CHANNEL_WANT_HELPER);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

/* Without a helper, and none to come, tasks fail. */
START_TEST(has_none)
{
	submit_task(0);
	helper_pool_add(pool, -1);
	ck_assert_int_eq(ended, 0);
	helper_pool_add(pool, -1);
	ck_assert_int_eq(ended, 1);
	ck_assert_int_eq(tasks[0].job.error, EAGAIN);
}
END_TEST

/* A request to kill a helper is sent as soon as the channel has room. */
START_TEST(cannot_have_killed)
{
	int	pipes[2] = { add_helper(), add_helper() };

	submit_task(0);
	fill_pipe();
	stop_at_end = true;
	evloop_run(loop);
	ck_assert_int_eq(tasks[0].job.error, ETIMEDOUT);
	wait_for(CHANNEL_KILL_HELPER);
	ck_assert_int_eq(heard[CHANNEL_KILL_HELPER], 0);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

static void
look_for_death(void *deaths)
{
	const struct disk_task	*t = tasks[0].record;

	if (ended > 0 || t->attempts > *(int *)deaths)
		evloop_stop(loop);
	else
		evloop_arm(tick, clock_now.ms);
}

/* Helpers that die as soon as they have a job: the job is tried again within
 * the disk timeout, and then fails. */
START_TEST(die_over_it)
{
	int	deaths = 0;
	int64_t	submitted_at = clock_now.ms;

	evloop_unwatch(&tick);
	tick = evloop_timer(loop, look_for_death, &deaths);
	for (submit_task(0); ended == 0; deaths++) {
		close(add_helper());
		evloop_arm(tick, clock_now.ms);
		evloop_run(loop);
	}
	ck_assert_int_eq(tasks[0].job.error, ECONNABORTED);
	ck_assert_int_ge(clock_now.ms - submitted_at, 3000);
	ck_assert_int_ge(deaths, 100);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, answers_get_lost);
	tcase_add_test(tests, reserve_gets_lost);
	tcase_add_test(tests, reserve_dies_young);
	tcase_add_test(tests, cannot_ask);
	tcase_add_test(tests, is_refused);
	tcase_add_test(tests, has_none);
	tcase_add_test(tests, cannot_have_killed);
	tcase_add_test(tests, die_over_it);
	tcase_set_timeout(tests, 60);
}
