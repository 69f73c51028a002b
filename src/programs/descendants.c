/*
 * descendants: finds them by their parents in proc(5).
 */
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "programs/descendants.h"

struct entry {				/* of proc(5) */
	pid_t	pid, parent;
	bool	found;			/* a descendant */
};

struct processes {
	struct entry	*at;		/* owned */
	size_t		 n;
};

void
descendants_adopt(void)
{
#ifdef __linux__
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

/* Reads a process's parent; 0: it has ended.  The name in parentheses may have
 * any characters. */
static pid_t
read_parent(const char *name)
{
	char	 path[64], line[512];
	char	*end;
	FILE	*stat;
	size_t	 n;
	int	 parent = 0;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", name);
	stat = fopen(path, "re");
	if (stat == NULL)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, stat);
	line[n] = '\0';
	fclose(stat);
	end = strrchr(line, ')');
	if (end == NULL || sscanf(end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

/* False: there is no proc(5). */
static bool
read_processes(struct processes *all)
{
	DIR			*proc = opendir("/proc");
	const struct dirent	*entry;
	pid_t			 pid, parent;

	if (proc == NULL)
		return false;
	while ((entry = readdir(proc)) != NULL) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		parent = pid > 0 ? read_parent(entry->d_name) : 0;
		if (parent == 0)
			continue;
		all->at = mem_add_room(all->at, all->n, sizeof(*all->at));
		all->at[all->n++] = (struct entry){ pid, parent, false };
	}
	closedir(proc);
	return all->n > 0;
}

static bool
is_found(const struct processes *all, pid_t pid)
{
	if (pid == getpid())
		return true;
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].pid == pid)
			return all->at[i].found;
	return false;
}

/* Marks the children of those that are marked, until there are no more. */
static void
mark_descendants(struct processes *all)
{
	struct entry	*p;
	bool		 more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < all->n; i++) {
			p = &all->at[i];
			if (p->found || !is_found(all, p->parent))
				continue;
			p->found = more = true;
		}
	}
}

void
descendants_signal(pid_t leader, int signo)
{
	struct processes	all = { 0 };

	if (!read_processes(&all))
		kill(-leader, signo);
	mark_descendants(&all);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i].found)
			kill(all.at[i].pid, signo);
	free(all.at);
}
