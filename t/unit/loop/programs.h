/*
 * programs: the program manager, the loop and the connection, as tests of
 * loop/backends stand in for them.
 *
 * The loop is the test's own: so it is certain which event comes first, and a
 * second passes at once.  So is the connection that waits.
 */
#ifndef T_UNIT_LOOP_PROGRAMS_H
#define T_UNIT_LOOP_PROGRAMS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/mem.h"
#include "loop/backends.h"
#include "loop/clients_private.h"
#include "loop/held.h"
#include "shared/program_message.h"
#include "t/unit/unit.h"

#define WATCHES		256
#define MOST		100		/* backends */
#define HELD		(96 * 1024)	/* bytes of all, beyond HELD_MIN */
#define EXITED(n)	((n) << 8)	/* statuses as of waitpid(2) */
#define KILLED		SIGKILL

struct watch {
	int		  fd;		/* -1: a timer */
	enum evloop_event event;
	int64_t		  due;		/* clock ms; 0: not armed */
	void		 (*callback)(void *);
	void		 *context;
};

static struct clock	 now;
static struct watch	*watches[WATCHES];
static struct mail	*mail;		/* to the driver's thread */
static struct backends	 driver;
static int		 manager;	/* its end */
static int		 request;	/* the manager's end of the last one */
static int		 output;	/* the program's end */
static struct backend	*backend;
static struct client	 waiter;
static int		 woken;
static bool		 ends_at_wake;
static int		 lowest;	/* descriptor that was free */

/*
 * The loop and the connection
 */

static struct watch *
add_watch(int fd, void (*callback)(void *), void *context)
{
	struct watch	*w = mem_zero(sizeof(*w));

	*w = (struct watch){ .fd = fd, .callback = callback,
	    .context = context };
	for (int i = 0; i < WATCHES; i++)
		if (watches[i] == NULL)
			return watches[i] = w;
	ck_abort();
}

struct watch *
evloop_watch(struct evloop *l, int fd, void (*callback)(void *), void *context)
{
	(void)l;
	return add_watch(fd, callback, context);
}

struct watch *
evloop_timer(struct evloop *l, void (*callback)(void *), void *context)
{
	(void)l;
	return add_watch(-1, callback, context);
}

void
evloop_redirect(struct watch *w, void (*callback)(void *), void *context)
{
	w->callback = callback;
	w->context = context;
}

void
evloop_unwatch(struct watch **wp)
{
	if (*wp == NULL)
		return;
	for (int i = 0; i < WATCHES; i++)
		if (watches[i] == *wp)
			watches[i] = NULL;
	mem_drop(wp);
}

void
evloop_set(struct watch *w, enum evloop_event event)
{
	w->event = event;
}

void
evloop_arm(struct watch *w, int64_t when)
{
	w->due = when;
}

void
evloop_cancel(struct watch *w)
{
	w->due = 0;
}

void
mailbox_post(struct mailbox *q, struct mail *m)
{
	(void)q;
	mail = m;
}

void
mailbox_deliver(struct mailbox *q)
{
	struct mail	*m = mail;

	(void)q;
	mail = NULL;
	if (m != NULL)
		m->deliver(m);
}

void
clients_wake(struct client *c, enum outcome outcome)
{
	ck_assert_ptr_eq(c, &waiter);
	ck_assert_int_eq(outcome, OUTCOME_READY);
	backend->waiter = NULL;
	woken++;
	if (ends_at_wake)
		driver.end(&backend);
}

void
clients_finish_task(struct task *e)
{
	e->complete(e);
	e->free(e);
}

static bool
is_ready(const struct watch *w)
{
	struct pollfd	p = { .fd = w->fd, .events = w->event == EVLOOP_READ ?
			    POLLIN : POLLOUT };

	return w->event != EVLOOP_NONE && poll(&p, 1, 0) == 1;
}

/* Handles what there is; the last watch first, or the first one. */
static bool
turn(bool last_first)
{
	struct watch	*w;

	for (int i = 0; i < WATCHES; i++) {
		w = watches[last_first ? WATCHES - 1 - i : i];
		if (w == NULL || !is_ready(w))
			continue;
		w->callback(w->context);
		return true;
	}
	return false;
}

static void
settle(void)
{
	while (turn(false))
		continue;
}

static void
pass(int64_t ms)
{
	struct watch	*w;

	now.ms += ms;
	for (int i = 0; i < WATCHES; i++) {
		w = watches[i];
		if (w == NULL || w->due == 0 || w->due > now.ms)
			continue;
		w->due = 0;
		w->callback(w->context);
	}
}

/*
 * Manager and program
 */

static void
begin(void)
{
	int	ends[2];

	lowest = dup(0);
	close(lowest);
	now.ms = 1000000;
	woken = 0;
	ends_at_wake = false;
	request = output = -1;
	ck_assert_int_eq(io_record_pipe(ends), 0);
	manager = ends[1];
	backends_open(&driver, NULL, &now, &ends[0], 1, MOST, HELD);
}

static void
end(void)
{
	int	fd;

	if (backend != NULL) {
		backend->waiter = NULL;
		driver.end(&backend);
	}
	ck_assert_uint_eq(backends_count(&driver), 0);
	backends_close(&driver);
	io_close(&manager);
	io_close(&request);
	io_close(&output);
	for (int i = 0; i < WATCHES; i++)
		ck_assert_ptr_null(watches[i]);
	ck_assert_int_eq(fd = dup(0), lowest);
	close(fd);
}

static struct program_start
take_any_start(void)
{
	static char		buffer[PROGRAM_MESSAGE_MAX];
	struct program_start	start;

	io_close(&request);
	ck_assert_int_eq(program_message_recv_start(manager, buffer, &start,
	    &request), 1);
	return start;
}

static void
report(enum program_report_kind kind, int number, int fd)
{
	const struct program_report	r = {
		.kind = kind, .status = number, .error = number,
		.retry_after = (uint32_t)number,
	};

	ck_assert_int_eq(program_message_send_report(request, &r, fd), 0);
}

/* Whether the manager sees that the request has no use for its program. */
static bool
is_dropped(void)
{
	struct program_report	r;
	int			fd;

	return program_message_recv_report(request, &r, &fd) == 0;
}

static void
check_output(const char *text)
{
	ck_assert_uint_eq(backend->len, strlen(text));
	ck_assert(backend->len == 0 ||
	    memcmp(backend->at, text, backend->len) == 0);
}

static void
check_runs(void)
{
	ck_assert_int_eq(backend->end, BACKEND_RUNS);
	ck_assert(!is_dropped());
}

#endif
