/*
 * syslog: sends datagrams in the format of syslog(3) (RFC 3164).
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "helpers/syslog.h"
#include "lib/facility.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/str.h"

#define SEVERITY_INFO	6	/* of a line without a level */

static const struct {
	const char	*name;
	int		 number;
} facilities[] = {
#define X(id, name, number) { name, number },
	FACILITIES(X)
#undef X
};

static const struct {
	const char	*word;
	int		 severity;
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error:", 3 },
	[LOG_LEVEL_WARN] = { "warn:", 4 },
	[LOG_LEVEL_NOTICE] = { "notice:", 5 },
	[LOG_LEVEL_INFO] = { "info:", 6 },
	[LOG_LEVEL_DEBUG] = { "debug:", 7 }
};

static bool
copy_field(char *to, size_t size, struct str s)
{
	if (s.len == 0 || s.len >= size)
		return false;
	memcpy(to, s.at, s.len);
	to[s.len] = '\0';
	return true;
}

bool
syslog_init(struct syslog *s, const char *text)
{
	struct str	rest = str_of(text), facility = str_cut(&rest, ','),
			tag = str_cut(&rest, ',');

	*s = (struct syslog){ .fd = -1, .facility = -1 };
	for (int i = 0; i < FACILITY_COUNT; i++)
		if (str_same(facility, str_of(facilities[i].name)))
			s->facility = facilities[i].number;
	return s->facility != -1 && copy_field(s->tag, sizeof(s->tag), tag) &&
	    copy_field(s->path, sizeof(s->path), rest);
}

static int
connect_socket(struct syslog *s)
{
	struct sockaddr_un	sa = { .sun_family = AF_UNIX };
	int			saved;

	s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd == -1)
		return -1;
	memcpy(sa.sun_path, s->path, sizeof(sa.sun_path));
	if (connect(s->fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return 0;
	saved = errno;
	io_close(&s->fd);
	errno = saved;
	return -1;
}

/* Cuts the time off a line of lib/log, since the header has a time, and returns
 * the severity of the level, which follows the process. */
static int
cut_severity(const struct syslog *s, struct str *line)
{
	struct str	rest = *line, word;

	if (!s->has_levels || line->len == 0 || line->at[0] < '0' ||
	    line->at[0] > '9')
		return SEVERITY_INFO;
	str_cut(&rest, ' ');
	*line = rest;
	for (int words = 0; words < 3 && rest.len > 0; words++) {
		word = str_cut(&rest, ' ');
		for (int i = 0; i < LOG_LEVEL_COUNT; i++)
			if (str_same(word, str_of(levels[i].word)))
				return levels[i].severity;
	}
	return SEVERITY_INFO;
}

/* Months in English, whatever the locale. */
static size_t
format_header(const struct syslog *s, int level, char *to, size_t size)
{
	static const char	months[] = "JanFebMarAprMayJun"
				    "JulAugSepOctNovDec";
	time_t			now = time(NULL);
	struct tm		tm;

	localtime_r(&now, &tm);
	return (size_t)snprintf(to, size, "<%d>%.3s %2d %02d:%02d:%02d %s: ",
	    s->facility * 8 + level, months + 3 * tm.tm_mon, tm.tm_mday,
	    tm.tm_hour, tm.tm_min, tm.tm_sec, s->tag);
}

static bool
is_disconnected(int error)
{
	return error == ECONNREFUSED || error == ENOTCONN ||
	    error == ECONNRESET || error == EPIPE || error == EDESTADDRREQ;
}

int
syslog_send(struct syslog *s, const char *at, size_t len)
{
	struct str	line = { at, len };
	char		head[100];
	size_t		n = format_header(s, cut_severity(s, &line), head,
			    sizeof(head));
	struct iovec	iov[] = { { head, n },
			    { (char *)(uintptr_t)line.at, line.len } };

	if (s->fd == -1 && connect_socket(s) == -1)
		return -1;
	if (writev(s->fd, iov, 2) != -1)
		return 0;
	if (!is_disconnected(errno))
		return -1;
	/* The daemon may have been restarted. */
	io_close(&s->fd);
	return connect_socket(s) == 0 && writev(s->fd, iov, 2) != -1 ? 0 : -1;
}
