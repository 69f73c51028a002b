/*
 * manager: takes requests for programs, each to its program's admission.
 *
 * The manager never waits for a program, a disk or main: a reaper does all that
 * may take time.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "programs/admission.h"
#include "programs/cgi.h"
#include "programs/manager.h"
#include "programs/pool.h"
#include "programs/process.h"
#include "programs/servers.h"

#define STARTS_MAX	16		/* messages in one iteration */

/* The mains that have the manager, and the programs that they ask for. */
struct mains {
	struct manager		 manager;
	struct source		 socket;
	_Atomic int64_t		 warned_at;	/* ms: of a bad message */
	char			*buffer;	/* for a START */
};

static void
take_start(struct mains *m, const struct program_start *start, int request)
{
	struct admission	*a;

	if (start->program < m->manager.conf->nprograms) {
		a = &m->manager.all[start->program];
		if (!start->restart)
			admission_add(a, start, request);
		else if (a->kind->restart != NULL)
			a->kind->restart(a);
		return;
	}
	log_errorx("main asks for program %lu, which the conf does not have",
	    (unsigned long)start->program);
	io_close(&request);
}

static void
end_mains(struct mains *m)
{
	struct admission	*a;

	source_close(&m->socket);
	m->manager.is_ending = true;
	for (size_t i = 0; i < m->manager.conf->nprograms; i++) {
		a = &m->manager.all[i];
		if (a->kind->drain != NULL)
			a->kind->drain(a);
	}
	if (m->manager.nheld == 0)
		evloop_stop(m->manager.loop);
}

static void
on_mains(void *mains)
{
	struct mains		*m = mains;
	struct program_start	 start;
	int			 request, n;

	for (int k = 0; k < STARTS_MAX; k++) {
		n = program_message_recv_start(m->socket.fd, m->buffer, &start,
		    &request);
		if (n == 1)
			take_start(m, &start, request);
		else if (n == -1 && errno == EBADMSG &&
		    log_is_due(&m->warned_at, m->manager.clock.ms))
			log_errorx("main sends what is no request for a "
			    "program, or descriptors are exhausted");
		else if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		else if (n == 0 || errno != EBADMSG)
			break;
	}
	if (n == 1 || (n == -1 && errno == EBADMSG))
		return;
	end_mains(m);
}

static const struct admission_kind *
choose_kind(const struct conf_program *p)
{
	if (p->servers.n > 0)
		return &servers_kind;
	return p->protocol == CONF_FASTCGI ? &pool_kind : &cgi_kind;
}

static void
open_admissions(struct mains *m)
{
	const struct conf	*conf = m->manager.conf;

	m->manager.all = mem_array(conf->nprograms + 1,
	    sizeof(*m->manager.all));
	for (size_t i = 0; i < conf->nprograms; i++)
		admission_open(&m->manager.all[i], &m->manager,
		    &conf->programs[i], choose_kind(&conf->programs[i]));
}

static void
close_admissions(struct mains *m)
{
	for (size_t i = 0; i < m->manager.conf->nprograms; i++)
		admission_close(&m->manager.all[i]);
	mem_drop(&m->manager.all);
}

/* SIGCHLD: the system reaps the reapers, whose pipes tell enough. */
static void
set_signals(void)
{
	static const int	ignored[] = { SIGCHLD, SIGHUP, SIGINT, SIGPIPE,
				    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
				    SIGXFSZ };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	proc_signals_unblock();
}

void
manager_run(const struct conf *conf, int socket)
{
	struct mains	m = { .manager.conf = conf };

	set_signals();
	m.manager.loop = evloop_new(&m.manager.clock);
	evloop_stop_timing(m.manager.loop);
	process_open_idle(&m.manager);
	open_admissions(&m);
	m.buffer = mem_get(PROGRAM_MESSAGE_MAX);
	source_watch(&m.socket, m.manager.loop, socket, on_mains, &m);
	evloop_run(m.manager.loop);
	close_admissions(&m);
	process_close_idle(&m.manager);
	evloop_free(&m.manager.loop);
	mem_drop(&m.buffer);
}
