/*
 * log: writes each line with one call, to the output function or to standard
 * error.  The settings are made before a second thread starts.
 *
 * A pipe as standard error must take a line whole or not at all.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/visible.h"

/* A pipe writes up to PIPE_BUF bytes at once, which may be as few as 512. */
enum { LINE_BYTES = PIPE_BUF < 1024 ? PIPE_BUF : 1024 };

#define REPEAT_MS	60000	/* ms between lines that clients can cause */

static const char	*process_name = "amped";
static enum log_level	 max_level = LOG_LEVEL_NOTICE;
static void		(*output)(void *, const char *, size_t);
static void		*output_context;
static void		(*capture)(void *, const char *, size_t);
static void		*capture_context;
static int		 drops_fd = -1;
static atomic_size_t	 drops_unreported;	/* lines */

static const char *const level_names[] = {
#define X(id, name) [LOG_LEVEL_##id] = name,
	LOG_LEVELS(X)
#undef X
};

/* Remedies for errors whose remedy does not depend on the failed operation. */
static const struct {
	int		 error;
	const char	*advice;
} remedies[] = {
	{ EACCES, "check owner and mode, of the directories above it too" },
	{ EDQUOT, "raise the user's disk quota, or delete files" },
	{ EFBIG, "raise the limit of file sizes (ulimit -f)" },
	{ EIO, "check the disk, and the kernel's messages" },
	{ EMFILE, "raise the limit of open files (ulimit -n)" },
	{ ENFILE, "raise the system's limit of open files" },
	{ ENOMEM, "free memory, or raise its limits" },
	{ ENOSPC, "free space on that file system" },
	{ EROFS, "mount the file system for writing" },
	{ ESTALE, "mount the file system again" }
};

static const char *
advice_for(int error)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (remedies[i].error == error)
			return remedies[i].advice;
	return NULL;
}

void
log_init(const char *name, enum log_level level)
{
	process_name = name;
	max_level = level;
	drops_unreported = 0;		/* the parent counts its own */
}

void
log_capture(void (*function)(void *, const char *, size_t), void *context)
{
	capture = function;
	capture_context = context;
}

void
log_set_output(void (*function)(void *, const char *, size_t), void *context)
{
	output = function;
	output_context = context;
}

void
log_count_drops(int fd)
{
	drops_fd = fd;
}

enum log_level
log_level(void)
{
	return max_level;
}

/* Writes a byte for each dropped line; a full pipe gets them with a later
 * line. */
static void
report_drops(void)
{
	static const char	each[64];
	size_t			left = atomic_exchange(&drops_unreported, 0);
	ssize_t			n;

	while (left > 0 && drops_fd != -1) {
		n = write(drops_fd, each, left < sizeof(each) ? left :
		    sizeof(each));
		if (n <= 0) {
			atomic_fetch_add(&drops_unreported, left);
			return;
		}
		left -= (size_t)n;
	}
}

static void
write_line(const char *line, size_t n)
{
	if (output != NULL)
		output(output_context, line, n);
	else if (write(STDERR_FILENO, line, n) == -1)
		atomic_fetch_add(&drops_unreported, 1);
	report_drops();
}

/* Appends errno's text and its remedy; returns the line's new length. */
static size_t
append_error(int error, char *line, size_t n, size_t room)
{
	const char	*advice = advice_for(error);

	if (error == 0 || n >= room)
		return n;
	n += (size_t)snprintf(line + n, room - n, ": %s", strerror(error));
	if (advice != NULL && n < room)
		n += (size_t)snprintf(line + n, room - n, "; %s", advice);
	return n;
}

static void
format_line(enum log_level level, int error, const char *format, va_list args)
{
	char		 line[LINE_BYTES];
	struct tm	 tm;
	time_t		 now = time(NULL);
	size_t		 n, text, room = sizeof(line) - 1; /* newline fits */
	int		 k;

	localtime_r(&now, &tm);
	n = strftime(line, room, "%Y-%m-%dT%H:%M:%S%z ", &tm);
	n += (size_t)snprintf(line + n, room - n, "%s[%ld] %s: ", process_name,
	    (long)getpid(), level_names[level]);
	text = n;
	k = vsnprintf(line + n, room - n, format, args);
	n += k < 0 ? 0 : (size_t)k;
	n = append_error(error, line, n, room);
	if (n > room - 1)
		n = room - 1;
	visible_line(line, n);		/* one line, whatever came in */
	line[n++] = '\n';
	write_line(line, n);
	if (capture != NULL && level == LOG_LEVEL_ERROR)
		capture(capture_context, line + text, n - text);
}

static void
log_line(enum log_level level, int error, const char *format, va_list args)
{
	int	saved = errno;

	if (level <= max_level)
		format_line(level, error, format, args);
	errno = saved;
}

static size_t
append_text(char *line, size_t n, const char *text)
{
	while (*text != '\0' && n < LINE_BYTES - 1)
		line[n++] = *text++;
	return n;
}

void
log_crash(const char *const words[])
{
	char	line[LINE_BYTES];
	size_t	n;

	n = append_text(line, 0, process_name);
	n = append_text(line, n, ": error: ");
	for (size_t i = 0; words[i] != NULL; i++)
		n = append_text(line, n, words[i]);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) == -1)
		return;		/* the process ends: no one counts drops */
}

bool
log_is_due(_Atomic int64_t *last, int64_t now)
{
	int64_t	before = atomic_load(last);

	return (before == 0 || now - before >= REPEAT_MS) &&
	    atomic_compare_exchange_strong(last, &before, now);
}

void
log_write(enum log_level level, bool with_errno, const char *format, ...)
{
	va_list	args;

	va_start(args, format);
	log_line(level, with_errno ? errno : 0, format, args);
	va_end(args);
}

_Noreturn void
log_fatal(bool with_errno, const char *format, ...)
{
	va_list	args;

	log_set_output(NULL, NULL);
	va_start(args, format);
	log_line(LOG_LEVEL_ERROR, with_errno ? errno : 0, format, args);
	va_end(args);
	exit(1);
}
