/*
 * logs: opens logs, and opens them again by a child for each.  The child sends
 * the descriptor that it has opened; if it cannot open the log, it logs why and
 * sends nothing.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "lib/trusted.h"
#include "monitor/private.h"

#define OPEN_TIMEOUT	10000	/* ms for a file system to open a log */

int
logs_open(const char *file)
{
	/* O_NONBLOCK: the open of a FIFO does not wait for a reader. */
	return trusted_open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
	    O_NONBLOCK | O_NOCTTY, 0640);
}

void
logs_use_handle(int *log)
{
	struct stat	st;
	int		handle, again;

	if (*log == -1 || fstat(*log, &st) == -1 || !S_ISREG(st.st_mode) ||
	    (fcntl(*log, F_GETFL) & O_APPEND) == 0)
		return;
	handle = io_handle(*log);
	again = io_reopen(handle, O_WRONLY | O_APPEND);
	if (again == -1) {
		io_close(&handle);
		return;
	}
	close(again);
	close(*log);
	*log = handle;
}

/* Such a name is standard error of the process that opens them.  In all
 * processes but the first, standard error is the pipe to the error logger. */
static bool
is_stderr(const char *name)
{
	return strcmp(name, "stderr") == 0 ||
	    strcmp(name, "/dev/stderr") == 0 ||
	    strcmp(name, "/dev/fd/2") == 0 ||
	    strcmp(name, "/proc/self/fd/2") == 0;
}

enum logs_target
logs_target(const char *name)
{
	return name == NULL ? LOGS_NOWHERE : is_stderr(name) ? LOGS_STDERR :
	    name[0] == '/' ? LOGS_FILE :
	    name[0] == '|' ? LOGS_PROGRAM : LOGS_SYSLOG;
}

const char *
logs_syslog_socket(const char *name)
{
	const char	*socket = strchr(name, ':');

	return socket != NULL ? socket + 1 : "/dev/log";
}

static const char *
kind_name(enum log_kind kind)
{
	return kind == LOG_ACCESS ? "access log" : "error log";
}

const char *
logs_name(const struct generation *g, enum log_kind kind)
{
	return kind == LOG_ACCESS ? g->conf->log.access.to :
	    g->conf->log.error.to;
}

static _Noreturn void
log_opener_entry(const char *file, enum log_kind kind, int pipe)
{
	char		byte = 0;
	struct iovec	iov = { &byte, sizeof(byte) };
	int		log;

	proc_title("amped: log opener");
	proc_signals_unblock();
	log = logs_open(file);
	if (log == -1) {
		log_error("cannot open the %s %s again, going on with the one "
		    "that is open", kind_name(kind), file);
		_exit(0);
	}
	logs_use_handle(&log);
	io_send_message(pipe, &iov, 1, log);
	_exit(0);
}

/* The close does not wait: the descriptor is a handle, or no file. */
static void
replace_log(int *log, int new)
{
	io_close(log);
	*log = new;
}

/* Gives a log another descriptor; its writers are replaced. */
static void
switch_log(struct monitor *m, struct generation *g, enum log_kind kind, int log)
{
	if (kind == LOG_ERRORS) {
		replace_log(&m->setup->error_log, log);
		error_log_replace(m);
	} else {
		replace_log(&g->access_log, log);
		workers_new_access_logger(m, g);
	}
	log_notice("the %s has been opened again", kind_name(kind));
}

/* Starts another program; the present one reads the rest and ends. */
static void
restart_program(struct monitor *m, struct generation *g, enum log_kind kind)
{
	int	log = piped_log_open(m, g, logs_name(g, kind));

	if (log == -1)
		log_error("cannot restart the log program of the %s: the "
		    "present one goes on", kind_name(kind));
	else
		switch_log(m, g, kind, log);
}

static void
reopen_file(struct monitor *m, struct generation *g, enum log_kind kind)
{
	const char	*file = logs_name(g, kind);
	struct opening	*o;
	int		 pipe = -1;
	pid_t		 pid;

	pid = spawn(m, g, ROLE_LOG_OPENER, &pipe);
	if (pid == 0)
		log_opener_entry(file, kind, pipe);
	if (pid == -1) {
		log_error("cannot start a process that opens the %s again: it "
		    "stays as it is", kind_name(kind));
		return;
	}
	children_add(&m->children, pid, ROLE_LOG_OPENER, 0, pipe);
	o = mem_zero(sizeof(*o));
	*o = (struct opening){ .pid = pid, .pipe = pipe, .kind = kind,
	    .generation = g->number, .deadline = monitor_now() + OPEN_TIMEOUT };
	TAILQ_INSERT_TAIL(&m->openings, o, link);
}

static void
reopen_log(struct monitor *m, struct generation *g, enum log_kind kind)
{
	enum logs_target	target = logs_target(logs_name(g, kind));

	if (target == LOGS_FILE)
		reopen_file(m, g, kind);
	else if (target == LOGS_PROGRAM)
		restart_program(m, g, kind);
}

/* An opening that is under way may have opened a log just before the file was
 * moved away, so all logs are opened once more after it. */
void
logs_reopen(struct monitor *m)
{
	struct generation	*g;

	reload_on_reopen(m);
	m->reopen_due = !TAILQ_EMPTY(&m->openings);
	if (m->reopen_due)
		return;
	piped_log_renew(m);
	TAILQ_FOREACH(g, &m->generations, link)
		reopen_log(m, g, LOG_ACCESS);
	reopen_log(m, m->serving, LOG_ERRORS);
}

bool
logs_are_reopening(const struct monitor *m)
{
	return m->reopen_due || !TAILQ_EMPTY(&m->openings);
}

static void
end_opening(struct monitor *m, struct opening *o)
{
	children_give_up(&m->children, o->pid);
	io_close(&o->pipe);
	TAILQ_REMOVE(&m->openings, o, link);
	free(o);
	if (m->reopen_due && TAILQ_EMPTY(&m->openings))
		logs_reopen(m);
}

static void
take_opened(struct monitor *m, const struct opening *o, int log)
{
	struct generation	*g = workers_find_generation(m, o->generation);

	if (g == NULL && o->kind == LOG_ACCESS)
		close(log);	/* its generation has ended */
	else
		switch_log(m, g, o->kind, log);
}

void
logs_on_opened(struct monitor *m, struct opening *o)
{
	char	byte;
	int	log = -1;

	if (io_recv_message(o->pipe, &byte, sizeof(byte), &log) == 1 &&
	    log != -1)
		take_opened(m, o, log);
	else
		control_server_reopen_failed(m, kind_name(o->kind));
	end_opening(m, o);
}

void
logs_tick(struct monitor *m)
{
	struct opening	*o, *next;
	int64_t		 now;

	if (TAILQ_EMPTY(&m->openings))
		return;
	now = monitor_now();
	for (o = TAILQ_FIRST(&m->openings); o != NULL; o = next) {
		next = TAILQ_NEXT(o, link);
		if (now < o->deadline)
			continue;
		log_warnx("the %s cannot be opened again, its file system does "
		    "not answer: going on with the one that is open",
		    kind_name(o->kind));
		kill(o->pid, SIGKILL);
		control_server_reopen_failed(m, kind_name(o->kind));
		end_opening(m, o);
	}
}

void
logs_cancel(struct monitor *m)
{
	struct opening	*o;

	m->reopen_due = false;
	while ((o = TAILQ_FIRST(&m->openings)) != NULL)
		end_opening(m, o);
}

static void
start_program(struct monitor *m, enum log_kind kind, int *log)
{
	struct generation	*g = m->setup->first;
	const char		*name = logs_name(g, kind);
	int			 fd;

	if (logs_target(name) != LOGS_PROGRAM)
		return;
	fd = piped_log_open(m, g, name);
	if (fd == -1)
		fatal("cannot start %s for the %s", name, kind_name(kind));
	replace_log(log, fd);
}

void
logs_start_programs(struct monitor *m)
{
	start_program(m, LOG_ACCESS, &m->setup->first->access_log);
	start_program(m, LOG_ERRORS, &m->setup->error_log);
}
