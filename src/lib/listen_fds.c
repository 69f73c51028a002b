/*
 * listen_fds: both sides of the protocol of LISTEN_FDS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/io.h"
#include "lib/listen_fds.h"
#include "lib/mem.h"
#include "lib/str.h"

static int64_t
env_number(const char *variable)
{
	const char	*text = getenv(variable);
	int64_t		 n;

	return text != NULL && str_number(str_of(text), &n) ? n : 0;
}

/* Copies the next name; returns where the name after it begins. */
static const char *
next_name(const char *names, char *name)
{
	size_t	n = strcspn(names, ":");

	name[0] = '\0';
	if (n < LISTEN_FDS_NAME_SIZE) {
		memcpy(name, names, n);
		name[n] = '\0';
	}
	return names + n + (names[n] == ':');
}

static size_t
collect_fds(struct listen_fd *list, size_t max)
{
	const char	*names = getenv("LISTEN_FDNAMES");
	size_t		 n = 0;

	if (names == NULL)
		names = "";
	for (size_t i = 0; i < max; i++) {
		names = next_name(names, list[n].name);
		list[n].fd = LISTEN_FDS_FIRST + (int)i;
		if (io_cloexec(list[n].fd, true) == 0)
			n++;
	}
	return n;
}

size_t
listen_fds_take(struct listen_fd **list)
{
	int64_t	max = env_number("LISTEN_FDS");
	size_t	n = 0;

	*list = NULL;
	if (env_number("LISTEN_PID") == getpid() && max > 0 &&
	    max <= LISTEN_FDS_MAX) {
		*list = mem_array((size_t)max, sizeof(**list));
		n = collect_fds(*list, (size_t)max);
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return n;
}

static int
set_env_number(const char *variable, long n)
{
	char	text[32];

	snprintf(text, sizeof(text), "%ld", n);
	return setenv(variable, text, 1);
}

int
listen_fds_give(struct listen_fd *list, size_t n)
{
	struct buf	names = { 0 };
	int		wrong = 0;

	/* Move all above the target numbers first, so that none is lost. */
	for (size_t i = 0; i < n; i++) {
		list[i].fd = fcntl(list[i].fd, F_DUPFD_CLOEXEC,
		    LISTEN_FDS_FIRST + (int)n);
		if (list[i].fd == -1)
			return -1;
	}
	for (size_t i = 0; i < n; i++) {
		if (dup2(list[i].fd, LISTEN_FDS_FIRST + (int)i) == -1)
			return -1;
		buf_addf(&names, "%s%s", i > 0 ? ":" : "", list[i].name);
	}
	wrong |= set_env_number("LISTEN_PID", (long)getpid());
	wrong |= set_env_number("LISTEN_FDS", (long)n);
	wrong |= setenv("LISTEN_FDNAMES", buf_string(&names), 1);
	buf_free(&names);
	return wrong;
}
