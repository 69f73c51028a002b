/*
 * logs: opens logs, and tells by a name what kind of log it is.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/io.h"
#include "lib/trusted.h"
#include "monitor/generation.h"
#include "monitor/logs.h"

#define PIPE_SIZE	(1024 * 1024)	/* bytes; Linux allows no more */

struct logs_errors	logs_errors;

int
logs_open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) == -1)
		return -1;
#ifdef F_SETPIPE_SZ
	/* A smaller pipe will do. */
	(void)fcntl(fd[1], F_SETPIPE_SZ, PIPE_SIZE);
#endif
	return io_nonblock(fd[1]);
}

int
logs_open_errors(void)
{
	return logs_open_pipe(logs_errors.lines) == -1 ||
	    logs_open_pipe(logs_errors.drops) == -1 ||
	    io_nonblock(logs_errors.lines[0]) == -1 ||
	    io_nonblock(logs_errors.drops[0]) == -1 ? -1 : 0;
}

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
	    strcmp(name, "stdout") == 0 ? LOGS_STDOUT :
	    name[0] == '/' ? LOGS_FILE :
	    name[0] == '|' ? LOGS_PROGRAM : LOGS_SYSLOG;
}

const char *
logs_syslog_socket(const char *name)
{
	const char	*socket = strchr(name, ':');

	return socket != NULL ? socket + 1 : "/dev/log";
}

const char *
logs_kind_name(unsigned log)
{
	return log == LOG_ERRORS ? "error log" : "access log";
}

const char *
logs_name(const struct generation *g, unsigned log)
{
	return log == LOG_ERRORS ? g->conf->log.error.to :
	    g->conf->log.all.targets[log - LOG_ACCESS];
}

unsigned
logs_count(const struct generation *g)
{
	return LOG_ACCESS + (unsigned)g->naccess_logs;
}

unsigned
logs_find(const struct generation *g, const char *name)
{
	unsigned	log = logs_count(g) - 1;

	while (log >= LOG_ACCESS && strcmp(logs_name(g, log), name) != 0)
		log--;
	return log;
}

bool
logs_has(const struct conf *conf, enum logs_target target)
{
	if (logs_target(conf->log.error.to) == target)
		return true;
	for (size_t i = 0; i < conf->log.all.ntargets; i++)
		if (logs_target(conf->log.all.targets[i]) == target)
			return true;
	return false;
}
