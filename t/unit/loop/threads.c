/*
 * Tests of loop/threads: threads that do what they are told, say so, and end.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "loop/threads.h"
#include "stats/stats.h"
#include "t/unit/unit.h"

#define MEMBERS		40

struct record {
	struct member	member;		/* first: casts rely on it */
	pthread_t	thread;
	int		obeyed[TEAM_ORDER_COUNT];
};

static struct clock	clock_of_main;
static struct evloop	*loop;
static int		said[TEAM_MARK_COUNT];
static atomic_bool	held;		/* by a disk that does not answer */

static void
obey(struct member *m, enum team_order order)
{
	struct record	*r = (struct record *)m;
	sigset_t	 blocked;

	r->thread = pthread_self();
	r->obeyed[order]++;
	stats_count(STATS_REQUESTS);
	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
	ck_assert(sigismember(&blocked, SIGTERM));
	ck_assert(!sigismember(&blocked, SIGSEGV));
	while (held)
		sched_yield();
	team_mark(m, order == TEAM_SERVE ? TEAM_CLOSED : TEAM_IDLE);
}

/* What members have written is there to be seen. */
static void
marked(void *context, enum team_mark mark)
{
	struct team	**tp = context;
	struct record	*r;

	said[mark]++;
	for (unsigned i = 0; i < MEMBERS; i++) {
		r = (struct record *)team_member(*tp, i);
		ck_assert_uint_eq(r->member.number, i + 1);
		ck_assert_int_eq(r->obeyed[mark == TEAM_CLOSED ? TEAM_SERVE :
		    TEAM_DRAIN], 1);
		ck_assert(!pthread_equal(r->thread, pthread_self()));
	}
	evloop_stop(loop);
}

static struct team	*team;

static void
open_team(unsigned members)
{
	const struct team_setup	setup = {
		.members = members,
		.size = sizeof(struct record),
		.obey = obey,
		.marked = marked,
		.context = &team,
		.loop = loop = evloop_new(&clock_of_main),
	};

	team = team_new(&setup);
	team_start(team);
}

START_TEST(obeys)
{
	open_team(MEMBERS);
	team_tell(team, TEAM_SERVE);
	evloop_run(loop);
	ck_assert_int_eq(said[TEAM_CLOSED], 1);
	ck_assert_int_eq(said[TEAM_IDLE], 0);
	team_tell(team, TEAM_DRAIN);
	evloop_run(loop);
	ck_assert_int_eq(said[TEAM_CLOSED], 1);
	ck_assert_int_eq(said[TEAM_IDLE], 1);
	ck_assert(team_end(team));
	ck_assert_uint_eq(stats[STATS_REQUESTS], 0);	/* not ours */
	team_free(&team);
	evloop_free(&loop);
}
END_TEST

/* Several things at once, and the end in the middle of them: what was said
 * before has been done. */
START_TEST(ends)
{
	struct record	*r;

	open_team(MEMBERS);
	team_tell(team, TEAM_SERVE);
	team_tell(team, TEAM_DRAIN);
	ck_assert(team_end(team));
	for (unsigned i = 0; i < MEMBERS; i++) {
		r = (struct record *)team_member(team, i);
		ck_assert_int_eq(r->obeyed[TEAM_SERVE], 1);
		ck_assert_int_eq(r->obeyed[TEAM_DRAIN], 1);
	}
	team_free(&team);
	evloop_free(&loop);
}
END_TEST

/* One that does not come back is not waited for. */
START_TEST(is_held)
{
	held = true;
	open_team(1);
	team_tell(team, TEAM_SERVE);
	ck_assert(!team_end(team));
	held = false;
	ck_assert(team_end(team));
	team_free(&team);
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
