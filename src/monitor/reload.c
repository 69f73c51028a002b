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

#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor/check_roots.h"
#include "monitor/helper_rules.h"
#include "monitor/component.h"
#include "monitor/workers.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/piped_log.h"
#include "monitor/reload.h"
#include "monitor/spawn.h"
#include "shared/listener.h"

#define CHECK_TIMEOUT	30000		/* ms for the conf and the files it
					 * names */
#define CHECK_OK	2		/* kind of message: the conf is fine */
#define CHECK_FAILED	3		/* the conf is wrong; with a pipe */
#define ERRORS_MAX	(60 * 1024)	/* bytes; a pipe takes them at once */

/* A message of the conf checker, with a descriptor unless it is CHECK_OK. */
struct check_message {
	uint64_t	kind;
	uint64_t	name;		/* hash of a log's file name; with
					 * CHECK_FAILED, whether the conf itself
					 * is wrong */
};

static struct {
	pid_t		 pid;		/* of the conf checker; 0: none */
	struct source	 pipe;		/* brings logs, then the verdict */
	struct timer	 timeout;	/* of the conf checker */
	int		 logs[2];	/* opened by the conf checker, by enum
					 * log_kind; -1: none */
	uint64_t	 name_hashes[2]; /* of the names of these logs */
	bool		 reopen_logs;	/* open the logs again after this one */
	unsigned	 number;	/* of the last reload that was begun */
	struct buf	 errors;	/* the lines that it has logged */
	bool		 is_conf_error;	/* the conf itself is wrong */
} reload = { .pipe.fd = -1, .logs = { -1, -1 } };

static const struct reload_calls	*calls;
static struct monitor_setup		*setup;

static const struct child_kind	checker = {
	.name = "conf checker", .privileged = true
};

void
reload_init(const struct reload_calls *c)
{
	calls = c;
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
report_errors(struct buf *errors)
{
	char	*rest = errors->at, *line;

	reload.is_conf_error = true;
	capture_line(&reload.errors, errors->at, errors->len);
	log_capture(NULL, NULL);
	while (rest != NULL && *rest != '\0') {
		line = strsep(&rest, "\n");
		log_errorx("%s", line);
	}
}

/* Returns a generation without sockets and logs, or NULL after lines in the
 * log. */
static struct generation *
read_conf(void)
{
	struct buf		 errors = { 0 };
	struct conf		*conf = generation_read_conf(&errors);
	struct generation	*g = NULL;

	buf_string(&errors);
	if (conf == NULL)
		report_errors(&errors);
	else
		g = generation_new(conf);
	buf_free(&errors);
	if (g != NULL &&
	    (!standard_error_is_allowed(&setup->standard_error, g->conf) ||
		helper_rules_check(g->conf) == -1 ||
		generation_choose_user(g) == -1))
		generation_free(&g);
	return g;
}

static bool
is_unchanged(const char *file, enum log_kind kind)
{
	const char	*before = logs_name(generations.serving, kind);

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
send_log(const struct generation *g, enum log_kind kind, int pipe)
{
	const char	*file = logs_name(g, kind);
	int		 log;

	if (logs_target(file) != LOGS_FILE)
		return 0;
	log = logs_open(file);
	if (log == -1 && is_unchanged(file, kind)) {
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
send_errors(int pipe)
{
	int	lines[2];

	if (pipe2(lines, O_CLOEXEC | O_NONBLOCK) == -1)
		return;
	if (write(lines[1], reload.errors.at, reload.errors.len) != -1)
		send_message(pipe, CHECK_FAILED, reload.is_conf_error,
		    lines[0]);
}

static _Noreturn void
checker_entry(int pipe)
{
	struct generation	*g;

	proc_title("amped: conf checker");
	proc_signals_unblock();
	log_capture(capture_line, &reload.errors);
	g = read_conf();
	if (g != NULL)
		check_roots(g);
	if (g != NULL && send_log(g, LOG_ACCESS, pipe) == 0 &&
	    send_log(g, LOG_ERRORS, pipe) == 0)
		send_message(pipe, CHECK_OK, 0, -1);
	else
		send_errors(pipe);
	_exit(0);
}

static void
receive_errors(bool is_conf_error, int lines)
{
	struct buf	*to = &reload.errors;
	ssize_t		 n;

	reload.is_conf_error = is_conf_error;
	buf_reserve(to, ERRORS_MAX);
	while (to->len < ERRORS_MAX &&
	    (n = read(lines, to->at + to->len, ERRORS_MAX - to->len)) > 0)
		to->len += (size_t)n;
}

bool
reload_is_busy(void)
{
	return reload.pid != 0;
}

unsigned
reload_number(void)
{
	return reload.number;
}

static void
end_check(void)
{
	if (reload.pid != 0)
		children_give_up(reload.pid);
	reload.pid = 0;
	events_close(&reload.pipe);
	events_unset(&reload.timeout);
}

static void
close_logs(void)
{
	io_close(&reload.logs[LOG_ACCESS]);
	io_close(&reload.logs[LOG_ERRORS]);
}

static void
keep_old_conf(void)
{
	log_capture(NULL, NULL);
	end_check();
	close_logs();
	calls->failed(reload.number, reload.is_conf_error, &reload.errors);
}

static void
give_up_checker(void *unused)
{
	(void)unused;
	log_capture(capture_line, &reload.errors);
	log_errorx("the conf cannot be read: a file system that it names does "
	    "not answer");
	kill(reload.pid, SIGKILL);
	keep_old_conf();
}

/* Returns the log that the conf checker has opened, or the one in use; -1 with
 * errno 0: the one in use stays. */
static int
choose_log_file(const char *file, enum log_kind kind)
{
	int	log = reload.logs[kind];

	if (log != -1 && reload.name_hashes[kind] == hash_name(file)) {
		reload.logs[kind] = -1;
		return log;
	}
	if (!is_unchanged(file, kind)) {
		errno = ESTALE;
		return -1;
	}
	return kind == LOG_ERRORS ? -1 : fcntl(generations.serving->access_log,
	    F_DUPFD_CLOEXEC, 3);
}

/* Returns the generation's own descriptor of a log; -1 with errno 0: there is
 * no log, or the one in use stays. */
static int
choose_log(struct generation *g, enum log_kind kind)
{
	const char		*name = logs_name(g, kind);
	enum logs_target	 target = logs_target(name);

	errno = 0;
	if (target == LOGS_FILE)
		return choose_log_file(name, kind);
	if (target == LOGS_PROGRAM)
		return piped_log_open(g, name);
	if (target == LOGS_NOWHERE ||
	    (target == LOGS_SYSLOG && kind == LOG_ACCESS))
		return -1;
	/* With syslog, only crash messages go to standard error. */
	return fcntl(setup->standard_error.fd, F_DUPFD_CLOEXEC, 3);
}

static bool
choose_logs(struct generation *g)
{
	g->access_log = choose_log(g, LOG_ACCESS);
	if (g->access_log == -1 && errno != 0)
		return false;
	g->error_log = choose_log(g, LOG_ERRORS);
	return g->error_log != -1 || errno == 0;
}

/* The conf checker has found the conf fine, but the conf may have changed
 * since. */
static void
start_generation(void)
{
	const struct generation	*serving = generations.serving;
	const struct listeners	 before = { serving->conf, serving->listeners,
				    serving->nlisteners,
				    setup->inherited.sockets,
				    setup->inherited.nsockets };
	struct generation	*g;

	log_capture(capture_line, &reload.errors);
	g = read_conf();
	if (g == NULL) {
		keep_old_conf();
		return;
	}
	if (!choose_logs(g)) {
		log_capture(NULL, NULL);
		log_notice("the conf has changed while it was read: reading it "
		    "again");
		generation_free(&g);
		close_logs();
		calls->again();
		return;
	}
	g->listeners = listener_open(g->conf, &before, &g->nlisteners);
	if (g->listeners == NULL || calls->prepare(g->conf) == -1) {
		generation_free(&g);
		keep_old_conf();
		return;
	}
	log_capture(NULL, NULL);
	close_logs();
	upgrade_warn_unused(&setup->inherited, g);
	TAILQ_INSERT_TAIL(&generations.list, g, link);
	workers_start(g);
}

static void
on_checker(void *unused)
{
	struct check_message	 message;
	int			 log = -1;
	ssize_t			 n = io_recv_message(reload.pipe.fd, &message,
				    sizeof(message), &log);

	(void)unused;
	if (n == (ssize_t)sizeof(message) && message.kind < CHECK_OK &&
	    log != -1) {
		io_close(&reload.logs[message.kind]);
		reload.logs[message.kind] = log;
		reload.name_hashes[message.kind] = message.name;
		return;
	}
	if (n == (ssize_t)sizeof(message) && message.kind == CHECK_FAILED &&
	    log != -1)
		receive_errors(message.name != 0, log);
	io_close(&log);
	if (n == (ssize_t)sizeof(message) && message.kind == CHECK_OK) {
		end_check();
		start_generation();
	} else
		keep_old_conf();
}

void
reload_begin(void)
{
	int	pipe = -1;

	log_info("reading the conf again");
	sd_notify_reloading(&setup->notify);
	reload.reopen_logs = reload.is_conf_error = false;
	reload.errors.len = 0;
	reload.number++;
	reload.pid = spawn(&checker, generations.serving, &pipe, NULL, NULL);
	if (reload.pid == 0)
		checker_entry(pipe);
	if (reload.pid == -1) {
		log_error("cannot read the conf again, as no process can be "
		    "started for it");
		reload.pid = 0;
		keep_old_conf();
		return;
	}
	events_add(&reload.pipe, pipe, on_checker, NULL);
	events_set(&reload.timeout, CHECK_TIMEOUT, give_up_checker, NULL);
}

void
reload_fail(const char *how)
{
	log_capture(capture_line, &reload.errors);
	log_errorx("the new main %s before it served; its messages stand above",
	    how);
	keep_old_conf();
}

void
reload_on_reopen(void)
{
	reload.reopen_logs = reload.pid != 0 || workers_are_starting();
}

bool
reload_end(void)
{
	bool	due = reload.reopen_logs;

	reload.reopen_logs = false;
	return due;
}

static void
take_setup(struct monitor_setup *s)
{
	setup = s;
}

static void
cancel_reload(void)
{
	if (reload.pid != 0)
		kill(reload.pid, SIGKILL);
	end_check();
	close_logs();
	buf_free(&reload.errors);
}

const struct component	reload_component = {
	.setup = take_setup, .stop = cancel_reload
};
