/*
 * socket_files: a list by name, since a generation closes its sockets before it
 * ends.
 */
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "monitor/component.h"
#include "monitor/generation.h"
#include "monitor/socket_files.h"
#include "shared/listener.h"

struct socket_file {
	char			*name;	/* owned */
	struct unix_socket_id	 id;
};

static struct {
	struct socket_file	*at;
	size_t			 n;
	bool			 left;	/* another monitor is in charge */
} files;

static struct socket_file *
find_file(const char *name)
{
	for (size_t i = 0; i < files.n; i++)
		if (strcmp(files.at[i].name, name) == 0)
			return &files.at[i];
	return NULL;
}

/* The generation's listener with that file, or NULL. */
static const struct listener *
find_listener(const struct generation *g, const char *name)
{
	const char	*file;

	for (size_t i = 0; i < g->nlisteners; i++) {
		file = listener_file(g->conf, &g->listeners[i]);
		if (file != NULL && strcmp(file, name) == 0)
			return &g->listeners[i];
	}
	return NULL;
}

static void
remove_file(const char *name, struct unix_socket_id id)
{
	if (unix_socket_remove(name, id) == -1)
		log_warn("cannot remove %s", name);
}

/* Removes the files that a generation does not have; NULL: all. */
static void
remove_others(const struct generation *g)
{
	size_t	kept = 0;

	for (size_t i = 0; i < files.n; i++) {
		if (g != NULL && find_listener(g, files.at[i].name) != NULL) {
			files.at[kept++] = files.at[i];
			continue;
		}
		remove_file(files.at[i].name, files.at[i].id);
		mem_drop(&files.at[i].name);
	}
	files.n = kept;
	if (kept == 0)
		mem_drop(&files.at);
}

void
socket_files_hold(const struct generation *g)
{
	const struct listener	*l = g->listeners;
	const char		*name;

	remove_others(g);
	for (size_t i = 0; i < g->nlisteners; i++, l++) {
		name = listener_file(g->conf, l);
		if (name == NULL || !l->made)
			continue;
		listener_set_access(g->conf, l);
		if (find_file(name) != NULL)
			continue;
		files.at = mem_grow(files.at, files.n + 1, sizeof(*files.at));
		files.at[files.n++] = (struct socket_file){ mem_string(name),
		    l->file };
	}
}

void
socket_files_drop(const struct generation *g)
{
	const struct listener	*l = g->listeners;
	const char		*name;

	for (size_t i = 0; i < g->nlisteners && !files.left; i++, l++) {
		name = listener_file(g->conf, l);
		if (name != NULL && l->made && find_file(name) == NULL)
			remove_file(name, l->file);
	}
}

void
socket_files_leave(void)
{
	while (files.n > 0)
		mem_drop(&files.at[--files.n].name);
	mem_drop(&files.at);
	files.left = true;
}

/* Before the mains are told to end: no client comes after the queued ones. */
static void
remove_all(void)
{
	remove_others(NULL);
}

const struct component	socket_files_component = { .stop = remove_all };
