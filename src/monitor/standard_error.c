/*
 * standard_error: keeps standard error, or puts /dev/null in its place; and
 * copies of it and of standard output for logs.
 */
#include <fcntl.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "monitor/error_log.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/standard_error.h"

void
standard_error_open(bool background)
{
	struct inherited	*h = &prepared.inherited;
	struct standard_error	*s = &prepared.standard_error;

	s->fd = h->standard_error != -1 ? h->standard_error :
	    fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	s->background = background || h->background != -1;
	s->given_up = h->given_up != -1;
	io_close(&h->background);
	io_close(&h->given_up);
}

static bool
is_wanted(const struct conf *conf)
{
	return logs_has(conf, LOGS_STDERR);
}

int
standard_error_copy(enum logs_target target)
{
	return fcntl(target == LOGS_STDOUT ? STDOUT_FILENO :
	    prepared.standard_error.fd, F_DUPFD_CLOEXEC, 3);
}

bool
standard_error_is_for(const struct conf *conf)
{
	return !prepared.standard_error.background || is_wanted(conf);
}

bool
standard_error_is_allowed(const struct conf *conf)
{
	if (prepared.standard_error.background && logs_has(conf, LOGS_STDOUT)) {
		log_errorx("no log can go to stdout: amped runs in the "
		    "background, where there is none; name a file in block "
		    "log, or start amped with -D");
		return false;
	}
	if (!prepared.standard_error.given_up || !is_wanted(conf))
		return true;
	log_errorx("no log can go to stderr: amped runs in the background and "
	    "has given up standard error, as no log went there; name a file in "
	    "block log, or restart amped");
	return false;
}

void
standard_error_settle(const struct conf *conf)
{
	struct standard_error	*s = &prepared.standard_error;
	enum logs_target	 target = logs_target(conf->log.error.to);
	int			 null;

	if (s->given_up || standard_error_is_for(conf))
		return;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null == -1) {
		log_warn("cannot give standard error up");
		return;
	}
	/* An error logger without another log has standard error open, too. */
	if (target != LOGS_FILE && target != LOGS_PROGRAM)
		error_log_use(fcntl(null, F_DUPFD_CLOEXEC, 3));
	io_close(&s->fd);
	s->fd = null;
	s->given_up = true;
}
