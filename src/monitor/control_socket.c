/*
 * control_socket: makes the socket under another name, and then renames it,
 * which replaces a stale socket at once.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/trusted.h"
#include "monitor/control_socket.h"

#define BACKLOG	64
#define NAME_SIZE	(UNIX_SOCKET_NAME_SIZE + sizeof(CONF_CONTROL_NEW))

static bool
is_own(const struct control_socket *s, const char *file, const struct stat *st)
{
	return s != NULL && s->fd != -1 && strcmp(s->file, file) == 0 &&
	    s->id.dev == st->st_dev && s->id.ino == st->st_ino;
}

/* Whether the name is free, or its socket may be replaced; logs an error if
 * not. */
static bool
may_take_name(const char *file, const struct control_socket *before,
    bool take_over)
{
	struct stat	st;

	if (lstat(file, &st) == -1)
		return true;
	if (!S_ISSOCK(st.st_mode)) {
		log_errorx("%s exists and is no socket: name another file in "
		    "the conf (control)", file);
		return false;
	}
	if (take_over || is_own(before, file, &st) ||
	    !unix_socket_is_live(file))
		return true;
	log_errorx("another server listens at %s, or drains still: stop that "
	    "one (ampedctl -s %s stop), or name another file in the conf "
	    "(control)", file, file);
	return false;
}

static void
set_hidden_name(char *name, size_t size, const char *file)
{
	snprintf(name, size, "%s" CONF_CONTROL_NEW, file);
}

int
control_socket_open(struct control_socket *s, const struct conf *conf,
    const struct control_socket *before, bool take_over)
{
	const struct conf_control	*control = &conf->control;
	const struct unix_socket_access	 access = { (mode_t)control->mode,
					    control->owner, control->group };
	char				 name[NAME_SIZE];

	*s = (struct control_socket){ .fd = -1 };
	if (control->file == NULL)
		return 0;
	if (!may_take_name(control->file, before, take_over))
		return -1;
	set_hidden_name(name, sizeof(name), control->file);
	trusted_make_directory(control->file);
	s->fd = unix_socket_listen(name, &access, BACKLOG, &s->id);
	if (s->fd == -1) {
		log_error("cannot make the socket %s (control)", control->file);
		return -1;
	}
	s->file = mem_string(control->file);
	return 0;
}

void
control_socket_publish(struct control_socket *s)
{
	char		 name[NAME_SIZE];
	const char	*from;
	int		 directory;

	if (s->fd == -1 || s->published)
		return;
	set_hidden_name(name, sizeof(name), s->file);
	directory = trusted_directory(name, &from);
	s->published = directory != -1 &&
	    renameat(directory, from, directory,
	    strrchr(s->file, '/') + 1) == 0;
	io_close(&directory);
	if (!s->published)
		log_error("cannot make the socket %s (control)", s->file);
}

static bool
is_same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
control_socket_is_unchanged(const struct control_socket *s,
    const struct conf *a, const struct conf *b)
{
	const struct conf_control	*x = &a->control, *y = &b->control;
	struct stat			 st;

	if (s->fd == -1 || !is_same_text(x->file, y->file) ||
	    x->mode != y->mode || !is_same_text(x->owner, y->owner) ||
	    !is_same_text(x->group, y->group))
		return false;
	return lstat(s->file, &st) == 0 && is_own(s, s->file, &st);
}

void
control_socket_remove(struct control_socket *s)
{
	char	name[NAME_SIZE];

	if (s->fd == -1)
		return;
	if (s->published)
		snprintf(name, sizeof(name), "%s", s->file);
	else
		set_hidden_name(name, sizeof(name), s->file);
	if (unix_socket_remove(name, s->id) == -1)
		log_warn("cannot remove %s", name);
	io_close(&s->fd);
	mem_drop(&s->file);
}
