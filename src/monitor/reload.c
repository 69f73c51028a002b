/*
 * reload: a child reads the conf, then the monitor does.  The monitor starts a
 * generation, and when that serves, the one before drains.
 *
 * A failure in any step leaves everything as it was.
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

#define CHECK_TIMEOUT	30000		/* ms for the conf and the files it
					 * names */
#define START_TIMEOUT	30000		/* ms for the new mains to serve */
#define DRAINING_MAX	16		/* generations */
#define CHECK_OK	2		/* kind of message: the conf is fine */
#define CHECK_FAILED	3		/* the conf is wrong; with a pipe */
#define ERRORS_MAX	(60 * 1024)	/* bytes; a pipe takes them at once */
#define STATUS_MAX	160		/* bytes of an error for a supervisor */

/* A message of the conf checker, with a descriptor unless it is CHECK_OK. */
struct check_message {
	uint64_t	kind;
	uint64_t	name;		/* hash of a log's file name; with
					 * CHECK_FAILED, whether the conf itself
					 * is wrong */
};

void
reload_init(struct reload *r)
{
	*r = (struct reload){ .pipe = -1, .logs = { -1, -1 } };
}

static uint64_t
hash_name(const char *name)
{
	static const struct hash_key	key;

	return hash_bytes(&key, 0, name, strlen(name));
}

/* Collects log lines for the client that has asked for the reload. */
static void
capture_line(void *errors, const char *line, size_t n)
{
	struct buf	*to = errors;

	if (to->len + n <= ERRORS_MAX)
		buf_add(to, line, n);
}

/* Logs each error of the conf as amped -t prints it. */
static void
report_errors(struct reload *r, struct buf *errors)
{
	char	*rest = errors->at, *line;

	r->is_conf_error = true;
	capture_line(&r->errors, errors->at, errors->len);
	log_capture(NULL, NULL);
	while (rest != NULL && *rest != '\0') {
		line = strsep(&rest, "\n");
		log_errorx("%s", line);
	}
}

/* Returns a generation without sockets and logs, or NULL after lines in the
 * log. */
static struct generation *
read_conf(struct monitor *m)
{
	struct buf		 errors = { 0 };
	struct conf		*conf = conf_read_again(m->setup->conf_file,
				    &errors);
	struct generation	*g = NULL;

	buf_string(&errors);
	if (conf == NULL)
		report_errors(&m->reload, &errors);
	else {
		arch_choose(conf, m->setup->architecture);
		g = generation_new(conf);
	}
	buf_free(&errors);
	if (g != NULL &&
	    (!standard_error_is_allowed(&m->setup->standard_error, g->conf) ||
		helper_rules_check(g->conf) == -1 ||
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
send_message(int pipe, uint64_t kind, uint64_t name, int log)
{
	struct check_message	message = { kind, name };
	struct iovec		iov = { &message, sizeof(message) };

	return io_send_message(pipe, &iov, 1, log);
}

/* Returns 0, or -1 after a line in the log.  A log that cannot be opened may
 * stay as it is if its name is unchanged. */
static int
send_log(struct monitor *m, const struct generation *g, enum log_kind kind,
    int pipe)
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
	return send_message(pipe, (uint64_t)kind, hash_name(file), log);
}

/* Sends the errors, in a pipe. */
static void
send_errors(const struct reload *r, int pipe)
{
	int	lines[2];

	if (pipe2(lines, O_CLOEXEC | O_NONBLOCK) == -1)
		return;
	if (write(lines[1], r->errors.at, r->errors.len) != -1)
		send_message(pipe, CHECK_FAILED, r->is_conf_error, lines[0]);
}

static _Noreturn void
checker_entry(struct monitor *m, int pipe)
{
	struct generation	*g;

	proc_title("amped: conf checker");
	proc_signals_unblock();
	log_capture(capture_line, &m->reload.errors);
	g = read_conf(m);
	if (g != NULL)
		check_roots(g);
	if (g != NULL && send_log(m, g, LOG_ACCESS, pipe) == 0 &&
	    send_log(m, g, LOG_ERRORS, pipe) == 0)
		send_message(pipe, CHECK_OK, 0, -1);
	else
		send_errors(&m->reload, pipe);
	_exit(0);
}

static void
receive_errors(struct reload *r, bool is_conf_error, int lines)
{
	ssize_t	n;

	r->is_conf_error = is_conf_error;
	buf_reserve(&r->errors, ERRORS_MAX);
	while (r->errors.len < ERRORS_MAX && (n = read(lines,
	    r->errors.at + r->errors.len, ERRORS_MAX - r->errors.len)) > 0)
		r->errors.len += (size_t)n;
}

bool
reload_is_busy(const struct monitor *m)
{
	const struct generation	*g;
	int			 draining = 0;

	TAILQ_FOREACH(g, &m->generations, link) {
		draining += g->state == GENERATION_DRAINING;
		if (g->state == GENERATION_STARTING)
			return true;
	}
	return m->reload.pid != 0 || draining >= DRAINING_MAX;
}

static void
end_check(struct monitor *m)
{
	struct reload	*r = &m->reload;

	if (r->pid != 0)
		children_give_up(&m->children, r->pid);
	r->pid = 0;
	io_close(&r->pipe);
}

static void
close_logs(struct reload *r)
{
	io_close(&r->logs[LOG_ACCESS]);
	io_close(&r->logs[LOG_ERRORS]);
}

/* Passes the first error on. */
static void
notify_supervisor(struct monitor *m, const struct buf *errors)
{
	int	first = (int)(errors->len > 0 ? strcspn(errors->at, "\n") : 0);
	char	words[STATUS_MAX + 100];

	snprintf(words, sizeof(words), "the conf could not be read again"
	    "%s%.*s; still serving ", first > 0 ? ": " : "",
	    first < STATUS_MAX ? first : STATUS_MAX,
	    first > 0 ? errors->at : "");
	monitor_notify_status(m, words);
}

static void
keep_old_conf(struct monitor *m)
{
	struct reload	*r = &m->reload;

	log_capture(NULL, NULL);
	end_check(m);
	close_logs(r);
	control_server_keep(m);
	stats_count(STATS_RELOADS_FAILED);
	log_errorx("the conf in force stays");
	buf_string(&r->errors);
	notify_supervisor(m, &r->errors);
	control_server_reloaded(m, r->number,
	    r->is_conf_error ? CONTROL_VERDICT_CONF : CONTROL_VERDICT_FAILED,
	    &r->errors);
}

void
reload_begin(struct monitor *m)
{
	struct reload	*r = &m->reload;
	int		 pipe = -1;

	r->again = reload_is_busy(m) || upgrade_is_busy(m);
	if (r->again || m->end_signal != 0)
		return;
	log_info("reading the conf again");
	sd_notify_reloading(&m->setup->notify);
	r->reopen_logs = r->is_conf_error = false;
	r->errors.len = 0;
	r->number++;
	r->pid = spawn(m, NULL, ROLE_CONF_CHECKER, &pipe);
	if (r->pid == 0)
		checker_entry(m, pipe);
	r->pipe = pipe;
	if (r->pid == -1) {
		log_error("cannot read the conf again, as no process can be "
		    "started for it");
		r->pid = 0;
		keep_old_conf(m);
		return;
	}
	children_add(&m->children, r->pid, ROLE_CONF_CHECKER, 0, r->pipe);
	r->deadline = monitor_now() + CHECK_TIMEOUT;
}

/* Returns the log that the conf checker has opened, or the one in use; -1 with
 * errno 0: the one in use stays. */
static int
choose_log_file(struct monitor *m, const char *file, enum log_kind kind)
{
	struct reload	*r = &m->reload;
	int		 log = r->logs[kind];

	if (log != -1 && r->name_hashes[kind] == hash_name(file)) {
		r->logs[kind] = -1;
		return log;
	}
	if (!is_unchanged(m, file, kind)) {
		errno = ESTALE;
		return -1;
	}
	return kind == LOG_ERRORS ? -1 : fcntl(m->serving->access_log,
	    F_DUPFD_CLOEXEC, 3);
}

/* Returns the generation's own descriptor of a log; -1 with errno 0: there is
 * no log, or the one in use stays. */
static int
choose_log(struct monitor *m, struct generation *g, enum log_kind kind)
{
	const char		*name = logs_name(g, kind);
	enum logs_target	 target = logs_target(name);

	errno = 0;
	if (target == LOGS_FILE)
		return choose_log_file(m, name, kind);
	if (target == LOGS_PROGRAM)
		return piped_log_open(m, g, name);
	if (target == LOGS_NOWHERE ||
	    (target == LOGS_SYSLOG && kind == LOG_ACCESS))
		return -1;
	/* With syslog, only crash messages go to standard error. */
	return fcntl(m->setup->standard_error.fd, F_DUPFD_CLOEXEC, 3);
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

/* The conf checker has found the conf fine, but the conf may have changed
 * since. */
static void
start_generation(struct monitor *m)
{
	const struct listeners	 before = { m->serving->conf,
				    m->serving->listeners,
				    m->serving->nlisteners,
				    m->setup->inherited.sockets,
				    m->setup->inherited.nsockets };
	struct generation	*g;

	log_capture(capture_line, &m->reload.errors);
	g = read_conf(m);
	if (g == NULL) {
		keep_old_conf(m);
		return;
	}
	if (!choose_logs(m, g)) {
		log_capture(NULL, NULL);
		log_notice("the conf has changed while it was read: reading it "
		    "again");
		generation_free(&g);
		close_logs(&m->reload);
		m->reload.again = true;
		return;
	}
	g->listeners = listener_open(g->conf, &before, &g->nlisteners);
	if (g->listeners == NULL || control_server_prepare(m, g->conf) == -1) {
		generation_free(&g);
		keep_old_conf(m);
		return;
	}
	log_capture(NULL, NULL);
	close_logs(&m->reload);
	upgrade_warn_unused(&m->setup->inherited, g);
	TAILQ_INSERT_TAIL(&m->generations, g, link);
	if (workers_start(m, g))
		workers_set_deadline(g, monitor_now() + START_TIMEOUT);
}

void
reload_on_readable(struct monitor *m)
{
	struct reload		*r = &m->reload;
	struct check_message	 message;
	int			 log = -1;
	ssize_t			 n = io_recv_message(r->pipe, &message,
				    sizeof(message), &log);

	if (n == (ssize_t)sizeof(message) && message.kind < CHECK_OK &&
	    log != -1) {
		io_close(&r->logs[message.kind]);
		r->logs[message.kind] = log;
		r->name_hashes[message.kind] = message.name;
		return;
	}
	if (n == (ssize_t)sizeof(message) && message.kind == CHECK_FAILED &&
	    log != -1)
		receive_errors(r, message.name != 0, log);
	io_close(&log);
	if (n == (ssize_t)sizeof(message) && message.kind == CHECK_OK) {
		end_check(m);
		start_generation(m);
	} else
		keep_old_conf(m);
}

void
reload_tick(struct monitor *m)
{
	struct reload	*r = &m->reload;

	if (r->pid != 0 && monitor_now() >= r->deadline) {
		log_capture(capture_line, &r->errors);
		log_errorx("the conf cannot be read: a file system that it "
		    "names does not answer");
		kill(r->pid, SIGKILL);
		keep_old_conf(m);
	}
	if (r->again && !reload_is_busy(m) && !upgrade_is_busy(m))
		reload_begin(m);
}

void
reload_on_ready(struct monitor *m, struct generation *g)
{
	struct generation	*before = m->serving;

	m->serving = g;
	g->state = GENERATION_SERVING;
	stats_count(STATS_RELOADS);
	scoreboard_set_conf((int64_t)stats[STATS_RELOADS] + 1);
	workers_set_deadline(g, 0);
	log_init("monitor", (enum log_level)g->conf->log.error_level);
	if (g->error_log != -1) {
		io_close(&m->setup->error_log);
		m->setup->error_log = g->error_log;
		g->error_log = -1;
		error_log_replace(m);
	}
	standard_error_settle(m);
	pidfile_change(&m->setup->pidfile, g->conf->pid);
	monitor_notify_status(m, "serving ");
	control_server_take_over(m);
	before->replaced_by = m->reload.number;
	workers_drain(m, before);
	if (m->reload.reopen_logs)
		logs_reopen(m);
	m->reload.reopen_logs = false;
}

void
reload_failed(struct monitor *m, const char *how)
{
	log_capture(capture_line, &m->reload.errors);
	log_errorx("the new main %s before it served; its messages stand above",
	    how);
	keep_old_conf(m);
}

void
reload_on_reopen(struct monitor *m)
{
	const struct generation	*g;

	m->reload.reopen_logs = m->reload.pid != 0;
	TAILQ_FOREACH(g, &m->generations, link)
		if (g->state == GENERATION_STARTING)
			m->reload.reopen_logs = true;
}

void
reload_cancel(struct monitor *m)
{
	if (m->reload.pid != 0)
		kill(m->reload.pid, SIGKILL);
	end_check(m);
	close_logs(&m->reload);
	buf_free(&m->reload.errors);
	m->reload.again = false;
}
