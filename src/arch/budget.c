/*
 * budget: adds up the descriptors that are named here and in the conf.
 */
#include <sys/param.h>

#include "arch/arch.h"
#include "arch/budget.h"
#include "conf/divide.h"
#include "lib/buf.h"
#include "lib/log.h"
#include "shared/control.h"

/* Descriptors 0 to 2; pipes for drop counts and error lines; monitor, mounts,
 * pagemap, rules; main's mailbox, wakeups of access log and caches; a new
 * connection before another is evicted, and a file that was just opened; lists
 * of hot names, one written and some read, and a pipe. */
#define FDS_ALWAYS	(3 + 2 + 4 + 3 + 2 + 4)
#define FDS_THREAD	5	/* epoll 1, signals 2, wakeups 2 */
#define FDS_LOGS	2	/* the access logger and the next one */
#define FDS_REQUEST	2	/* its pipe, and the administrator's socket */
/* Root and directory, a link and its target, source and result, and what libc
 * opens to look up a user. */
#define FDS_DISK	8

/* Of a request for a program: the socket of its own, the output, the body. */
#define FDS_PROGRAM	3

#define CLIENTS_MIN	16
#define PROGRAMS_MIN	4
#define PROGRAMS_SHARE	4	/* a quarter of what is not needed */
#define FILES_SHARE	4	/* a quarter of all is for files */

/* Descriptors 0 to 2; amped's own program; pid file; two logs and standard
 * error; pipes for signals, error lines and drop counts; error logger, mounts;
 * rules; control socket; supervisor; a conf checker and a log opener for each
 * log, with their descriptors. */
#define FDS_MONITOR	(3 + 1 + 1 + 3 + 6 + 1 + 2 + 2 + 1 + 1 + 6)
#define GENERATIONS	2	/* the one that serves, and the next */

static size_t
count_part(const struct conf *conf, unsigned mains, size_t listeners,
    enum budget_part part)
{
	const struct arch	*arch = arch_of(conf);
	size_t			 threads = arch_threads(conf);

	switch (part) {
	case BUDGET_LISTENERS:
		return listeners;
	case BUDGET_HELPERS:
		return !arch->helpers ? 0 : 2 * (size_t)conf_divide_number(
		    conf->helpers_max, 0, mains, 1);
	case BUDGET_THREADS:
		return FDS_THREAD * threads;
	case BUDGET_TOKENS:
		return arch_one_client(conf) ? arch_mains(conf) : 0;
	case BUDGET_WORK:
		return arch->helpers ? 0 : FDS_DISK * (threads > 1 ?
		    arch->disk_threads * arch_workers(conf) + 1 : 1);
	case BUDGET_LOGS:
		return FDS_LOGS;
	case BUDGET_REQUESTS:
		return FDS_REQUEST * CONTROL_REQUESTS_MAX;
	default:
		return FDS_ALWAYS;
	}
}

/* How many connections must be possible at once: one for each worker in
 * one-client mode. */
static size_t
min_clients(const struct conf *conf)
{
	size_t	workers = arch_workers(conf);

	return workers > CLIENTS_MIN &&
	    arch_of(conf)->limitations[ARCH_LIMITED_CLIENTS] ? workers :
	    CLIENTS_MIN;
}

/* The programs that a request occupies at most: the one that answers, and
 * filters. */
static size_t
count_of_request(const struct conf *conf)
{
	size_t	n = 0;

	for (size_t i = 0; i < conf->nchains; i++)
		n = MAX(n, conf->chains[i].n);
	return n + 1;
}

/* Returns how many programs may run or be waited for at once, if descriptors
 * suffice.  In a drain, a main with one client at a time accepts all clients
 * that wait for a main. */
static size_t
max_programs(const struct conf *conf)
{
	const struct conf_program	*p;
	size_t				 n = 0;

	for (size_t i = 0; i < conf->nprograms; i++) {
		p = &conf->programs[i];
		n += conf_program_most(p) + (size_t)p->queue;
	}
	return arch_of(conf)->limitations[ARCH_LIMITED_CLIENTS] ?
	    MIN(n, (arch_workers(conf) + CLIENTS_MIN) *
	    count_of_request(conf)) : n;
}

void
budget_make(struct budget *b, const struct conf *conf, unsigned mains,
    size_t listeners, size_t descriptors)
{
	size_t	rest, clients = min_clients(conf), most = max_programs(conf);

	*b = (struct budget){ .sum = 0 };
	for (int i = 0; i < BUDGET_PART_COUNT; i++) {
		b->parts[i] = count_part(conf, mains, listeners,
		    (enum budget_part)i);
		b->sum += b->parts[i];
	}
	b->programs = MIN(most, PROGRAMS_MIN);
	/* A socket and a file for each client. */
	b->min = b->sum + 2 * clients + FDS_PROGRAM * b->programs;
	if (descriptors < b->min)
		descriptors = b->min;
	b->programs = MIN(most, b->programs + (descriptors - b->min) /
	    PROGRAMS_SHARE / FDS_PROGRAM);
	rest = descriptors - b->sum - FDS_PROGRAM * b->programs;
	b->files = descriptors / FILES_SHARE < rest / 2 ?
	    descriptors / FILES_SHARE : rest / 2;
	b->clients = rest - b->files;
}

/* How many descriptors the monitor has open at most, during a reload: for each
 * main a channel and a wakeup, and both ends of each program manager's
 * socket.  A child that is to be an access logger has two of each log, and some
 * numbers below them (helpers/fds.h) that are free. */
static size_t
count_monitor(const struct conf *conf, unsigned mains, size_t listeners)
{
	return FDS_MONITOR + GENERATIONS * (listeners + 2 * (size_t)mains +
	    conf->log.all.ntargets + 2 * conf->nmanagers);
}

static void
log_shortage(const struct budget *b, size_t descriptors)
{
	static const char *const texts[] = {
#define X(id, text) [BUDGET_##id] = text,
		BUDGET_MAIN(X)
#undef X
	};
	struct buf		 list = { 0 };
	size_t			 programs = FDS_PROGRAM * b->programs;

	for (int i = 0; i < BUDGET_PART_COUNT; i++)
		if (b->parts[i] > 0)
			buf_addf(&list, "%zu %s, ", b->parts[i], texts[i]);
	if (programs > 0)
		buf_addf(&list, "%zu for programs, ", programs);
	buf_addf(&list, "%zu for clients and their files",
	    b->min - b->sum - programs);
	log_errorx("the limit of %zu open files is too low: a main needs at "
	    "least %zu, and more for many clients; raise it (ulimit -n): %s",
	    descriptors, b->min, buf_string(&list));
	buf_free(&list);
}

bool
budget_suffices(const struct conf *conf, size_t listeners, size_t descriptors)
{
	unsigned	least = arch_mains_least(conf);
	/* With those that drain as others are enough. */
	unsigned	mains = 2 * arch_mains(conf) - least;
	size_t		monitor = count_monitor(conf, mains, listeners);
	struct budget	b;

	/* Each of a few has more helpers. */
	budget_make(&b, conf, least, listeners, descriptors);
	if (descriptors >= b.min && descriptors >= monitor)
		return true;
	if (descriptors < b.min)
		log_shortage(&b, descriptors);
	else
		log_errorx("the limit of %zu open files is too low: the "
		    "monitor needs at least %zu for a reload with %u mains and "
		    "%zu listening sockets; raise it (ulimit -n)",
		    descriptors, monitor, mains, listeners);
	return false;
}
