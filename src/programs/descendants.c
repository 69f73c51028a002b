/*
 * descendants: finds them by lists of children in proc(5), or by parents.
 */
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "programs/descendants.h"

struct processes {
	pid_t	*at;			/* owned */
	size_t	 n;
};

void
descendants_adopt(void)
{
#ifdef __linux__
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

static void
add_process(struct processes *to, pid_t pid)
{
	to->at = mem_add_room(to->at, to->n, sizeof(*to->at));
	to->at[to->n++] = pid;
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

/* Looks at all processes: for a kernel that does not list children. */
static void
search_children(pid_t parent, struct processes *to)
{
	DIR			*proc = opendir("/proc");
	const struct dirent	*entry;
	pid_t			 pid;

	if (proc == NULL)
		return;
	while ((entry = readdir(proc)) != NULL) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && read_parent(entry->d_name) == parent)
			add_process(to, pid);
	}
	closedir(proc);
}

static void
read_list(const char *path, struct processes *to)
{
	FILE	*list = fopen(path, "re");
	int	 pid;

	if (list == NULL)		/* the thread has ended */
		return;
	while (fscanf(list, "%d", &pid) == 1)
		add_process(to, pid);
	fclose(list);
}

/* Reads the lists of children that the kernel has of each thread. */
static void
read_lists(pid_t parent, struct processes *to)
{
	char			 path[80];
	DIR			*threads;
	const struct dirent	*entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	threads = opendir(path);
	if (threads == NULL)		/* the process has ended */
		return;
	while ((entry = readdir(threads)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children",
		    (int)parent, entry->d_name);
		read_list(path, to);
	}
	closedir(threads);
}

/* All are found before one can end, whose children would have another parent
 * then.  is_left_out: of children of this process; NULL: none is. */
static void
find_descendants(struct processes *all,
    bool (*is_left_out)(const void *, pid_t), const void *context)
{
	bool	has_lists = access("/proc/thread-self/children", R_OK) == 0;
	void	(*add_children)(pid_t, struct processes *) =
		    has_lists ? read_lists : search_children;
	size_t	n = 0;

	add_children(getpid(), all);
	for (size_t i = 0; i < all->n; i++)
		if (is_left_out == NULL || !is_left_out(context, all->at[i]))
			all->at[n++] = all->at[i];
	all->n = n;
	for (size_t i = 0; i < all->n; i++)
		add_children(all->at[i], all);
}

static void
signal_all(struct processes *all, int signo)
{
	for (size_t i = 0; i < all->n; i++)
		kill(all->at[i], signo);
	free(all->at);
}

void
descendants_signal(pid_t leader, int signo)
{
	struct processes	all = { 0 };

	if (access("/proc/self", F_OK) == -1)
		kill(-leader, signo);
	find_descendants(&all, NULL, NULL);
	signal_all(&all, signo);
}

bool
descendants_kill_strangers(bool (*is_own)(const void *, pid_t),
    const void *context)
{
	struct processes	all = { 0 };

	find_descendants(&all, is_own, context);
	signal_all(&all, SIGKILL);
	return all.n > 0;
}
