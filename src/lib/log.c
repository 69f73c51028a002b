/*
 * log: one line at a time, to a sink or to standard error.  What says where is
 * set before there is a second thread.
 *
 * When standard error is a pipe, a line must go into it whole or not at all.
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

/* What a pipe takes whole may be as little as that. */
enum { LINE = PIPE_BUF < 1024 ? PIPE_BUF : 1024 };

static const char	*who = "amped";
static enum log_grade	 limit = LOG_GRADE_NOTICE;
static void		(*sink)(void *, const char *, size_t);
static void		*sink_context;
static void		(*ear)(void *, const char *, size_t);
static void		*ear_context;
static int		 losses = -1;
static atomic_size_t	 owed;		/* bytes to them */

static const char *const names[] = {
#define X(id, name) [LOG_GRADE_##id] = name,
	LOG_GRADES(X)
#undef X
};

/* What to do about an error, where that is the same whatever it befell. */
static const struct {
	int		 error;
	const char	*advice;
} advices[] = {
	{ EACCES, "look at owner and mode, of the directories above it, too" },
	{ EDQUOT, "that user's quota is used up" },
	{ EFBIG, "see the limit of file sizes (ulimit -f)" },
	{ EIO, "look at the disk, and at what the kernel says of it" },
	{ EMFILE, "raise the limit of open files (ulimit -n)" },
	{ ENFILE, "raise the system's limit of open files" },
	{ ENOMEM, "make room in memory, or see its limits" },
	{ ENOSPC, "make room there" },
	{ EROFS, "have it mounted for writing" },
	{ ESTALE, "have it mounted again" }
};

static const char *
advice_for(int error)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
		if (advices[i].error == error)
			return advices[i].advice;
	return NULL;
}

void
log_init(const char *name, enum log_grade grade)
{
	who = name;
	limit = grade;
	owed = 0;		/* the parent's */
}

void
log_overhear(void (*function)(void *, const char *, size_t), void *context)
{
	ear = function;
	ear_context = context;
}

void
log_sink(void (*function)(void *, const char *, size_t), void *context)
{
	sink = function;
	sink_context = context;
}

void
log_losses(int fd)
{
	losses = fd;
}

enum log_grade
log_grade(void)
{
	return limit;
}

/* What finds no room there either is told with a later line. */
static void
tell_losses(void)
{
	static const char	each[64];
	size_t			left = atomic_exchange(&owed, 0);
	ssize_t			n;

	while (left > 0 && losses != -1) {
		n = write(losses, each, left < sizeof(each) ? left :
		    sizeof(each));
		if (n <= 0) {
			atomic_fetch_add(&owed, left);
			return;
		}
		left -= (size_t)n;
	}
}

static void
put(const char *line, size_t n)
{
	if (sink != NULL)
		sink(sink_context, line, n);
	else if (write(STDERR_FILENO, line, n) == -1)
		atomic_fetch_add(&owed, 1);
	tell_losses();
}

/* How much of the line there is now. */
static size_t
add_error(int error, char *line, size_t n, size_t room)
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
emit(enum log_grade grade, int error, const char *format, va_list args)
{
	char		 line[LINE];
	struct tm	 tm;
	time_t		 now = time(NULL);
	size_t		 n, text, room = sizeof(line) - 1; /* newline fits */
	int		 k;

	localtime_r(&now, &tm);
	n = strftime(line, room, "%Y-%m-%dT%H:%M:%S%z ", &tm);
	n += (size_t)snprintf(line + n, room - n, "%s[%ld] %s: ", who,
	    (long)getpid(), names[grade]);
	text = n;
	k = vsnprintf(line + n, room - n, format, args);
	n += k < 0 ? 0 : (size_t)k;
	n = add_error(error, line, n, room);
	if (n > room - 1)
		n = room - 1;
	visible_line(line, n);		/* one line, whatever came in */
	line[n++] = '\n';
	put(line, n);
	if (ear != NULL && grade == LOG_GRADE_ERROR)
		ear(ear_context, line + text, n - text);
}

static void
submit(enum log_grade grade, int error, const char *format, va_list args)
{
	int	saved = errno;

	if (grade <= limit)
		emit(grade, error, format, args);
	errno = saved;
}

static size_t
add(char *line, size_t n, const char *text)
{
	while (*text != '\0' && n < LINE - 1)
		line[n++] = *text++;
	return n;
}

void
log_dying(const char *const words[])
{
	char	line[LINE];
	size_t	n = add(line, add(line, 0, who), ": error: ");

	for (size_t i = 0; words[i] != NULL; i++)
		n = add(line, n, words[i]);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) == -1)
		return;		/* nobody is left to count it */
}

#define SUBMIT(grade, error) do {					\
	va_list	args;							\
	va_start(args, format);						\
	submit(grade, error, format, args);				\
	va_end(args);							\
} while (0)

void
log_error(const char *format, ...)
{
	SUBMIT(LOG_GRADE_ERROR, errno);
}

void
log_errorx(const char *format, ...)
{
	SUBMIT(LOG_GRADE_ERROR, 0);
}

void
log_warn(const char *format, ...)
{
	SUBMIT(LOG_GRADE_WARN, errno);
}

void
log_warnx(const char *format, ...)
{
	SUBMIT(LOG_GRADE_WARN, 0);
}

void
log_notice(const char *format, ...)
{
	SUBMIT(LOG_GRADE_NOTICE, 0);
}

void
log_info(const char *format, ...)
{
	SUBMIT(LOG_GRADE_INFO, 0);
}

void
log_debug(const char *format, ...)
{
	SUBMIT(LOG_GRADE_DEBUG, 0);
}

_Noreturn void
fatal(const char *format, ...)
{
	log_sink(NULL, NULL);
	SUBMIT(LOG_GRADE_ERROR, errno);
	exit(1);
}

_Noreturn void
fatalx(const char *format, ...)
{
	log_sink(NULL, NULL);
	SUBMIT(LOG_GRADE_ERROR, 0);
	exit(1);
}
