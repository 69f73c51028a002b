/*
 * threads: starts threads, sends them commands, and waits for their end.
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

/* There may be many threads, and none needs much: some paths, a part of a
 * file. */
#define STACK_SIZE	(512 * 1024)	/* bytes */
#define END_TIMEOUT	1000		/* ms, for threads to end */

struct inbox {				/* a thread's, in main */
	struct loop_thread	*owner;
	pthread_t		 thread;
	struct wakeup		 wakeup;
	struct watch		*watch;
	atomic_uint		 commands;	/* a bit for each command */
};

struct threads {
	struct threads_setup	 setup;
	struct inbox		*inboxes;
	struct wakeup		 wakeup;		/* main's */
	struct watch		*watch;
	atomic_uint		 acks[THREADS_ACK_COUNT];	/* of threads */
	bool			 reported[THREADS_ACK_COUNT];	/* on_ack() */
	pthread_attr_t		 spawned;	/* of threads_spawn() */
	pthread_mutex_t		 lock;		/* of running */
	pthread_cond_t		 changed;	/* running */
	unsigned		 running;	/* threads */
	atomic_bool		 ending;	/* threads_end() was called */
};

static void
run_commands(void *context)
{
	struct inbox	*p = context;
	struct threads	*t = p->owner->threads;
	unsigned	 commands;

	wakeup_reset(&p->wakeup);
	commands = atomic_exchange(&p->commands, 0);
	for (int i = 0; i < THREADS_END; i++)
		if ((commands & 1U << i) != 0)
			t->setup.on_command(p->owner, (enum threads_command)i);
	if ((commands & 1U << THREADS_END) != 0)
		evloop_stop(p->owner->loop);
}

/* In main's loop. */
static void
report_acks(void *context)
{
	struct threads	*t = context;

	wakeup_reset(&t->wakeup);
	for (int i = 0; i < THREADS_ACK_COUNT; i++)
		if (t->acks[i] == t->setup.at_once && !t->reported[i]) {
			t->reported[i] = true;
			t->setup.on_ack(t->setup.context, (enum threads_ack)i);
		}
}

void
threads_ack(struct loop_thread *m, enum threads_ack ack)
{
	struct threads	*t = m->threads;

	if ((m->acked & 1U << ack) != 0)
		return;
	m->acked |= 1U << ack;
	if (atomic_fetch_add(&t->acks[ack], 1) + 1 == t->setup.at_once)
		wakeup_set(&t->wakeup);
}

static void
count_running(struct threads *t, int more)
{
	need(pthread_mutex_lock(&t->lock) == 0);
	t->running = (unsigned)((int)t->running + more);
	pthread_cond_signal(&t->changed);
	need(pthread_mutex_unlock(&t->lock) == 0);
}

static void *
thread_main(void *context)
{
	struct inbox		*p = context;
	struct loop_thread	*m = p->owner;
	struct threads		*t = m->threads;

	scoreboard_attach_thread(m->number);
	count_running(t, 1);
	evloop_run(m->loop);
	count_running(t, -1);
	return NULL;
}

/* After on_ended() the record may be another thread's. */
static void *
spawned_main(void *context)
{
	struct loop_thread	*m = context;
	struct threads		*t = m->threads;

	scoreboard_attach_thread(m->number);
	t->setup.on_spawned(m);
	evloop_run(m->loop);
	t->setup.on_ended(m);
	count_running(t, -1);
	return NULL;
}

bool
threads_spawn(struct loop_thread *m)
{
	struct threads	*t = m->threads;
	pthread_t	 thread;

	/* Before it runs: else all might seem to have ended. */
	count_running(t, 1);
	errno = pthread_create(&thread, &t->spawned, spawned_main, m);
	if (errno != 0)
		count_running(t, -1);
	return errno == 0;
}

static void
open_thread(struct threads *t, unsigned i)
{
	struct inbox		*p = &t->inboxes[i];
	struct loop_thread	*m = mem_zero(t->setup.size);

	m->threads = t;
	m->number = i + 1;
	m->loop = evloop_new(&m->clock);
	p->owner = m;
	wakeup_open(&p->wakeup);
	p->watch = evloop_watch(m->loop, p->wakeup.fd, run_commands, p);
	evloop_set(p->watch, EVLOOP_READ);
}

struct threads *
threads_new(const struct threads_setup *setup)
{
	struct threads		*t = mem_zero(sizeof(*t));
	pthread_condattr_t	 clock;

	t->setup = *setup;
	need(pthread_attr_init(&t->spawned) == 0);
	need(pthread_attr_setstacksize(&t->spawned, STACK_SIZE) == 0);
	need(pthread_attr_setdetachstate(&t->spawned,
	    PTHREAD_CREATE_DETACHED) == 0);
	need(pthread_mutex_init(&t->lock, NULL) == 0);
	need(pthread_condattr_init(&clock) == 0);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	need(pthread_cond_init(&t->changed, &clock) == 0);
	pthread_condattr_destroy(&clock);
	wakeup_open(&t->wakeup);
	t->watch = evloop_watch(setup->loop, t->wakeup.fd, report_acks, t);
	evloop_set(t->watch, EVLOOP_READ);
	t->inboxes = mem_array(setup->count, sizeof(t->inboxes[0]));
	for (unsigned i = 0; i < setup->count; i++)
		open_thread(t, i);
	return t;
}

struct loop_thread *
threads_get(const struct threads *t, unsigned i)
{
	return t->inboxes[i].owner;
}

/* Leaves signals to main's first thread, except those of a thread's own
 * faults. */
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
threads_start(struct threads *t)
{
	pthread_attr_t	attr;
	sigset_t	before;

	need(pthread_attr_init(&attr) == 0);
	need(pthread_attr_setstacksize(&attr, STACK_SIZE) == 0);
	block_signals(&before);
	for (unsigned i = 0; i < t->setup.at_once; i++) {
		errno = pthread_create(&t->inboxes[i].thread, &attr,
		    thread_main, &t->inboxes[i]);
		if (errno != 0)
			fatal("thread %u of %u cannot be started", i + 1,
			    t->setup.at_once);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	need(pthread_mutex_lock(&t->lock) == 0);
	while (t->running < t->setup.at_once)
		pthread_cond_wait(&t->changed, &t->lock);
	need(pthread_mutex_unlock(&t->lock) == 0);
}

static void
send_command(struct inbox *p, enum threads_command command)
{
	atomic_fetch_or(&p->commands, 1U << command);
	wakeup_set(&p->wakeup);
}

void
threads_send(struct threads *t, enum threads_command command)
{
	for (unsigned i = 0; i < t->setup.count; i++)
		send_command(&t->inboxes[i], command);
}

void
threads_send_one(const struct loop_thread *m, enum threads_command command)
{
	send_command(&m->threads->inboxes[m->number - 1], command);
}

bool
threads_are_ending(const struct loop_thread *m)
{
	return m->threads->ending;
}

static bool
await_end(struct threads *t)
{
	struct timespec	until;
	bool		all;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += END_TIMEOUT / 1000;
	need(pthread_mutex_lock(&t->lock) == 0);
	while (t->running > 0 &&
	    pthread_cond_timedwait(&t->changed, &t->lock, &until) == 0)
		continue;
	all = t->running == 0;
	need(pthread_mutex_unlock(&t->lock) == 0);
	return all;
}

bool
threads_end(struct threads *t)
{
	t->ending = true;
	threads_send(t, THREADS_END);
	if (!await_end(t))
		return false;
	for (unsigned i = 0; i < t->setup.at_once; i++)
		need(pthread_join(t->inboxes[i].thread, NULL) == 0);
	return true;
}

bool
threads_end_or_detach(struct threads *t)
{
	bool	all = threads_end(t);

	for (unsigned i = 0; !all && i < t->setup.at_once; i++)
		need(pthread_detach(t->inboxes[i].thread) == 0);
	return all;
}

void
threads_free(struct threads **tp)
{
	struct threads	*t = *tp;

	for (unsigned i = 0; i < t->setup.count; i++) {
		evloop_unwatch(&t->inboxes[i].watch);
		wakeup_close(&t->inboxes[i].wakeup);
		evloop_free(&t->inboxes[i].owner->loop);
		free(t->inboxes[i].owner);
	}
	free(t->inboxes);
	evloop_unwatch(&t->watch);
	wakeup_close(&t->wakeup);
	pthread_attr_destroy(&t->spawned);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	mem_drop(tp);
}
