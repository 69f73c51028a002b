/*
 * threads: starts threads, tells them things, and waits for their end.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/wakeup.h"
#include "loop/threads.h"
#include "stats/scoreboard.h"

/* There may be many, and none needs much: a piece of a file, some paths. */
#define STACK		(512 * 1024)	/* bytes */
#define PARTING		1000		/* ms, for one that waits for a disk */

/* What a member is told by, beside its record. */
struct post {
	struct member	*member;
	pthread_t	 thread;
	struct bell	 bell;
	struct watch	*rung;
	atomic_uint	 orders;	/* a bit for each */
};

struct team {
	struct team_setup	 setup;
	struct post		*posts;
	struct bell		 bell;		/* main's */
	struct watch		*rung;
	atomic_uint		 marks[TEAM_MARK_COUNT];	/* how many */
	bool			 told[TEAM_MARK_COUNT];
	pthread_mutex_t		 lock;		/* of the next two */
	pthread_cond_t		 changed;
	unsigned		 running, ended;
};

static void
obey(void *context)
{
	struct post	*p = context;
	struct team	*t = p->member->team;
	unsigned	 orders;

	bell_hush(&p->bell);
	orders = atomic_exchange(&p->orders, 0);
	for (int i = 0; i < TEAM_END; i++)
		if ((orders & 1U << i) != 0)
			t->setup.obey(p->member, (enum team_order)i);
	if ((orders & 1U << TEAM_END) != 0)
		evloop_stop(p->member->loop);
}

/* Main's loop. */
static void
marked(void *context)
{
	struct team	*t = context;

	bell_hush(&t->bell);
	for (int i = 0; i < TEAM_MARK_COUNT; i++)
		if (t->marks[i] == t->setup.members && !t->told[i]) {
			t->told[i] = true;
			t->setup.marked(t->setup.context, (enum team_mark)i);
		}
}

void
team_mark(struct member *m, enum team_mark mark)
{
	struct team	*t = m->team;

	if ((m->said & 1U << mark) != 0)
		return;
	m->said |= 1U << mark;
	if (atomic_fetch_add(&t->marks[mark], 1) + 1 == t->setup.members)
		bell_ring(&t->bell);
}

static void
count(struct team *t, unsigned *number)
{
	need(pthread_mutex_lock(&t->lock) == 0);
	(*number)++;
	pthread_cond_signal(&t->changed);
	need(pthread_mutex_unlock(&t->lock) == 0);
}

static void *
be_member(void *context)
{
	struct post	*p = context;
	struct member	*m = p->member;
	struct team	*t = m->team;

	board_use_thread(m->number);
	count(t, &t->running);
	evloop_run(m->loop);
	count(t, &t->ended);
	return NULL;
}

static void
open_post(struct team *t, unsigned i)
{
	struct post	*p = &t->posts[i];
	struct member	*m = mem_zero(t->setup.size);

	m->team = t;
	m->number = i + 1;
	m->loop = evloop_new(&m->clock);
	p->member = m;
	bell_open(&p->bell);
	p->rung = evloop_watch(m->loop, p->bell.fd, obey, p);
	evloop_set(p->rung, EVLOOP_READ);
}

struct team *
team_new(const struct team_setup *setup)
{
	struct team		*t = mem_zero(sizeof(*t));
	pthread_condattr_t	 clock;

	t->setup = *setup;
	need(pthread_mutex_init(&t->lock, NULL) == 0);
	need(pthread_condattr_init(&clock) == 0);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	need(pthread_cond_init(&t->changed, &clock) == 0);
	pthread_condattr_destroy(&clock);
	bell_open(&t->bell);
	t->rung = evloop_watch(setup->loop, t->bell.fd, marked, t);
	evloop_set(t->rung, EVLOOP_READ);
	t->posts = mem_array(setup->members, sizeof(t->posts[0]));
	for (unsigned i = 0; i < setup->members; i++)
		open_post(t, i);
	return t;
}

struct member *
team_member(const struct team *t, unsigned i)
{
	return t->posts[i].member;
}

/* Signals are for main's thread, but for those that a fault causes. */
static void
block_signals(sigset_t *before)
{
	static const int	faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
				    SIGABRT, SIGSYS, SIGTRAP };
	sigset_t		most;

	sigfillset(&most);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&most, faults[i]);
	pthread_sigmask(SIG_SETMASK, &most, before);
}

void
team_start(struct team *t)
{
	pthread_attr_t	attr;
	sigset_t	before;

	need(pthread_attr_init(&attr) == 0);
	need(pthread_attr_setstacksize(&attr, STACK) == 0);
	block_signals(&before);
	for (unsigned i = 0; i < t->setup.members; i++) {
		errno = pthread_create(&t->posts[i].thread, &attr, be_member,
		    &t->posts[i]);
		if (errno != 0)
			fatal("thread %u of %u cannot be started", i + 1,
			    t->setup.members);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	need(pthread_mutex_lock(&t->lock) == 0);
	while (t->running < t->setup.members)
		pthread_cond_wait(&t->changed, &t->lock);
	need(pthread_mutex_unlock(&t->lock) == 0);
}

static void
tell(struct post *p, enum team_order order)
{
	atomic_fetch_or(&p->orders, 1U << order);
	bell_ring(&p->bell);
}

void
team_tell(struct team *t, enum team_order order)
{
	for (unsigned i = 0; i < t->setup.members; i++)
		tell(&t->posts[i], order);
}

void
team_tell_one(const struct member *m, enum team_order order)
{
	tell(&m->team->posts[m->number - 1], order);
}

static bool
await_end(struct team *t)
{
	struct timespec	until;
	bool		all;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PARTING / 1000;
	need(pthread_mutex_lock(&t->lock) == 0);
	while (t->ended < t->setup.members &&
	    pthread_cond_timedwait(&t->changed, &t->lock, &until) == 0)
		continue;
	all = t->ended == t->setup.members;
	need(pthread_mutex_unlock(&t->lock) == 0);
	return all;
}

bool
team_end(struct team *t)
{
	team_tell(t, TEAM_END);
	if (!await_end(t))
		return false;
	for (unsigned i = 0; i < t->setup.members; i++)
		need(pthread_join(t->posts[i].thread, NULL) == 0);
	return true;
}

bool
team_end_or_leave(struct team *t)
{
	bool	all = team_end(t);

	for (unsigned i = 0; !all && i < t->setup.members; i++)
		need(pthread_detach(t->posts[i].thread) == 0);
	return all;
}

void
team_free(struct team **tp)
{
	struct team	*t = *tp;

	for (unsigned i = 0; i < t->setup.members; i++) {
		evloop_unwatch(&t->posts[i].rung);
		bell_close(&t->posts[i].bell);
		evloop_free(&t->posts[i].member->loop);
		free(t->posts[i].member);
	}
	free(t->posts);
	evloop_unwatch(&t->rung);
	bell_close(&t->bell);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	mem_drop(tp);
}
