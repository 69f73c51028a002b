/*
 * managers: asks program managers for programs, and numbers the requests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/program.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "loop/managers.h"
#include "shared/program_message.h"

int
managers_ask(struct managers *m, const struct backend_start *start,
    uint64_t group)
{
	struct program_start	message = { .program = start->place,
				    .group = group };
	bool			has_body = start->protocol == CONF_CGI &&
				    start->body != -1;
	int			ends[2], n;

	if (start->protocol == CONF_CGI) {
		message.body = has_body ? start->is_piped ?
		    PROGRAM_BODY_OUTPUT : PROGRAM_BODY_FILE :
		    start->sends_body ? PROGRAM_BODY_PIPE : PROGRAM_BODY_NONE;
		message.file = start->file;
		message.environment = start->environment;
	}
	need(start->manager < m->n);
	if (io_record_pipe(ends) == -1)
		return -1;
	n = program_message_send_start(m->at[start->manager], &message,
	    ends[1]);
	io_close(&ends[1]);
	/* EPIPE: the manager has refused already, and its report is there. */
	if (n == 0 && has_body &&
	    program_message_send_body(ends[0], start->body) == -1 &&
	    errno != EPIPE)
		n = -1;
	if (n == -1)
		io_close(&ends[0]);
	return ends[0];
}

uint16_t
managers_make_id(struct managers *m)
{
	return (uint16_t)((m->first_id + m->nasked++) % UINT16_MAX + 1);
}

uint64_t
managers_make_group(struct managers *m)
{
	return (uint64_t)m->first_id << 32 | m->ngroups++;
}

/* Processes that follow each other on a connection count from places far apart.
 */
static uint32_t
choose_first_id(void)
{
	const uint32_t	spread = 40503;		/* odd, 2^16 by the golden
						 * ratio */

	return (uint32_t)getpid() * spread;
}

struct managers *
managers_new(const int *sockets, size_t n, size_t most)
{
	struct managers	*m = mem_zero(sizeof(*m));

	m->at = mem_array(n, sizeof(*m->at));
	memcpy(m->at, sockets, n * sizeof(*m->at));
	m->n = n;
	m->most = most;
	m->first_id = choose_first_id();
	return m;
}

void
managers_free(struct managers **mp)
{
	struct managers	*m = *mp;

	need(m->count == 0 && m->held.bytes == 0);
	for (size_t i = 0; i < m->n; i++)
		io_close(&m->at[i]);
	free(m->at);
	mem_drop(mp);
}
