/*
 * children: a list, as long as there are processes.
 */
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/mem.h"
#include "monitor/children.h"
#include "shared/helper_slots.h"

const char *
children_role_name(enum role role)
{
	static const char *const	names[] = {
#define X(id, name) name,
		ROLES(X)
#undef X
	};

	return names[role];
}

static ino_t
get_inode(int fd)
{
	struct stat	st;

	return fstat(fd, &st) == -1 ? 0 : st.st_ino;
}

void
children_init(struct children *all)
{
	TAILQ_INIT(&all->list);
}

void
children_free(struct children *all)
{
	struct child	*c;

	while ((c = TAILQ_FIRST(&all->list)) != NULL) {
		TAILQ_REMOVE(&all->list, c, link);
		free(c);
	}
}

void
children_add(struct children *all, pid_t pid, enum role role,
    unsigned main_id, int pipe)
{
	struct child	*c = mem_zero(sizeof(*c));

	c->pid = pid;
	c->role = role;
	c->main_id = main_id;
	c->pipe_inode = get_inode(pipe);
	TAILQ_INSERT_TAIL(&all->list, c, link);
}

bool
children_remove(struct children *all, pid_t pid, struct child *removed)
{
	struct child	*c;

	TAILQ_FOREACH(c, &all->list, link)
		if (c->pid == pid) {
			*removed = *c;
			TAILQ_REMOVE(&all->list, c, link);
			free(c);
			return true;
		}
	return false;
}

bool
children_has_enough(const struct children *all, enum role role,
    unsigned main_id, int64_t max, int64_t total_max)
{
	const struct child	*c;
	int64_t			 own = 0, n = 0;

	TAILQ_FOREACH(c, &all->list, link) {
		n += c->role == role && (c->orphan ||
		    c->main_id == main_id);
		own += c->role == role && c->main_id == main_id;
	}
	return own >= 3 * max || n >= 6 * total_max;
}

void
children_mark_orphans(struct children *all, unsigned main_id,
    struct helper_slots *slots, unsigned worker)
{
	struct child	*c;

	TAILQ_FOREACH(c, &all->list, link) {
		if (c->main_id != main_id)
			continue;
		c->orphan = c->role == ROLE_HELPER ||
		    c->role == ROLE_ACCESS_LOGGER;
		c->worker = worker;
		if (c->role == ROLE_HELPER)
			c->fs_queue = helper_slots_find(slots, c->pipe_inode);
	}
	helper_slots_clear(slots);
}

/* Returns a descriptor that is readable when the process has ended, or -1. */
static int
open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

void
children_find_orphans(const struct children *all, unsigned worker, unsigned of,
    struct orphans *orphans)
{
	const struct child	*c;
	int			 fd;

	*orphans = (struct orphans){ 0 };
	TAILQ_FOREACH(c, &all->list, link) {
		if (c->role != ROLE_HELPER || !c->orphan ||
		    c->worker % of != worker)
			continue;
		fd = open_pidfd(c->pid);
		if (fd == -1)
			continue;
		orphans->at = mem_grow(orphans->at, orphans->count + 1,
		    sizeof(*orphans->at));
		orphans->at[orphans->count++] = (struct orphan){
			fd, c->fs_queue
		};
	}
}

void
children_free_orphans(struct orphans *orphans)
{
	for (size_t i = 0; i < orphans->count; i++)
		close(orphans->at[i].fd);
	free(orphans->at);
	*orphans = (struct orphans){ 0 };
}

static void
kill_and_give_up(struct child *c)
{
	c->given_up = true;
	kill(c->pid, SIGKILL);
}

void
children_kill_helper(struct children *all, int pipe)
{
	struct child	*c;
	ino_t		 inode = pipe != -1 ? get_inode(pipe) : 0;

	TAILQ_FOREACH(c, &all->list, link)
		if (c->role == ROLE_HELPER && inode != 0 &&
		    c->pipe_inode == inode)
			kill_and_give_up(c);
}

void
children_kill_helpers(struct children *all, unsigned main_id)
{
	struct child	*c;

	TAILQ_FOREACH(c, &all->list, link)
		if (c->role == ROLE_HELPER && c->main_id == main_id)
			kill_and_give_up(c);
}

void
children_kill_all(struct children *all)
{
	struct child	*c;

	TAILQ_FOREACH(c, &all->list, link)
		kill(c->pid, SIGKILL);
}

void
children_give_up(struct children *all, pid_t pid)
{
	struct child	*c;

	TAILQ_FOREACH(c, &all->list, link)
		if (c->pid == pid)
			c->given_up = true;
}

bool
children_all_given_up(const struct children *all)
{
	const struct child	*c;

	TAILQ_FOREACH(c, &all->list, link)
		if (!c->given_up)
			return false;
	return true;
}
