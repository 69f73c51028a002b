/*
 * children: a list, as long as there are processes.
 */
#include <sys/wait.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "monitor/children.h"
#include "monitor/events.h"

static TAILQ_HEAD(, child)	children = TAILQ_HEAD_INITIALIZER(children);
static bool			quiet;

void
children_add(pid_t pid, const struct child_kind *kind,
    void (*died)(void *, const struct child *), void *context)
{
	struct child	*c = mem_zero(sizeof(*c));

	c->pid = pid;
	c->kind = kind;
	c->died = died;
	c->context = context;
	c->awaited = !kind->lasting;
	TAILQ_INSERT_TAIL(&children, c, link);
}

static struct child *
find_child(pid_t pid)
{
	struct child	*c;

	TAILQ_FOREACH(c, &children, link)
		if (c->pid == pid)
			break;
	return c;
}

static void
remove_child(struct child *c)
{
	TAILQ_REMOVE(&children, c, link);
	free(c);
}

void
children_report(const struct child *c)
{
	if (c->status != 0 && !quiet && !c->given_up)
		log_warnx("%s %ld %s", c->kind->name, (long)c->pid, c->how);
}

static void
describe_status(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "was killed by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d",
		    WEXITSTATUS(status));
}

static void
reap_child(pid_t pid, int status)
{
	struct child	*c = find_child(pid), dead;
	char		 how[100];

	if (c == NULL)
		return;
	describe_status(status, how, sizeof(how));
	dead = *c;
	dead.status = status;
	dead.how = how;
	remove_child(c);
	if (dead.died != NULL)
		dead.died(dead.context, &dead);
	else
		children_report(&dead);
}

void
children_reap(void)
{
	pid_t	pid;
	int	status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		reap_child(pid, status);
}

/* Returns whether one of the kind still runs. */
static bool
reap_kind(const struct child_kind *kind)
{
	struct child	*c, *next;
	bool		 runs = false;
	int		 status;

	for (c = TAILQ_FIRST(&children); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->kind != kind || c->awaited)
			continue;
		if (waitpid(c->pid, &status, WNOHANG) == c->pid)
			reap_child(c->pid, status);
		else
			runs = true;
	}
	return runs;
}

void
children_await(const struct child_kind *kind)
{
	int64_t	end = clock_ms() + CHILDREN_KILL_TIMEOUT, left;

	while (reap_kind(kind)) {
		left = end - clock_ms();
		if (left <= 0)
			return;
		events_sleep(left);
	}
}

void
children_disown(pid_t pid, bool awaited)
{
	struct child	*c = find_child(pid);

	if (c == NULL)
		return;
	c->died = NULL;
	c->awaited = awaited;
}

void
children_give_up(pid_t pid)
{
	struct child	*c = find_child(pid);

	if (c != NULL)
		c->given_up = true;
}

void
children_be_quiet(void)
{
	quiet = true;
}

void
children_kill_all(void)
{
	const struct child	*c;

	TAILQ_FOREACH(c, &children, link)
		if (c->awaited)
			kill(c->pid, SIGKILL);
}

bool
children_are_left(void)
{
	const struct child	*c;

	TAILQ_FOREACH(c, &children, link)
		if (c->awaited)
			return true;
	return false;
}

bool
children_all_given_up(void)
{
	const struct child	*c;

	TAILQ_FOREACH(c, &children, link)
		if (c->awaited && !c->given_up)
			return false;
	return true;
}

void
children_forget(void)
{
	struct child	*c, *next;

	for (c = TAILQ_FIRST(&children); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->awaited)
			remove_child(c);
	}
}
