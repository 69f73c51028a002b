/*
 * standard_error: keeps standard error, or puts /dev/null in its place.
 */
#include <sys/stat.h>

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
standard_error_open(struct monitor_setup *setup)
{
	struct inherited	*h = &setup->inherited;
	struct standard_error	*s = &setup->standard_error;

	s->fd = h->standard_error != -1 ? h->standard_error :
	    fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	s->background = h->background != -1;
	s->given_up = h->given_up != -1;
	io_close(&h->background);
	io_close(&h->given_up);
}

static bool
is_wanted(const struct conf *conf)
{
	return logs_target(conf->log.error.to) == LOGS_STDERR ||
	    logs_target(conf->log.access.to) == LOGS_STDERR;
}

bool
standard_error_is_for(const struct standard_error *s, const struct conf *conf)
{
	return !s->background || is_wanted(conf);
}

bool
standard_error_is_allowed(const struct standard_error *s,
    const struct conf *conf)
{
	if (!s->given_up || !is_wanted(conf))
		return true;
	log_errorx("no log can go to stderr: amped runs in the background and "
	    "has given up standard error, as no log went there; name a file in "
	    "block log, or restart amped");
	return false;
}

static bool
is_same_device(int a, int b)
{
	struct stat	one, other;

	return fstat(a, &one) == 0 && fstat(b, &other) == 0 &&
	    S_ISCHR(one.st_mode) && S_ISCHR(other.st_mode) &&
	    one.st_rdev == other.st_rdev;
}

/* Whether the error logger's standard error is ours: it has no other log. */
static bool
is_for_last_words(const struct conf *conf)
{
	enum logs_target	target = logs_target(conf->log.error.to);

	return target != LOGS_FILE && target != LOGS_PROGRAM;
}

void
standard_error_settle(struct standard_error *s, const struct conf *conf)
{
	int	null;

	if (standard_error_is_for(s, conf))
		return;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null == -1) {
		log_warn("cannot give standard error up");
		return;
	}
	/* The error logger has standard error open as well. */
	if (is_for_last_words(conf) && !is_same_device(error_log_get(), null))
		error_log_use(fcntl(null, F_DUPFD_CLOEXEC, 3));
	io_close(&s->fd);
	s->fd = null;
	s->given_up = true;
}
