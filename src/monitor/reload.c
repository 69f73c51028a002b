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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor/check_roots.h"
#include "monitor/helper_rules.h"
#include "monitor/private.h"
#include "shared/listener.h"
#include "stats/scoreboard.h"

#define READING		30000	/* ms for the conf, and all that it names */
#define COMING		30000	/* ms for the new main to serve */
#define DRAINING_MOST	16	/* mains; more would wait for nothing else */
#define GOOD		2	/* said in place of a kind of log */
#define WRONG		3	/* the same; beside it what was, in a pipe */
#define WRONG_MOST	(60 * 1024)	/* bytes of that, which a pipe takes */
#define TOLD		160		/* bytes of it, for a supervisor */

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

/* For who asked for it, and not only for the log. */
static void
overhear(void *wrong, const char *line, size_t n)
{
	struct buf	*to = wrong;

	if (to->len + n <= WRONG_MOST)
		buf_add(to, line, n);
}

/* Each line as -t has it, but in the error log. */
static void
complain(struct reading *g, struct buf *complaints)
{
	char	*rest = complaints->at, *line;

	g->mistaken = true;
	overhear(&g->wrong, complaints->at, complaints->len);
	log_overhear(NULL, NULL);
	while (rest != NULL && *rest != '\0') {
		line = strsep(&rest, "\n");
		log_errorx("%s", line);
	}
}

/* A generation by the conf, without sockets and logs; NULL after some lines. */
static struct generation *
read_conf(struct monitor *m)
{
	struct buf	 complaints = { 0 };
	struct conf *conf = conf_read_again(m->setup->conf_file, &complaints);
	struct generation	*g = NULL;

	buf_string(&complaints);
	if (conf == NULL)
		complain(&m->reading, &complaints);
	else {
		arch_choose(conf, m->setup->architecture);
		g = generation_new(conf);
	}
	buf_free(&complaints);
	if (g != NULL && (!standard_may_be_used(&m->setup->standard, g->conf) ||
	    fence_check(g->conf) == -1 ||
	    generation_choose_user(g) == -1))
		generation_free(&g);
	return g;
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
send_log(
    struct monitor *m, const struct generation *g, enum log_kind kind, int pipe)
{
	const char	*file = logs_name(g, kind);
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
	logs_use_handle(&log);
	return send_news(pipe, (uint64_t)kind, hash_name(file), log);
}

/* Its name says whether the conf itself was wrong. */
static void
send_wrong(const struct reading *g, int pipe)
{
	int	lines[2];

	if (pipe2(lines, O_CLOEXEC | O_NONBLOCK) == -1)
		return;
	if (write(lines[1], g->wrong.at, g->wrong.len) != -1)
		send_news(pipe, WRONG, g->mistaken, lines[0]);
}

static _Noreturn void
be_reader(struct monitor *m, int pipe)
{
	struct generation	*g;

	proc_title("amped: reader");
	proc_signals_unblock();
	log_overhear(overhear, &m->reading.wrong);
	g = read_conf(m);
	if (g != NULL)
		roots_check(g);
	if (g != NULL && send_log(m, g, LOG_ACCESS, pipe) == 0 &&
	    send_log(m, g, LOG_ERRORS, pipe) == 0)
		send_news(pipe, GOOD, 0, -1);
	else
		send_wrong(&m->reading, pipe);
	_exit(0);
}

static void
take_wrong(struct reading *g, bool mistaken, int lines)
{
	ssize_t	n;

	g->mistaken = mistaken;
	buf_need(&g->wrong, WRONG_MOST);
	while (g->wrong.len < WRONG_MOST && (n = read(lines,
	    g->wrong.at + g->wrong.len, WRONG_MOST - g->wrong.len)) > 0)
		g->wrong.len += (size_t)n;
}

bool
reload_busy(const struct monitor *m)
{
	const struct generation	*g;
	int			 draining = 0;

	TAILQ_FOREACH(g, &m->generations, link) {
		draining += g->state == GENERATION_DRAINING;
		if (g->state == GENERATION_STARTING)
			return true;
	}
	return m->reading.pid != 0 || draining >= DRAINING_MOST;
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

/* Its first line. */
static void
tell_supervisor(struct monitor *m, const struct buf *wrong)
{
	int	first = (int)(wrong->len > 0 ? strcspn(wrong->at, "\n") : 0);
	char	words[TOLD + 100];

	snprintf(words, sizeof(words), "the conf could not be read again"
	    "%s%.*s; still serving ", first > 0 ? ": " : "",
	    first < TOLD ? first : TOLD, first > 0 ? wrong->at : "");
	monitor_notify_status(m, words);
}

static void
stay(struct monitor *m)
{
	struct reading	*g = &m->reading;

	log_overhear(NULL, NULL);
	end_reading(m);
	drop_logs(g);
	control_server_keep(m);
	stats_count(STATS_RELOADS_FAILED);
	log_errorx("going on with the conf before");
	buf_string(&g->wrong);
	tell_supervisor(m, &g->wrong);
	control_server_reloaded(m, g->number,
	    g->mistaken ? CONTROL_VERDICT_CONF : CONTROL_VERDICT_FAILED,
	    &g->wrong);
}

void
reload_begin(struct monitor *m)
{
	struct reading	*g = &m->reading;
	int		 pipe = -1;

	g->due = reload_busy(m) || upgrade_busy(m);
	if (g->due || m->end_signal != 0)
		return;
	log_info("reading the conf again");
	notify_reloading(&m->setup->notify);
	g->reopen = g->mistaken = false;
	g->wrong.len = 0;
	g->number++;
	g->pid = spawn(m, NULL, ROLE_CONF_CHECKER, &pipe);
	if (g->pid == 0)
		be_reader(m, pipe);
	g->pipe = pipe;
	if (g->pid == -1) {
		log_error("cannot read the conf again, as no process can be "
		    "started for it");
		g->pid = 0;
		stay(m);
		return;
	}
	children_add(&m->children, g->pid, ROLE_CONF_CHECKER, 0, g->pipe);
	g->deadline = monitor_now() + READING;
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
	return kind == LOG_ERRORS ? -1 : fcntl(m->serving->access_log,
	    F_DUPFD_CLOEXEC, 3);
}

/* Which log a generation has, to be its own; -1 with errno 0: none, or as before. */
static int
choose_log(struct monitor *m, struct generation *g, enum log_kind kind)
{
	const char		*name = logs_name(g, kind);
	enum logs_target	 target = logs_target(name);

	errno = 0;
	if (target == LOGS_FILE)
		return choose_file(m, name, kind);
	if (target == LOGS_PROGRAM)
		return piped_log_open(m, g, name);
	if (target == LOGS_NOWHERE ||
	    (target == LOGS_SYSLOG && kind == LOG_ACCESS))
		return -1;
	/* Last words go there, and nothing of syslog's. */
	return fcntl(m->setup->standard.fd, F_DUPFD_CLOEXEC, 3);
}

static bool
choose_logs(struct monitor *m, struct generation *g)
{
	g->access_log = choose_log(m, g, LOG_ACCESS);
	if (g->access_log == -1 && errno != 0)
		return false;
	g->error_log = choose_log(m, g, LOG_ERRORS);
	return g->error_log != -1 || errno == 0;
}

/* The child has found the conf fine; but it may have changed since. */
static void
take(struct monitor *m)
{
	const struct listeners	 before = { m->serving->conf,
				    m->serving->listeners,
				    m->serving->nlisteners,
				    m->setup->heritage.sockets,
				    m->setup->heritage.nsockets };
	struct generation		*g;

	log_overhear(overhear, &m->reading.wrong);
	g = read_conf(m);
	if (g == NULL) {
		stay(m);
		return;
	}
	if (!choose_logs(m, g)) {
		log_overhear(NULL, NULL);
		log_notice("the conf has changed while it was read: once more");
		generation_free(&g);
		drop_logs(&m->reading);
		m->reading.due = true;
		return;
	}
	g->listeners = listener_open(g->conf, &before, &g->nlisteners);
	if (g->listeners == NULL || control_server_prepare(m, g->conf) == -1) {
		generation_free(&g);
		stay(m);
		return;
	}
	log_overhear(NULL, NULL);
	drop_logs(&m->reading);
	heritage_tell_unused(&m->setup->heritage, g);
	TAILQ_INSERT_TAIL(&m->generations, g, link);
	if (workers_start(m, g))
		workers_set_deadline(g, monitor_now() + COMING);
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
	if (n == (ssize_t)sizeof(news) && news.kind == WRONG && log != -1)
		take_wrong(g, news.name != 0, log);
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
		log_overhear(overhear, &g->wrong);
		log_errorx("the conf cannot be read: a file system that it "
		    "names does not answer");
		kill(g->pid, SIGKILL);
		stay(m);
	}
	if (g->due && !reload_busy(m) && !upgrade_busy(m))
		reload_begin(m);
}

void
reload_done(struct monitor *m, struct generation *g)
{
	struct generation	*before = m->serving;

	m->serving = g;
	g->state = GENERATION_SERVING;
	stats_count(STATS_RELOADS);
	board_conf((int64_t)stats[STATS_RELOADS] + 1);
	workers_set_deadline(g, 0);
	log_init("monitor", (enum log_grade)g->conf->log.error_grade);
	if (g->error_log != -1) {
		io_close(&m->setup->error_log);
		m->setup->error_log = g->error_log;
		g->error_log = -1;
		error_log_replace(m);
	}
	standard_settle(m);
	pid_change(&m->setup->pid, g->conf->pid);
	monitor_notify_status(m, "serving ");
	control_server_take_over(m);
	before->replaced_by = m->reading.number;
	workers_drain(m, before);
	if (m->reading.reopen)
		logs_reopen(m);
	m->reading.reopen = false;
}

void
reload_failed(struct monitor *m, const char *how)
{
	log_overhear(overhear, &m->reading.wrong);
	log_errorx("the new main %s before it served; what it said stands "
	    "above", how);
	stay(m);
}

void
reload_meets_reopen(struct monitor *m)
{
	const struct generation	*g;

	m->reading.reopen = m->reading.pid != 0;
	TAILQ_FOREACH(g, &m->generations, link)
		if (g->state == GENERATION_STARTING)
			m->reading.reopen = true;
}

void
reload_forget(struct monitor *m)
{
	if (m->reading.pid != 0)
		kill(m->reading.pid, SIGKILL);
	end_reading(m);
	drop_logs(&m->reading);
	buf_free(&m->reading.wrong);
	m->reading.due = false;
}
