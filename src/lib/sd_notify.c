/*
 * sd_notify: sends datagrams to the socket that NOTIFY_SOCKET names.
 *
 * A message is not repeated, so sending waits for room, but not for long.
 */
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/sd_notify.h"
#include "lib/str.h"

#define MESSAGE_SIZE		1024		/* bytes of a message */
#define SEND_TIMEOUT_US	200000

static int64_t
env_number(const char *variable)
{
	const char	*text = getenv(variable);
	int64_t		 n;

	return text != NULL && str_number(str_of(text), &n) ? n : 0;
}

static int
open_socket(void)
{
	static const struct timeval	wait = { .tv_usec = SEND_TIMEOUT_US };
	int				fd;

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd != -1)
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	return fd;
}

void
sd_notify_open(struct sd_notify *n)
{
	const char	*name = getenv("NOTIFY_SOCKET");
	int64_t		 pid = env_number("WATCHDOG_PID");

	*n = (struct sd_notify)SD_NOTIFY_NONE;
	if (name != NULL && (name[0] == '/' || name[0] == '@') &&
	    strlen(name) < sizeof(((struct sockaddr_un *)0)->sun_path) &&
	    (n->fd = open_socket()) != -1) {
		n->socket = mem_string(name);
		if (pid == 0 || pid == (int64_t)getpid())
			n->watchdog = env_number("WATCHDOG_USEC") / 1000;
	} else if (name != NULL)
		log_warnx("ignoring NOTIFY_SOCKET=%s, which names no socket",
		    name);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

static void
send_text(const struct sd_notify *n, const char *text)
{
	struct sockaddr_un	to = { .sun_family = AF_UNIX };
	size_t			len = strlen(n->socket);

	memcpy(to.sun_path, n->socket, len);
	if (to.sun_path[0] == '@')		/* an abstract socket */
		to.sun_path[0] = '\0';
	if (sendto(n->fd, text, strlen(text), MSG_NOSIGNAL,
	    (const struct sockaddr *)&to, (socklen_t)(len +
	    offsetof(struct sockaddr_un, sun_path))) == -1)
		log_warn("cannot notify the supervisor at %s", n->socket);
}

void
sd_notify_send(const struct sd_notify *n, const char *format, ...)
{
	char	text[MESSAGE_SIZE];
	va_list	args;

	if (n->fd == -1)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	send_text(n, text);
}

void
sd_notify_reloading(const struct sd_notify *n)
{
	sd_notify_send(n, "RELOADING=1\nMONOTONIC_USEC=%lld\n"
	    "STATUS=reading the conf again", (long long)clock_us());
}

static int
set_env_number(const char *variable, int64_t value)
{
	char	text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	return setenv(variable, text, 1);
}

int
sd_notify_export(const struct sd_notify *n)
{
	if (n->fd == -1)
		return 0;
	if (n->watchdog != 0 &&
	    (set_env_number("WATCHDOG_USEC", n->watchdog * 1000) == -1 ||
	    set_env_number("WATCHDOG_PID", (int64_t)getpid()) == -1))
		return -1;
	return setenv("NOTIFY_SOCKET", n->socket, 1);
}

void
sd_notify_close(struct sd_notify *n)
{
	io_close(&n->fd);
	mem_drop(&n->socket);
	n->watchdog = 0;
}
