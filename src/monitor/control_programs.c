/*
 * control_programs: shows the numbers of programs, and passes a restart on to
 * their manager, which has the processes.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "conf/conf.h"
#include "lib/buf.h"
#include "monitor/control_chains.h"
#include "monitor/control_programs.h"
#include "monitor/generation.h"
#include "shared/control.h"
#include "shared/program_message.h"
#include "stats/program_stats.h"
#include "stats/report.h"

#define RESTART	"restart"

bool
control_programs_restarts(const struct control_request *request)
{
	return request->command == CONTROL_PROGRAM && request->n == 2 &&
	    strcmp(request->words[1], RESTART) == 0;
}

static const struct conf_program *
find_program(const struct conf *conf, const char *label)
{
	for (size_t i = 0; i < conf->nprograms; i++)
		if (strcmp(conf_program_label(&conf->programs[i]), label) == 0)
			return &conf->programs[i];
	return NULL;
}

int
control_programs_manager(const struct control_request *request)
{
	const struct generation		*g = generations.serving;
	const struct conf_program	*p;

	if (!control_programs_restarts(request))
		return -1;
	p = find_program(g->conf, request->words[0]);
	return p != NULL ? g->manager_sockets[p->manager] : -1;
}

static void
answer_status(const struct conf_program *p, struct buf *answer)
{
	control_begin_answer(answer, CONTROL_VERDICT_OK, "%s: %s",
	    conf_program_label(p), p->servers.n > 0 ?
	    "servers that others have started" :
	    p->protocol == CONF_FASTCGI ? "processes that stay" :
	    p->application != NULL ? "a filter by another program" :
	    "a process for each request");
	report_programs_one(answer, p->number, time(NULL));
}

/* Behind the message to the manager: filters that run from here on get new
 * processes. */
static void
answer_restarted(const struct conf_program *p, struct buf *answer)
{
	int	error = control_chains_renew(generations.serving, p);

	if (error != 0)
		control_begin_answer(answer, CONTROL_VERDICT_FAILED, "%s "
		    "restarts, but results on disk of chains that it filters "
		    "for cannot be made outdated: %s", p->name,
		    strerror(error));
	else
		control_begin_answer(answer, CONTROL_VERDICT_OK, "%s restarts: "
		    "new processes start, and the old ones end after their "
		    "requests", p->name);
}

static void
restart_pool(const struct conf_program *p, int manager, struct buf *answer)
{
	if (manager == -1)
		control_begin_answer(answer, CONTROL_VERDICT_BUSY, "the "
		    "program manager is being started: try again");
	else if (program_message_send_restart(manager,
	    (uint32_t)p->place) == -1)
		control_begin_answer(answer, CONTROL_VERDICT_BUSY, "the "
		    "program manager takes no message now: try again (%s)",
		    strerror(errno));
	else
		answer_restarted(p, answer);
}

static void
answer_restart(const struct conf_program *p, int manager, struct buf *answer)
{
	if (p->servers.n > 0)
		control_begin_answer(answer, CONTROL_VERDICT_FAILED, "others "
		    "have started %s: restart the service that listens at %s",
		    p->name, p->servers.at[0]);
	else if (p->protocol == CONF_FASTCGI)
		restart_pool(p, manager, answer);
	else if (p->application != NULL)
		control_begin_answer(answer, CONTROL_VERDICT_FAILED, "%s is a "
		    "filter of program %s: restart that one", p->name,
		    conf_program_label(p->application));
	else
		control_begin_answer(answer, CONTROL_VERDICT_OK, "nothing to "
		    "do: each request starts %s anew", conf_program_label(p));
}

static void
answer_one(const struct conf_program *p, const struct control_request *request,
    int manager, struct buf *answer)
{
	const char	*action = request->n == 2 ? request->words[1] :
			    "status";

	if (strcmp(action, RESTART) == 0)
		answer_restart(p, manager, answer);
	else if (strcmp(action, "status") == 0)
		answer_status(p, answer);
	else
		control_begin_answer(answer, CONTROL_VERDICT_BAD, "there is no "
		    "action \"%s\": the actions are status and " RESTART,
		    action);
}

void
control_programs_answer(const struct control_request *request, int manager,
    struct buf *answer)
{
	const struct generation		*g = generations.serving;
	const struct conf_program	*p;

	program_stats_use(g->program_stats);
	if (request->n == 0) {
		control_begin_answer(answer, CONTROL_VERDICT_OK, "%s",
		    g->conf->nprograms == 0 ? "the conf has no programs" : "");
		if (g->conf->nprograms > 0)
			report_programs(answer);
		return;
	}
	p = find_program(g->conf, request->words[0]);
	if (p == NULL)
		control_begin_answer(answer, CONTROL_VERDICT_BAD, "there is no "
		    "program \"%s\" in the conf in force; \"ampedctl program\" "
		    "lists them", request->words[0]);
	else
		answer_one(p, request, manager, answer);
}
