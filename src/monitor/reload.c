/*
 * reload: a child reads the conf, then the monitor does.  The monitor starts a
 * generation, and when that serves, the one before drains.
 *
 * A failure in any step leaves everything as it was.
 */
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/control_server.h"
#include "monitor/error_log.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/piped_log.h"
#include "monitor/program_managers.h"
#include "monitor/reload.h"
#include "monitor/roots.h"
#include "monitor/socket_files.h"
#include "monitor/workers.h"
#include "shared/listener.h"
#include "stats/scoreboard.h"
#include "stats/stats.h"

#define CHECK_TIMEOUT	30000		/* ms for the conf and the files it
					 * names */
#define STATUS_MAX	160		/* bytes of an error for a supervisor */
#define ERRORS_MAX	(60 * 1024)	/* bytes; a pipe takes them at once */

/* A message of the conf checker, with a descriptor unless it is CHECK_OK. */
struct check_message {
	enum check {
		CHECK_LOG,			/* opened */
		CHECK_OK,
		CHECK_FAILED,			/* with a pipe: log lines */
		CHECK_WRONG			/* the same, of a wrong conf */
	}		kind;
	uint64_t	name_hash;		/* of a log */
};

static struct {
	struct child	*checker;	/* its pipe brings logs, then the
					 * verdict; NULL: none */
	struct {
		int	 fd;		/* -1: a generation has it */
		uint64_t name_hash;
	}		*logs;		/* opened by the conf checker */
	size_t		 nlogs;
	struct buf	 errors;	/* the lines that it has logged */
	bool		 is_conf_error;	/* the conf itself is wrong */
} reload;

static uint64_t
hash_name(const char *name)
{
	static const struct hash_key	key;

	return hash_bytes(&key, 0, name, strlen(name));
}

/* Collects log lines for the client that has asked for the reload. */
static void
capture_line(void *unused, const char *line, size_t n)
{
	(void)unused;
	if (reload.errors.len + n <= ERRORS_MAX)
		buf_add(&reload.errors, line, n);
}

/* Logs each error of the conf as amped -t prints it. */
static void
report_errors(struct buf *errors)
{
	char	*rest = errors->at, *line;

	reload.is_conf_error = true;
	capture_line(NULL, errors->at, errors->len);
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
	    (!standard_error_is_allowed(g->conf) ||
	    roots_check_sandbox(g->conf) == -1 ||
	    generation_choose_user(g) == -1 ||
	    program_managers_check(g->conf) == -1))
		generation_free(&g);
	return g;
}

/* The log of that name in the generation that serves, if it is one of the same
 * kind. */
static bool
find_before(const char *file, unsigned log, unsigned *before)
{
	const struct generation	*g = generations.serving;

	*before = log == LOG_ERRORS ? LOG_ERRORS : logs_find(g, file);
	return log == LOG_ERRORS ? strcmp(logs_name(g, log), file) == 0 :
	    *before != LOG_ERRORS;
}

static int
send_message(int pipe, enum check kind, uint64_t name_hash, int log)
{
	struct check_message	message = { kind, name_hash };
	struct iovec		iov = { &message, sizeof(message) };

	return io_send_message(pipe, &iov, 1, log);
}

/* Returns 0, or -1 after a line in the log.  A log that cannot be opened may
 * stay as it is if its name is unchanged. */
static int
send_log(const struct generation *g, unsigned log, int pipe)
{
	const char	*file = logs_name(g, log);
	unsigned	 before;
	int		 fd;

	if (logs_target(file) != LOGS_FILE)
		return 0;
	fd = logs_open(file);
	if (fd == -1 && find_before(file, log, &before)) {
		log_warn("cannot open the log %s again, going on with the one "
		    "that is open", file);
		return 0;
	}
	if (fd == -1) {
		log_error("cannot open the log %s: make it writable, or name "
		    "another one in the conf", file);
		return -1;
	}
	logs_use_handle(&fd);
	return send_message(pipe, CHECK_LOG, hash_name(file), fd);
}

static int
send_logs(const struct generation *g, int pipe)
{
	for (unsigned log = 0; log < logs_count(g); log++)
		if (send_log(g, log, pipe) == -1)
			return -1;
	return 0;
}

/* Sends the errors, in a pipe. */
static void
send_errors(int pipe)
{
	int	lines[2];

	if (pipe2(lines, O_CLOEXEC | O_NONBLOCK) == -1)
		return;
	if (write(lines[1], reload.errors.at, reload.errors.len) != -1)
		send_message(pipe, reload.is_conf_error ? CHECK_WRONG :
		    CHECK_FAILED, 0, lines[0]);
}

static void
run_checker(struct generation *unused, void *context, int pipe)
{
	struct generation	*g;

	(void)unused;
	(void)context;
	proc_title("amped: conf checker");
	log_init("checker", log_level());
	proc_signals_unblock();
	log_capture(capture_line, NULL);
	g = read_conf();
	if (g != NULL)
		roots_check(g);
	if (g != NULL && send_logs(g, pipe) == 0)
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

static void
close_logs(void)
{
	while (reload.nlogs > 0)
		io_close(&reload.logs[--reload.nlogs].fd);
	mem_drop(&reload.logs);
}

/* Tells the clients that wait for it, and the supervisor the first error. */
static void
keep_old_conf(void)
{
	const char	*text = buf_string(&reload.errors);
	int		 first = (int)strcspn(text, "\n");
	char		 words[STATUS_MAX + 100];

	log_capture(NULL, NULL);
	child_give_up(&reload.checker);
	close_logs();
	control_server_keep();
	stats_count(STATS_RELOADS_FAILED);
	/* The number makes each such line another one, which is written. */
	log_errorx("the conf in force stays: reload %u has failed",
	    generations.reloads);
	snprintf(words, sizeof(words), "the conf could not be read again"
	    "%s%.*s; still serving ", first > 0 ? ": " : "",
	    first < STATUS_MAX ? first : STATUS_MAX, text);
	generation_notify(words);
	control_server_reloaded(generations.reloads, reload.is_conf_error ?
	    CONTROL_VERDICT_CONF : CONTROL_VERDICT_FAILED, &reload.errors);
}

static void
give_up_checker(void *unused)
{
	(void)unused;
	log_capture(capture_line, NULL);
	log_errorx("the conf cannot be read: a file system that it names does "
	    "not answer");
	child_kill(reload.checker);
	keep_old_conf();
}

/* Takes the descriptor of a log that the conf checker has opened; -1: it has
 * not. */
static int
take_log(const char *name)
{
	int	fd = -1;

	for (size_t i = 0; i < reload.nlogs && fd == -1; i++)
		if (reload.logs[i].name_hash == hash_name(name)) {
			fd = reload.logs[i].fd;
			reload.logs[i].fd = -1;
		}
	return fd;
}

/* Gives the generation its own descriptor of a log, unless there is no log, or
 * the error log in use stays.  Returns false if there is none to give. */
static bool
choose_log(struct generation *g, unsigned log, int *fd)
{
	const char		*name = logs_name(g, log);
	enum logs_target	 target = logs_target(name);
	unsigned		 before;

	if (target == LOGS_SYSLOG && log != LOG_ERRORS)
		return true;
	if (target == LOGS_PROGRAM)
		*fd = piped_log_open(g, name);
	else if (target != LOGS_FILE)
		/* With syslog, only crash messages go to standard error. */
		*fd = standard_error_copy(target);
	else if ((*fd = take_log(name)) != -1)
		return true;
	else if (!find_before(name, log, &before))
		return false;
	else if (log == LOG_ERRORS)
		return true;
	else
		*fd = fcntl(generations.serving->access_logs[before -
		    LOG_ACCESS], F_DUPFD_CLOEXEC, 3);
	return *fd != -1;
}

static bool
choose_logs(struct generation *g)
{
	for (unsigned log = LOG_ACCESS; log < logs_count(g); log++)
		if (!choose_log(g, log, &g->access_logs[log - LOG_ACCESS]))
			return false;
	return choose_log(g, LOG_ERRORS, &g->error_log);
}

/* The conf checker has found the conf fine, but the conf may have changed
 * since. */
static void
start_generation(void)
{
	const struct generation	*serving = generations.serving;
	const struct listeners	 before = { serving->conf, serving->listeners,
				    serving->nlisteners,
				    prepared.inherited.sockets,
				    prepared.inherited.nsockets };
	struct generation	*g;

	log_capture(capture_line, NULL);
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
		due.reload = true;
		return;
	}
	g->listeners = listener_open(g->conf, &before, &g->nlisteners);
	if (g->listeners == NULL ||
	    control_server_prepare(g->conf, false) == -1) {
		generation_free(&g);
		keep_old_conf();
		return;
	}
	log_capture(NULL, NULL);
	close_logs();
	upgrade_warn_unused(g);
	TAILQ_INSERT_TAIL(&generations.list, g, link);
	workers_start(g);
}

static void
on_checker(void *unused)
{
	struct check_message	 message;
	int			 log = -1;
	ssize_t			 n = io_recv_message(reload.checker->pipe.fd,
				    &message, sizeof(message), &log, 0);

	(void)unused;
	if (n != (ssize_t)sizeof(message))
		message.kind = CHECK_FAILED;
	else if (message.kind == CHECK_LOG && log != -1) {
		reload.logs = mem_grow(reload.logs, reload.nlogs + 1,
		    sizeof(*reload.logs));
		reload.logs[reload.nlogs].fd = log;
		reload.logs[reload.nlogs++].name_hash = message.name_hash;
		return;
	} else if (message.kind != CHECK_OK && log != -1)
		receive_errors(message.kind == CHECK_WRONG, log);
	io_close(&log);
	if (message.kind == CHECK_OK) {
		child_give_up(&reload.checker);
		start_generation();
	} else
		keep_old_conf();
}

static const struct child_kind	checker = {
	.name = "conf checker", .privileged = true, .run = run_checker,
	.on_readable = on_checker, .on_timeout = give_up_checker,
	.timeout = CHECK_TIMEOUT
};

bool
reload_is_busy(void)
{
	return reload.checker != NULL;
}

void
reload_begin(void)
{
	log_info("reading the conf again");
	sd_notify_reloading(&prepared.notify);
	reload.is_conf_error = false;
	reload.errors.len = 0;
	generations.reloads++;
	reload.checker = child_start(&checker, generations.serving, NULL,
	    NULL);
	if (reload.checker != NULL)
		return;
	log_error("cannot read the conf again, as no process can be started "
	    "for it");
	keep_old_conf();
}

static void
on_failed(const char *how)
{
	log_capture(capture_line, NULL);
	log_errorx("the new main %s before it served; its messages stand above",
	    how);
	keep_old_conf();
}

/* A new generation serves: drains the one before. */
static void
put_in_force(struct generation *g)
{
	struct generation	*before = generations.serving;
	int			 log = g->error_log;

	if (g == before)
		return;
	generations.serving = g;
	stats_count(STATS_RELOADS);
	scoreboard_set_conf((int64_t)stats[STATS_RELOADS] + 1);
	log_init("monitor", (enum log_level)g->conf->log.error_level);
	g->error_log = -1;		/* the error logger closes it else */
	if (log != -1)
		error_log_use(log);
	standard_error_settle(g->conf);
	pidfile_change(&prepared.pidfile, g->conf->pid);
	generation_notify("serving ");
	before->replaced_by = generations.reloads;
	socket_files_hold(g);
	upgrade_block_new(before);
	workers_replace(before);
	/* The reload may have opened its logs before their files were moved. */
	due.reopen = due.reopen || due.reopened;
}

static void
cancel_reload(void)
{
	if (reload.checker != NULL)
		child_kill(reload.checker);
	child_give_up(&reload.checker);
	close_logs();
	buf_free(&reload.errors);
}

const struct component	reload_component = {
	.serves = put_in_force, .failed = on_failed, .stop = cancel_reload
};
