/*
 * crossing: goes from a program to those for which the holders of its places
 * wait, and so on, until there is one that has a place to give.
 */
#include "programs/crossing.h"

enum mark { UNSEEN, FOUND, VISITED };

/* Finds the admission where another invocation of the group waits for a place;
 * NULL: none does.  A filter that may be left out does not wait for ever. */
static struct admission *
find_wait(const struct invocation *holder)
{
	const struct manager	*m = holder->admission->manager;
	const struct invocation	*i;

	if (holder->group == 0)
		return NULL;
	for (size_t k = 0; k < m->conf->nprograms; k++) {
		if (m->all[k].program->optional)
			continue;
		TAILQ_FOREACH(i, &m->all[k].waiting, link)
			if (i->run == NULL && i->group == holder->group)
				return &m->all[k];
	}
	return NULL;
}

/* Whether a place is free, or will be by an invocation that waits for none;
 * marks the programs for which the others wait.  A filter with an application
 * has no places of its own. */
static bool
has_way_out(const struct admission *a)
{
	const struct invocation	*i;
	struct admission	*next;

	if (a->program->application != NULL || a->nrunning < a->most)
		return true;
	TAILQ_FOREACH(i, &a->running, link) {
		next = i->request.fd == -1 ? NULL : find_wait(i);
		if (next == NULL)
			return true;
		if (next->mark == UNSEEN)
			next->mark = FOUND;
	}
	return false;
}

/* Returns whether a visit has found no way out, for all that are reachable. */
static bool
visit_all(const struct manager *m)
{
	bool	has_more = true;

	while (has_more) {
		has_more = false;
		for (size_t k = 0; k < m->conf->nprograms; k++) {
			if (m->all[k].mark != FOUND)
				continue;
			m->all[k].mark = VISITED;
			if (has_way_out(&m->all[k]))
				return false;
			has_more = true;
		}
	}
	return true;
}

const struct conf_program *
crossing_find(const struct invocation *i)
{
	struct admission	*a = i->admission;
	const struct manager	*m = a->manager;

	for (size_t k = 0; k < m->conf->nprograms; k++)
		m->all[k].mark = UNSEEN;
	a->mark = FOUND;
	if (!visit_all(m))
		return NULL;
	return find_wait(TAILQ_FIRST(&a->running))->program;
}
