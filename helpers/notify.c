/*
 * notify: the one file that knows inotify.
 */
#ifdef HAVE_INOTIFY_INIT1
#include <sys/inotify.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "helpers/notify.h"

static int	used = -1;

void
notify_use(int notify)
{
	used = notify;
}

bool
notify_is_used(void)
{
	return used != -1;
}

uint32_t
notify_hash(const char *name)
{
	uint32_t	h = 2166136261;		/* FNV-1a */

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * 16777619;
	return h == 0 ? 1 : h;
}

#ifdef HAVE_INOTIFY_INIT1

/* Without access and open, which change nothing. */
#define MASK	(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE |	\
    IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |		\
    IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)
#define GONE	(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)

int
notify_open(void)
{
	return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

int
notify_add(int directory)
{
	char	name[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", directory);
	return inotify_add_watch(used, name, MASK);
}

void
notify_remove(int notify, int number)
{
	(void)inotify_rm_watch(notify, number);
}

/* Whether owner or mode of the directory may have changed.  Only / and other
 * roots of mounts have no directory above that is told of it. */
static bool
is_of_itself(const struct inotify_event *from)
{
	return (from->mask & IN_ATTRIB) != 0 && from->len == 0;
}

/* False: an event that says nothing. */
static bool
translate_event(const struct inotify_event *from, struct notify_event *to)
{
	*to = (struct notify_event){ .what = NOTIFY_ENTRY, .number = from->wd,
	    .name = from->name, .directory = (from->mask & IN_ISDIR) != 0 };
	if ((from->mask & IN_Q_OVERFLOW) != 0)
		to->what = NOTIFY_LOST;
	else if ((from->mask & GONE) != 0 || is_of_itself(from))
		to->what = NOTIFY_GONE;
	else
		return from->len > 0;
	return true;
}

void
notify_read(int notify, void (*on_event)(void *, const struct notify_event *),
    void *context)
{
	union {
		struct inotify_event	first;	/* aligns the bytes */
		char			bytes[16 * 1024];
	}				room;
	const struct inotify_event	*from;
	struct notify_event		 event;
	ssize_t				 n, at;

	n = read(notify, room.bytes, sizeof(room));
	for (at = 0; at < n; at += (ssize_t)(sizeof(*from) + from->len)) {
		from = (const void *)(room.bytes + at);
		if (translate_event(from, &event))
			on_event(context, &event);
	}
}

int64_t
notify_max(void)
{
	char	text[32] = "";
	int	fd = open("/proc/sys/fs/inotify/max_user_watches",
		    O_RDONLY | O_CLOEXEC);

	if (fd == -1 || read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	io_close(&fd);
	return strtoll(text, NULL, 10);
}

#else

int
notify_open(void)
{
	errno = ENOSYS;
	return -1;
}

int
notify_add(int directory)
{
	(void)directory;
	errno = ENOSYS;
	return -1;
}

void
notify_remove(int notify, int number)
{
	(void)notify;
	(void)number;
}

void
notify_read(int notify, void (*on_event)(void *, const struct notify_event *),
    void *context)
{
	(void)notify;
	(void)on_event;
	(void)context;
}

int64_t
notify_max(void)
{
	return 0;
}

#endif
