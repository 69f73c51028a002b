/*
 * reload: a child reads the conf, then the monitor does; then a main is started
 * by it, and the one before is told to drain.
 *
 * Whatever fails on that way leaves all as it was.
 */
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/listener.h"
#include "conf.h"
#include "fence.h"
#include "lib/buf.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor_private.h"

#define READING		30000	/* ms for the conf, and all that it names */
#define COMING		30000	/* ms for the new main to serve */
#define DRAINING_MOST	16	/* mains; more would wait for nothing else */
#define GOOD		2	/* said in place of a kind of log */

/* What the child says; beside it a log, but at the end. */
struct news {
	uint64_t	kind;
	uint64_t	name;		/* of the log's file, a hash */
};

void
reload_init(struct reading *g)
{
	*g = (struct reading){ .pipe = -1, .logs = { -1, -1 } };
}

static uint64_t
hash_name(const char *name)
{
	static const struct hash_key	key;

	return hash_bytes(&key, 0, name, strlen(name));
}

/* Each line as -t has it, but in the error log. */
static void
complain(struct buf *complaints)
{
	char	*rest = complaints->at, *line;

	while (rest != NULL && *rest != '\0') {
		line = strsep(&rest, "\n");
		log_errorx("%s", line);
	}
}

/* A reign by the conf, without sockets and logs; NULL after some lines. */
static struct reign *
read_conf(const struct monitor *m)
{
	struct buf	 complaints = { 0 };
	struct conf	*conf = conf_read(m->setup->file, &complaints);
	struct reign	*r = NULL;

	buf_string(&complaints);
	if (conf == NULL)
		complain(&complaints);
	else {
		if (m->setup->architecture != -1)
			conf->architecture = m->setup->architecture;
		r = reign_new(conf);
	}
	buf_free(&complaints);
	if (r != NULL && (fence_check(r->conf) == -1 ||
	    reign_choose_user(r) == -1))
		reign_free(&r);
	return r;
}

static bool
is_unchanged(const struct monitor *m, const char *file, enum log_kind kind)
{
	const char	*before = logs_name(m->serving, kind);

	return before != NULL && strcmp(file, before) == 0;
}

static int
send_news(int pipe, uint64_t kind, uint64_t name, int log)
{
	struct news	news = { kind, name };
	struct iovec	iov = { &news, sizeof(news) };

	return io_send_record(pipe, &iov, 1, log);
}

/* 0, or -1 after a line.  One that is open already may stay that. */
static int
send_log(struct monitor *m, const struct reign *r, enum log_kind kind, int pipe)
{
	const char	*file = logs_name(r, kind);
	int		 log;

	if (logs_target(file) != LOGS_FILE)
		return 0;
	log = logs_open(file);
	if (log == -1 && is_unchanged(m, file, kind)) {
		log_warn("cannot open the log %s again, going on with the one "
		    "that is open", file);
		return 0;
	}
	if (log == -1) {
		log_error("cannot open the log %s; another one is named in "
		    "block log", file);
		return -1;
	}
	logs_hold(&log);
	return send_news(pipe, (uint64_t)kind, hash_name(file), log);
}

static _Noreturn void
be_reader(struct monitor *m, int pipe)
{
	struct reign	*r;

	proc_title("amped: reader");
	proc_signals_unblock();
	r = read_conf(m);
	if (r != NULL && send_log(m, r, LOG_ACCESS, pipe) == 0 &&
	    send_log(m, r, LOG_ERRORS, pipe) == 0)
		send_news(pipe, GOOD, 0, -1);
	_exit(0);
}

static bool
is_busy(const struct monitor *m)
{
	const struct reign	*r;
	int			 draining = 0;

	TAILQ_FOREACH(r, &m->reigns, link) {
		draining += r->state == REIGN_DRAINING;
		if (r->state == REIGN_COMING)
			return true;
	}
	return m->reading.pid != 0 || draining >= DRAINING_MOST;
}

void
reload_begin(struct monitor *m)
{
	struct reading	*g = &m->reading;
	int		 pipe = -1;

	g->due = is_busy(m);
	if (g->due || m->ending != 0)
		return;
	log_info("reading the conf again");
	g->reopen = false;
	g->pid = spawn(m, NULL, ROLE_READER, &pipe);
	if (g->pid == 0)
		be_reader(m, pipe);
	g->pipe = pipe;
	if (g->pid == -1) {
		log_error("cannot read the conf again, as no process can be "
		    "started for it");
		g->pid = 0;
		return;
	}
	children_add(&m->children, g->pid, ROLE_READER, 0, g->pipe);
	g->deadline = monitor_now() + READING;
}

static void
end_reading(struct monitor *m)
{
	struct reading	*g = &m->reading;

	if (g->pid != 0)
		children_give_up(&m->children, g->pid);
	g->pid = 0;
	io_close(&g->pipe);
}

static void
drop_logs(struct reading *g)
{
	io_close(&g->logs[LOG_ACCESS]);
	io_close(&g->logs[LOG_ERRORS]);
}

static void
stay(struct monitor *m)
{
	end_reading(m);
	drop_logs(&m->reading);
	log_errorx("going on with the conf before");
}

/* What the child has opened, or what is open already; -1 with errno 0: as
 * before. */
static int
choose_file(struct monitor *m, const char *file, enum log_kind kind)
{
	struct reading	*g = &m->reading;
	int		 log = g->logs[kind];

	if (log != -1 && g->names[kind] == hash_name(file)) {
		g->logs[kind] = -1;
		return log;
	}
	if (!is_unchanged(m, file, kind)) {
		errno = ESTALE;
		return -1;
	}
	return kind == LOG_ERRORS ? -1 : fcntl(m->serving->access,
	    F_DUPFD_CLOEXEC, 3);
}

/* Which log a reign has, to be its own; -1 with errno 0: none, or as before. */
static int
choose_log(struct monitor *m, struct reign *r, enum log_kind kind)
{
	const char		*name = logs_name(r, kind);
	enum logs_target	 target = logs_target(name);

	errno = 0;
	if (target == LOGS_FILE)
		return choose_file(m, name, kind);
	if (target == LOGS_PROGRAM)
		return programs_log(m, r, name);
	if (target == LOGS_NOWHERE ||
	    (target == LOGS_SYSLOG && kind == LOG_ACCESS))
		return -1;
	/* Last words go there, and nothing of syslog's. */
	return fcntl(m->setup->standard, F_DUPFD_CLOEXEC, 3);
}

static bool
choose_logs(struct monitor *m, struct reign *r)
{
	r->access = choose_log(m, r, LOG_ACCESS);
	if (r->access == -1 && errno != 0)
		return false;
	r->error = choose_log(m, r, LOG_ERRORS);
	return r->error != -1 || errno == 0;
}

/* The child has found the conf fine; but it may have changed since. */
static void
take(struct monitor *m)
{
	const struct listeners	 before = { m->serving->conf,
				    m->serving->listeners,
				    m->serving->nlisteners };
	struct reign		*r = read_conf(m);

	if (r == NULL) {
		stay(m);
		return;
	}
	if (!choose_logs(m, r)) {
		log_notice("the conf has changed while it was read: once more");
		reign_free(&r);
		drop_logs(&m->reading);
		m->reading.due = true;
		return;
	}
	r->listeners = listener_open(r->conf, &before, &r->nlisteners);
	if (r->listeners == NULL) {
		reign_free(&r);
		stay(m);
		return;
	}
	drop_logs(&m->reading);
	TAILQ_INSERT_TAIL(&m->reigns, r, link);
	mains_begin(m, r);
	r->due = monitor_now() + COMING;
	if (r->main == 0)
		mains_died(m, r, "could not be started");
}

void
reload_heard(struct monitor *m)
{
	struct reading	*g = &m->reading;
	struct news	 news;
	int		 log = -1;
	ssize_t		 n = io_recv_record(g->pipe, &news, sizeof(news), &log);

	if (n == (ssize_t)sizeof(news) && news.kind < GOOD && log != -1) {
		io_close(&g->logs[news.kind]);
		g->logs[news.kind] = log;
		g->names[news.kind] = news.name;
		return;
	}
	io_close(&log);
	if (n == (ssize_t)sizeof(news) && news.kind == GOOD) {
		end_reading(m);
		take(m);
	} else
		stay(m);
}

void
reload_look(struct monitor *m)
{
	struct reading	*g = &m->reading;

	if (g->pid != 0 && monitor_now() >= g->deadline) {
		log_errorx("the conf cannot be read: a file system that it "
		    "names does not answer");
		kill(g->pid, SIGKILL);
		stay(m);
	}
	if (g->due && !is_busy(m))
		reload_begin(m);
}

void
reload_done(struct monitor *m, struct reign *r)
{
	struct reign	*before = m->serving;

	m->serving = r;
	r->state = REIGN_SERVING;
	r->due = 0;
	log_init("monitor", (enum log_grade)r->conf->log.error_grade);
	if (r->error != -1) {
		io_close(&m->setup->error);
		m->setup->error = r->error;
		r->error = -1;
		scribes_replace(m);
	}
	mains_drain(m, before);
	if (m->reading.reopen)
		logs_reopen(m);
	m->reading.reopen = false;
}

void
reload_failed(struct monitor *m, const char *how)
{
	log_errorx("the new main %s before it served; what it said stands "
	    "above", how);
	stay(m);
}

void
reload_meets_reopen(struct monitor *m)
{
	const struct reign	*r;

	m->reading.reopen = m->reading.pid != 0;
	TAILQ_FOREACH(r, &m->reigns, link)
		if (r->state == REIGN_COMING)
			m->reading.reopen = true;
}

void
reload_forget(struct monitor *m)
{
	if (m->reading.pid != 0)
		kill(m->reading.pid, SIGKILL);
	end_reading(m);
	drop_logs(&m->reading);
	m->reading.due = false;
}
