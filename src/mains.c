/*
 * mains: starts main, gives it its helpers, and starts it again when it dies.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/ledger.h"
#include "arch/listener.h"
#include "arch/mounts.h"
#include "board.h"
#include "control.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor_private.h"

#define BACKOFF_LEAST	50	/* ms before main is started again ... */
#define BACKOFF_MOST	5000	/* ... when it has died young */
#define YOUNG		10000	/* ms */

static _Noreturn void
be_main(struct monitor *m, struct reign *r, int control,
    const struct leftovers *left)
{
	struct world	world = {
		.conf = r->conf,
		.control = control,
		.listeners = r->listeners,
		.nlisteners = r->nlisteners,
		.descriptors = m->setup->descriptors,
		.mounts = r->mounts,
		.ledger = r->ledger,
		.leftovers = left->at,
		.nleftovers = left->count,
		.beat = pulse_between(m, r),
	};

	proc_title("amped: main");
	board_use(r->part);
	log_init("main", (enum log_grade)r->conf->log.error_grade);
	close(m->setup->helper);
	/* The logs are for those who may wait. */
	io_close(&r->access);
	io_close(&r->error);
	io_close(&m->setup->error);
	io_close(&m->setup->standard);
	errors_leave_reading(&m->errors);
	if (io_nonblock(control) == -1)
		fatal("main's pipe");
	exit(arch_of(r->conf)->run(&world));
}

static void
start_main(struct monitor *m, struct reign *r)
{
	struct leftovers	left;
	int			pipe = -1;
	pid_t			pid;

	r->generation = ++m->generation;
	children_left(&m->children, &left);
	pid = spawn(m, r, ROLE_MAIN, &pipe);
	if (pid == 0)
		be_main(m, r, pipe, &left);
	leftovers_free(&left);
	r->due = 0;
	if (pid == -1) {
		log_error("cannot start main");
		r->due = monitor_now() + BACKOFF_MOST;
		return;
	}
	children_add(&m->children, pid, ROLE_MAIN, r->generation, pipe);
	/* However stuck main may be, the monitor is not to wait for it. */
	if (io_nonblock(pipe) == -1)
		fatal("main's pipe");
	r->main = pid;
	r->control = pipe;
	r->born = monitor_now();
}

void
mains_begin(struct monitor *m, struct reign *r)
{
	r->mounts = mounts_new(r->conf);
	/* Those that it has, and those that it has given up. */
	r->ledger = ledger_new(2 * (size_t)r->conf->helpers_max);
	r->part = board_take();
	start_main(m, r);
}

/* Main talks to strangers: it gets no more helpers than the conf allows, even
 * if it asks. */
static bool
enough(const struct monitor *m, const struct reign *r, enum role role)
{
	return children_enough(&m->children, role, r->generation,
	    role == ROLE_LOGGER ? 1 : r->conf->helpers_max);
}

/* A helper for main, at the end of a pipe whose other end goes to it. */
static void
start_helper(struct monitor *m, struct reign *r, enum role role)
{
	enum control	answer = role == ROLE_LOGGER ? CONTROL_LOGGER :
			    CONTROL_HELPER;
	int		pipe = -1;
	pid_t		pid = -1;

	if (enough(m, r, role))
		log_warnx("too many of them to start a %s", role_name(role));
	else {
		pid = spawn(m, r, role, &pipe);
		if (pid == 0)
			spawn_helper(m, r, pipe, role);
		if (pid == -1)
			log_error("cannot start a %s", role_name(role));
		else
			children_add(&m->children, pid, role, r->generation,
			    pipe);
	}
	if (control_send(r->control, answer, pipe) == -1)
		log_warn("main does not take its %s", role_name(role));
	io_close(&pipe);
}

/* Main goes over to any that comes.  If those that it has had have not gone
 * yet, then as soon as one has. */
void
mains_new_logger(struct monitor *m, struct reign *r)
{
	r->logger_due = r->control != -1 && enough(m, r, ROLE_LOGGER);
	if (r->control != -1 && !r->logger_due)
		start_helper(m, r, ROLE_LOGGER);
}

static void
announce(struct monitor *m, const struct reign *r)
{
	struct monitor_setup	*setup = m->setup;
	char			 url[128];

	for (size_t i = 0; i < r->nlisteners; i++) {
		listener_url(&r->listeners[i], url, sizeof(url));
		log_notice("ready: %s on %s", arch_of(r->conf)->name, url);
		if (setup->announce != NULL && !m->announced) {
			fprintf(setup->announce, "serving %s on %s\n",
			    setup->serving, url);
			fflush(setup->announce);
		}
	}
	m->announced = true;
}

/* From here on whoever comes, comes to the main after it. */
static void
closed(struct monitor *m, struct reign *r)
{
	if (r->state != REIGN_DRAINING || r->closed)
		return;
	r->closed = true;
	log_notice("the conf has been read again, and is in force");
	ctl_clients_reloaded(m, r->reading, CTL_VERDICT_OK, NULL);
}

static void
serves(struct monitor *m, struct reign *r)
{
	if (m->ending != 0)
		return;
	announce(m, r);
	if (r->state == REIGN_COMING)
		reload_done(m, r);
	upgrade_serves(m);
}

/* Of its own will, with all said and done; SIGCHLD comes, or not: the files
 * that it had open may be on a file system that does not answer, and then the
 * kernel does not let it go. */
static void
main_ends(struct monitor *m, struct reign *r)
{
	io_close(&r->control);
	if (m->ending == 0) {
		r->due = monitor_now() + KILLED;
		return;
	}
	children_kill_helpers(&m->children, r->generation);
	children_give_up(&m->children, r->main);
}

void
mains_speak(struct monitor *m, struct reign *r)
{
	enum control	message;
	int		fd = -1, n;

	n = control_recv(r->control, &message, &fd);
	if (n == 1 && message == CONTROL_READY)
		serves(m, r);
	else if (n == 1 && message == CONTROL_DRAINS)
		closed(m, r);
	else if (n == 1 && message == CONTROL_ALIVE)
		pulse_beat(m, r);
	else if (n == 1 && message == CONTROL_WANT_HELPER)
		start_helper(m, r, ROLE_HELPER);
	else if (n == 1 && message == CONTROL_WANT_LOGGER)
		start_helper(m, r, ROLE_LOGGER);
	else if (n == 1 && message == CONTROL_END_HELPER)
		children_end_helper(&m->children, fd);
	else if (n == 0 || (n == -1 && errno != EINTR && errno != EAGAIN))
		main_ends(m, r);
	io_close(&fd);
}

/* The first time at once. */
static void
start_again(struct reign *r)
{
	int64_t	now = monitor_now();

	r->backoff = now - r->born >= YOUNG || r->backoff == 0 ?
	    BACKOFF_LEAST : r->backoff * 2;
	if (r->backoff > BACKOFF_MOST)
		r->backoff = BACKOFF_MOST;
	r->due = r->backoff == BACKOFF_LEAST ? now : now + r->backoff;
}

static void
drop(struct monitor *m, struct reign *r)
{
	closed(m, r);
	TAILQ_REMOVE(&m->reigns, r, link);
	reign_free(&r);
}

void
mains_died(struct monitor *m, struct reign *r, const char *how)
{
	r->main = 0;
	pulse_end(r);
	io_close(&r->control);
	/* Theirs is over as well, and some may not notice by themselves. */
	children_kill_helpers(&m->children, r->generation);
	children_keep_lanes(&m->children, r->generation, r->ledger);
	board_keep(r->part);
	if (m->ending != 0)
		return;
	switch (r->state) {
	case REIGN_SERVING:
		stats[STATS_MAIN_DEATHS]++;
		if (upgrade_is_tried(m)) {
			log_errorx("main %s before it served", how);
			m->status = EX_SOFTWARE;
			monitor_end(m, SIGTERM);
			break;
		}
		start_again(r);
		log_errorx("main %s; starting another", how);
		break;
	case REIGN_COMING:
		drop(m, r);
		reload_failed(m, how);
		break;
	case REIGN_DRAINING:
		drop(m, r);
		log_info("the main before %s", how);
		break;
	}
}

void
mains_drain(struct monitor *m, struct reign *r)
{
	r->state = REIGN_DRAINING;
	pulse_end(r);
	reign_close_doors(r);
	r->due = monitor_now() + r->conf->limits.drain + GRACE;
	if (r->main != 0)
		kill(r->main, SIGQUIT);
	else
		drop(m, r);
}

/* What does not end is left to itself, for it may be in the kernel. */
static void
give_up(struct monitor *m, struct reign *r)
{
	if (r->state != REIGN_SERVING) {
		kill(r->main, SIGKILL);
		children_give_up(&m->children, r->main);
	}
	mains_died(m, r, r->state == REIGN_COMING ? "did not answer" :
	    "does not end");
}

static void
look(struct monitor *m, struct reign *r)
{
	if (r->logger_due)
		mains_new_logger(m, r);
	pulse_look(m, r);
	if (r->due == 0 || monitor_now() < r->due)
		return;
	if (r->main == 0)
		start_main(m, r);
	else
		give_up(m, r);
}

void
mains_look(struct monitor *m)
{
	struct reign	*r, *next;

	for (r = TAILQ_FIRST(&m->reigns); r != NULL; r = next) {
		next = TAILQ_NEXT(r, link);
		look(m, r);
	}
}

struct reign *
mains_find(struct monitor *m, pid_t main)
{
	struct reign	*r;

	TAILQ_FOREACH(r, &m->reigns, link)
		if (r->main == main)
			break;
	return r;
}

struct reign *
mains_number(struct monitor *m, unsigned number)
{
	struct reign	*r;

	TAILQ_FOREACH(r, &m->reigns, link)
		if (r->number == number)
			break;
	return r;
}
