/*
 * events: sources and timers in lists, signals as bytes in a pipe.
 *
 * Signals come through a pipe, so that poll(2) is the only place to wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/events.h"

#define NO_TIMEOUT	(-1)

static TAILQ_HEAD(, source)	sources = TAILQ_HEAD_INITIALIZER(sources);
static TAILQ_HEAD(, timer)	timers = TAILQ_HEAD_INITIALIZER(timers);
static struct source		signals = { .fd = -1 };
static int			signals_to = -1;	/* writing end */
static void			(*handle_signal)(int);

void
events_add(struct source *s, int fd, void (*on_readable)(void *),
    void *context)
{
	*s = (struct source){ .fd = fd, .wait = EVENTS_INPUT,
	    .on_readable = on_readable, .context = context };
	TAILQ_INSERT_TAIL(&sources, s, link);
}

int
events_release(struct source *s)
{
	int	fd = s->fd;

	if (fd != -1)
		TAILQ_REMOVE(&sources, s, link);
	s->fd = -1;
	return fd;
}

void
events_close(struct source *s)
{
	int	fd = events_release(s);

	io_close(&fd);
}

void
events_unset(struct timer *t)
{
	if (t->at != 0)
		TAILQ_REMOVE(&timers, t, link);
	t->at = 0;
}

void
events_set(struct timer *t, int64_t ms, void (*on_time)(void *), void *context)
{
	events_unset(t);
	*t = (struct timer){ .at = clock_ms() + ms, .on_time = on_time,
	    .context = context };
	TAILQ_INSERT_TAIL(&timers, t, link);
}

static void
on_signal(int signo)
{
	unsigned char	byte = (unsigned char)signo;
	int		saved = errno;

	/* A full pipe wakes the monitor as well. */
	if (write(signals_to, &byte, 1) == -1)
		errno = saved;
	errno = saved;
}

static void
read_signals(void *unused)
{
	unsigned char	byte;

	(void)unused;
	while (read(signals.fd, &byte, 1) == 1)
		handle_signal(byte);
}

void
events_catch_signals(void (*handle)(int))
{
	static const int	caught[] = { SIGTERM, SIGINT, SIGQUIT, SIGCHLD,
				    SIGHUP, SIGUSR1, SIGUSR2 };
	struct sigaction	sa = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };
	int			pipe[2];

	if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == -1)
		fatal("no pipe for signals");
	signals_to = pipe[1];
	handle_signal = handle;
	events_add(&signals, pipe[0], read_signals, NULL);
	/* Of signals that come at once, the lowest number's byte is first:
	 * SIGTERM to the whole process group before the SIGCHLD of a child that
	 * SIGTERM has ended. */
	sigfillset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	proc_signals_unblock();
}

static struct timer *
find_first_timer(void)
{
	struct timer	*t, *first = NULL;

	TAILQ_FOREACH(t, &timers, link)
		if (first == NULL || t->at < first->at)
			first = t;
	return first;
}

/* Returns the timeout for poll(2). */
static int
get_timeout(void)
{
	const struct timer	*t = find_first_timer();
	int64_t			 left = t != NULL ? t->at - clock_ms() : 0;

	return t == NULL ? NO_TIMEOUT : left < 0 ? 0 :
	    left < INT32_MAX ? (int)left : INT32_MAX;
}

/* Fills an array that is kept from call to call; returns how many. */
static nfds_t
collect_polls(struct pollfd **polls)
{
	static struct pollfd	*all;
	static nfds_t		 capacity;
	const struct source	*s;
	nfds_t			 n = 0;

	TAILQ_FOREACH(s, &sources, link) {
		if (n == capacity) {
			capacity = capacity * 2 + 8;
			all = mem_grow(all, capacity, sizeof(*all));
		}
		all[n].fd = s->wait == EVENTS_NOTHING ? -1 : s->fd;
		all[n].revents = 0;
		all[n++].events = s->wait == EVENTS_INPUT ? POLLIN : 0;
	}
	*polls = all;
	return n;
}

/* Handles one source for each poll(2), since a function may remove another one.
 * The source goes to the end of the list: all have their turn. */
static void
handle_one(const struct pollfd *polls)
{
	struct source	*s;

	TAILQ_FOREACH(s, &sources, link)
		if ((polls++)->revents != 0)
			break;
	if (s == NULL)
		return;
	TAILQ_REMOVE(&sources, s, link);
	TAILQ_INSERT_TAIL(&sources, s, link);
	s->on_readable(s->context);
}

void
events_run_once(void)
{
	struct pollfd	*polls;
	struct timer	*t;
	nfds_t		 n = collect_polls(&polls);
	int64_t		 now;

	if (poll(polls, n, get_timeout()) > 0)
		handle_one(polls);
	now = clock_ms();
	while ((t = find_first_timer()) != NULL && t->at <= now) {
		events_unset(t);
		t->on_time(t->context);
	}
}

void
events_sleep(int64_t ms)
{
	struct pollfd	p = { .fd = signals.fd, .events = POLLIN };
	unsigned char	byte;

	poll(&p, 1, (int)ms);
	while (read(p.fd, &byte, 1) == 1)
		;
}

void
events_leave(void)
{
	while (!TAILQ_EMPTY(&sources))
		events_close(TAILQ_FIRST(&sources));
	TAILQ_INIT(&timers);
	io_close(&signals_to);
}
