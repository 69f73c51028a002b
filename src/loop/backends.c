/*
 * backends: a socket for the reports about each program, and the pipe of its
 * output, or the connection to it; a pipe for a body that comes while it runs.
 *
 * The program's end is reported on one way and the end of its output on the
 * other, in any order.  A backend has ended when both have come.  It waits
 * LATE_MS for the other one: a process that the program has left behind may
 * keep its output, and the program may go on without output.  The answer of a
 * program with a connection says itself where it ends; then no report is
 * waited for, and the connection may be kept for the next request (leases.c).
 *
 * A connection that is woken may end its backend at once, so each callback
 * wakes it in its last statement.
 */
#include <sys/param.h>
#include <sys/wait.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/program.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "loop/backend_protocol.h"
#include "loop/backends.h"
#include "loop/clients_private.h"
#include "loop/filters.h"
#include "loop/held.h"
#include "loop/leases.h"
#include "loop/managers.h"
#include "loop/passages.h"
#include "shared/program_message.h"

#define LATE_MS		1000		/* see above; of silence, once the
					 * program has ended */

struct driver {				/* of one loop */
	struct managers	*managers;
	bool		 owns_managers;
	struct evloop	*loop;
	const struct clock *clock;
	struct mailbox	*mailbox;	/* NULL: one thread ends backends */
	struct leases	*leases;
	struct filters	*filters;
	struct passages	*passages;
	struct buf	 spare;			/* struct held */
	struct error_lines_rates rates;
};

struct record {
	struct backend	 backend;	/* first: casts rely on it */
	struct driver	*driver;
	struct held	 held;		/* the output */
	uint32_t	 program;	/* its number */
	struct lease	 lease;
	int		 input;		/* pipe of a body to a CGI; -1: none */
	struct backend_protocol protocol;
	struct watch	*writable;	/* of a connection, or input; NULL until
					 * there is no room */
	struct watch	*late;		/* timer: LATE_MS; NULL until then */
	bool		 is_reported_on;	/* the program's end will be */
	bool		 is_filter;
	bool		 reported;	/* the program's end */
	bool		 is_full;	/* the program waits: no room, or its
					 * output cannot be poured now */
	bool		 is_poured;	/* the output is not read */
	int		 error;		/* of the connection, which pour() has
					 * taken from it; or 0 */
	struct mail	 mail;		/* to the loop's thread, at the end */
};

static void
wake_waiter(const struct record *r)
{
	if (r->backend.waiter != NULL)
		clients_wake(r->backend.waiter, OUTCOME_READY);
	else if (r->backend.told != NULL)
		r->backend.told(r->backend.told_context);
}

static void
close_input(struct record *r)
{
	if (r->input == -1)
		return;
	evloop_unwatch(&r->writable);
	io_close(&r->input);
}

static void
close_pipe(struct record *r)
{
	evloop_unwatch(&r->lease.readable);
	if (r->input == -1)
		evloop_unwatch(&r->writable);
	io_close(&r->lease.connection);
}

/* Closes all: the manager ends what is left of the program.  It hears first
 * that nobody wants the program, whose writes fail then. */
static void
close_all(struct record *r)
{
	evloop_unwatch(&r->lease.reports);
	io_close(&r->lease.request);
	close_input(r);
	close_pipe(r);
	evloop_unwatch(&r->late);
	backend_protocol_close(&r->protocol,
	    r->backend.end == BACKEND_BROKEN);
}

static void
end_work(struct record *r, enum backend_end how)
{
	r->backend.end = (uint8_t)how;
	r->backend.room = 0;
	close_all(r);
}

/* The program has ended with its status, which may be unknown, and its answer
 * has not said that it ends here.  A process may fail by a request of which it
 * has not read the last record. */
static void
end_by_status(struct record *r)
{
	int	status = r->backend.status;

	if (status > 0 && !backend_protocol_is_cut(&r->protocol))
		r->backend.unread = false;
	end_work(r, r->protocol.kind != CONF_CGI ||
	    (status != -1 && WIFSIGNALED(status)) ? BACKEND_BROKEN :
	    BACKEND_COMPLETE);
}

/* The manager gets the connection back, unless it may have the next request. */
static void
give_back(struct record *r)
{
	const struct managers	*m = r->driver->managers;
	struct program_done	 done = {
		.nanswered = ++r->lease.nanswered,
		.again = backend_protocol_is_reusable(&r->protocol),
	};

	if (done.again && r->lease.left > 1 && m->count < m->most) {
		r->lease.left--;
		leases_keep(r->driver->leases, r->program, &r->lease);
	} else
		program_message_send_done(r->lease.request, &done);
}

/* The answer has said so. */
static void
end_answer(struct record *r, enum backend_end how)
{
	if (how == BACKEND_COMPLETE)
		give_back(r);
	end_work(r, how);
}

/* The rest does not come. */
static void
on_late(void *context)
{
	struct record	*r = context;

	end_by_status(r);
	wake_waiter(r);
}

static void
await_rest(struct record *r)
{
	if (r->late == NULL)
		r->late = evloop_timer(r->driver->loop, on_late, r);
	evloop_arm(r->late, r->driver->clock->ms + LATE_MS);
}

/*
 * Output
 */

static void
pause_output(struct record *r)
{
	r->is_full = true;
	evloop_set(r->lease.readable, EVLOOP_NONE);
	if (r->late != NULL)
		evloop_cancel(r->late);
}

static void
resume_output(struct record *r)
{
	r->is_full = false;
	evloop_set(r->lease.readable, EVLOOP_READ);
	if (r->reported)
		await_rest(r);
}

/* Takes n bytes that have come behind the output. */
static void
take_bytes(struct record *r, size_t n)
{
	struct buf		*output = &r->held.output;
	char			*at = output->at + output->len;
	enum backend_end	 end;

	end = backend_protocol_take(&r->protocol, at, &n, &r->backend);
	output->len += n;
	r->backend.len += n;
	if (end != BACKEND_RUNS) {
		end_answer(r, end);
		return;
	}
	if (r->reported)
		await_rest(r);
}

static void
end_output(struct record *r, int error)
{
	bool			unread = backend_protocol_is_unread(
				    &r->protocol, r->lease.connection, error);
	enum backend_end	end = BACKEND_RUNS;

	close_pipe(r);
	r->backend.unread = unread;
	if (!unread)
		end = backend_protocol_end(&r->protocol, error);
	else if (!r->is_reported_on)
		program_message_send_done(r->lease.request,
		    &(struct program_done){ .nanswered = 1, .unread = true });
	if (end != BACKEND_RUNS)
		end_answer(r, end);
	else if (r->reported || !r->is_reported_on)
		end_by_status(r);
	else
		await_rest(r);
}

static void
on_output(void *context)
{
	struct record	*r = context;
	struct buf	*output = &r->held.output;
	size_t		 room, before = r->backend.len;
	ssize_t		 n;

	if (r->is_poured) {
		wake_waiter(r);
		return;
	}
	room = held_make_room(&r->held, &r->backend);
	if (room == 0) {
		pause_output(r);
		return;
	}
	n = backend_protocol_recv(&r->protocol, r->lease.connection,
	    output->at + output->len, room);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		take_bytes(r, (size_t)n);
	else
		end_output(r, n == -1 ? errno : r->error);
	if (r->backend.len > before || r->backend.end != BACKEND_RUNS)
		wake_waiter(r);
}

/* Reads on, if there is room again. */
static void
read_on(struct record *r)
{
	if (r->is_full && r->lease.connection != -1 &&
	    held_is_low(&r->held, &r->backend))
		resume_output(r);
}

static void
consume(struct backend *b, size_t n)
{
	struct record	*r = (struct record *)b;

	held_consume(&r->held, b, n);
	if (!r->is_poured)
		read_on(r);
}

/*
 * The request, over a connection, or a body over a pipe
 */

static void	on_writable(void *record);

static void
await_room(struct record *r, int to)
{
	if (r->writable == NULL)
		r->writable = evloop_watch(r->driver->loop, to, on_writable, r);
	evloop_set(r->writable, EVLOOP_WRITE);
}

/* A server that has closed its connection takes no more. */
static void
send_request(struct record *r)
{
	bool	is_cgi = r->protocol.kind == CONF_CGI;
	int	to = is_cgi ? r->input : r->lease.connection, n;

	n = backend_protocol_send(&r->protocol, to);
	if (n == -1) {
		end_work(r, BACKEND_BROKEN);
		return;
	}
	r->backend.room = backend_protocol_room(&r->protocol);
	if (is_cgi && backend_protocol_is_sent(&r->protocol))
		close_input(r);
	else if (n == 0)
		await_room(r, to);
	else if (r->writable != NULL)
		evloop_set(r->writable, EVLOOP_NONE);
}

static void
on_writable(void *context)
{
	struct record	*r = context;
	bool		 had_room = r->backend.room > 0;

	send_request(r);
	if (r->backend.end != BACKEND_RUNS ||
	    (!had_room && r->backend.room > 0))
		wake_waiter(r);
}

static void
send_body(struct backend *b, const char *bytes, size_t n)
{
	struct record	*r = (struct record *)b;

	need(n <= b->room);
	backend_protocol_add(&r->protocol, bytes, n);
	send_request(r);
}

static void
finish_body(struct backend *b)
{
	struct record	*r = (struct record *)b;

	need(b->end == BACKEND_RUNS);
	backend_protocol_finish(&r->protocol);
	send_request(r);
}

/*
 * Output that becomes a body without passing main
 */

static bool
keep_out(struct backend *b)
{
	struct record	*r = (struct record *)b;

	r->is_poured = r->protocol.kind != CONF_FASTCGI;
	if (r->is_poured && r->lease.connection != -1)
		pause_output(r);
	return r->is_poured;
}

static void
let_in(struct backend *b)
{
	struct record	*r = (struct record *)b;

	r->is_poured = false;
	read_on(r);
}

static ssize_t
pour(struct backend *from, struct backend *to, size_t n)
{
	struct record	*r = (struct record *)from, *t = (struct record *)to;
	ssize_t		 moved = -1;

	need(r->is_poured);
	if (r->lease.connection == -1)
		return -1;
	errno = ENOSPC;
	if (backend_protocol_is_flushed(&t->protocol))
		moved = io_splice(r->lease.connection, t->input, n);
	if (moved > 0 || (moved == -1 && errno == EAGAIN))
		resume_output(r);
	else if (moved == -1 && errno == ENOSPC) {
		pause_output(r);
		to->room = 0;
		await_room(t, t->input);
	} else {
		r->error = moved == -1 && errno != ENOSYS ? errno : 0;
		return -1;
	}
	return MAX(moved, 0);
}

/*
 * Reports
 */

static void
begin_request(struct record *r)
{
	r->backend.started = true;
	if (backend_protocol_sends(&r->protocol))
		send_request(r);
}

/* The output of a filter is complete when the filter has ended. */
static void
take_file(struct record *r, int *to, int file)
{
	if (*to != -1 || !r->is_filter) {
		close(file);
		end_work(r, BACKEND_BROKEN);
		return;
	}
	*to = file;
}

/* The program runs.  A second program is none of this request's. */
static void
take_output(struct record *r, int pipe, const struct program_report *report)
{
	if (r->backend.started) {
		close(pipe);
		end_work(r, BACKEND_BROKEN);
		return;
	}
	if (r->is_filter) {
		take_file(r, &r->backend.file, pipe);
		begin_request(r);
		return;
	}
	r->lease.connection = pipe;
	r->lease.left = report->requests;
	r->lease.slot = report->slot;
	io_nonblock(pipe);
	r->lease.readable = evloop_watch(r->driver->loop, pipe, on_output, r);
	evloop_set(r->lease.readable, EVLOOP_READ);
	begin_request(r);
}

/* The pipe for the body of a CGI program, which is to be started next. */
static void
take_input(struct record *r, int pipe)
{
	if (r->protocol.kind != CONF_CGI || !r->protocol.comes ||
	    r->input != -1 || r->backend.started) {
		close(pipe);
		end_work(r, BACKEND_BROKEN);
		return;
	}
	r->input = pipe;
	io_nonblock(pipe);
}

static void
note_end(struct record *r, int status)
{
	r->backend.status = status;
	r->reported = true;
	/* Only its end follows. */
	evloop_set(r->lease.reports, EVLOOP_NONE);
	if (r->lease.connection == -1)
		end_by_status(r);
	else if (!r->is_full)
		await_rest(r);
}

/* The connection goes back behind this request, which the manager is told. */
static void
take_recall(struct record *r)
{
	r->lease.left = 1;
	program_message_send_done(r->lease.request,
	    &(struct program_done){ .nanswered = 0 });
}

/* Of a program that runs it makes no sense. */
static void
take_refusal(struct record *r, uint32_t retry_after)
{
	r->backend.retry_after = retry_after;
	end_work(r, r->backend.started ? BACKEND_BROKEN : BACKEND_BUSY);
}

static void
take_report(struct record *r, const struct program_report *report, int pipe)
{
	switch ((enum program_report_kind)report->kind) {
	case PROGRAM_STARTED:
		take_output(r, pipe, report);
		break;
	case PROGRAM_ENDED:
		note_end(r, report->status);
		break;
	case PROGRAM_FAILED:
		r->backend.error = report->error;
		end_work(r, BACKEND_FAILED);
		break;
	case PROGRAM_INPUT:
		take_input(r, pipe);
		break;
	case PROGRAM_NOTES:
		take_file(r, &r->backend.notes, pipe);
		break;
	case PROGRAM_RECALL:
		take_recall(r);
		break;
	default:
		take_refusal(r, report->retry_after);
		break;
	}
}

/* Without a last report the manager has ended. */
static void
on_report(void *context)
{
	struct record		*r = context;
	struct program_report	 report;
	bool			 was_started = r->backend.started;
	int			 pipe, n = 1;

	/* After the report of a start, the next report comes much later. */
	while (r->backend.end == BACKEND_RUNS && !r->reported && n == 1 &&
	    r->backend.started == was_started) {
		n = program_message_recv_report(r->lease.request, &report,
		    &pipe);
		if (n == 1)
			take_report(r, &report, pipe);
		else if (n == 0 || errno != EAGAIN)
			end_work(r, BACKEND_BROKEN);
	}
	if (r->backend.end != BACKEND_RUNS ||
	    r->backend.started != was_started)
		wake_waiter(r);
}

/*
 * Beginning and end
 */

/* All requests for a program share it. */
static struct error_lines_rate *
get_rate(struct driver *d, const struct backend_start *start)
{
	return start->protocol == CONF_FASTCGI ? error_lines_rate_of(&d->rates,
	    start->program, d->clock->ms) : NULL;
}

/* Takes a kept lease, and sends the begin of the request: that is the look
 * whether the process has closed the connection. */
static bool
take_kept(struct driver *d, const struct backend_start *start,
    struct backend_protocol *protocol, struct lease *lease)
{
	while (start->keep && leases_take(d->leases, start->program, lease)) {
		if (backend_protocol_begin(protocol, lease->connection))
			return true;
		leases_give_back(lease);
	}
	return false;
}

/* Takes a kept lease, or asks for one; -1 with errno.  The manager knows a kept
 * one by the group of the first answer, whose filters may still run. */
static int
open_lease(struct driver *d, const struct backend_start *start,
    uint64_t group, struct backend_protocol *protocol, struct lease *lease)
{
	if (take_kept(d, start, protocol, lease))
		return 0;
	*lease = (struct lease){ .connection = -1 };
	lease->request = managers_ask(d->managers, start, group);
	return lease->request == -1 ? -1 : 0;
}

/* Has its events from now on, and sends the request if there is a way. */
static void
use_lease(struct record *r)
{
	if (r->lease.connection == -1) {
		r->lease.reports = evloop_watch(r->driver->loop,
		    r->lease.request, on_report, r);
		evloop_set(r->lease.reports, EVLOOP_READ);
		return;
	}
	evloop_redirect(r->lease.reports, on_report, r);
	evloop_redirect(r->lease.readable, on_output, r);
	begin_request(r);
}

/* Returns NULL with errno. */
static struct record *
new_record(struct driver *d, const struct backend_start *start, size_t hold)
{
	struct record	*r = mem_zero(sizeof(*r));
	uint64_t	 group = start->group;

	if (group == 0)
		group = managers_make_group(d->managers);
	if (backend_protocol_open(&r->protocol, start, d->clock,
	    get_rate(d, start), managers_make_id(d->managers)) == -1 ||
	    open_lease(d, start, group, &r->protocol, &r->lease) == -1) {
		backend_protocol_close(&r->protocol, false);
		mem_drop(&r);
		return NULL;
	}
	r->driver = d;
	r->program = start->program;
	r->held = (struct held){ .total = &d->managers->held, .most = hold,
	    .spare = &d->spare };
	r->backend.status = -1;
	r->backend.file = r->backend.notes = -1;
	r->backend.group = group;
	r->is_filter = start->is_filter;
	r->input = -1;
	r->is_reported_on = start->protocol == CONF_CGI || start->keep;
	use_lease(r);
	return r;
}

static struct backend *
start_backend(void *context, const struct backend_start *start, size_t hold)
{
	struct driver	*d = context;
	struct managers	*m = d->managers;
	struct record	*r = NULL;

	need(hold > 0);
	if (m->count++ >= m->most && !leases_drop(d->leases))
		errno = EMFILE;
	else
		r = new_record(d, start, hold);
	if (r != NULL)
		return &r->backend;
	m->count--;
	return NULL;
}

static void
free_record(struct mail *mail)
{
	struct record	*r = (struct record *)(void *)((char *)mail -
			    offsetof(struct record, mail));

	r->driver->managers->count--;
	if (r->backend.end == BACKEND_RUNS)
		close_all(r);
	io_close(&r->backend.file);
	io_close(&r->backend.notes);
	held_free(&r->held);
	free(r);
}

static void
end_backend(struct backend **bp)
{
	struct record	*r = (struct record *)*bp;

	need(r->backend.waiter == NULL);
	*bp = NULL;
	r->mail.deliver = free_record;
	if (r->driver->mailbox != NULL)
		mailbox_post(r->driver->mailbox, &r->mail);
	else
		free_record(&r->mail);
}

static enum submitted
run_filters(void *context, struct filter_run *run)
{
	return filters_run(((struct driver *)context)->filters, run);
}

static struct passage *
begin_passage(void *context, struct passage_start *start)
{
	return passages_pass(((struct driver *)context)->passages, start);
}

static void
open_driver(struct backends *b, const struct driver *driver)
{
	struct driver	*d = mem_get(sizeof(*d));

	*d = *driver;
	d->leases = leases_new(d->loop, d->clock, &d->managers->count);
	*b = (struct backends){ .start = start_backend, .consume = consume,
	    .send = send_body, .finish = finish_body, .end = end_backend,
	    .keep_out = keep_out, .pour = pour, .let_in = let_in,
	    .filter = run_filters, .pass = begin_passage,
	    .take = passages_take, .give_up = passages_give_up,
	    .leave = passages_leave, .context = d };
	d->passages = passages_new(b, d->loop, d->mailbox, &d->managers->held);
	d->filters = filters_new(b, d->loop, d->clock);
}

void
backends_open(struct backends *b, struct evloop *loop,
    const struct clock *clock, const int *managers, size_t n, size_t most,
    size_t held)
{
	struct managers	*m = managers_new(managers, n, most);

	m->held.most = held;
	open_driver(b, &(struct driver){ .managers = m, .owns_managers = true,
	    .loop = loop, .clock = clock });
}

void
backends_share(struct backends *b, const struct backends *first,
    struct evloop *loop, const struct clock *clock, struct mailbox *mailbox)
{
	struct managers	*m;

	*b = (struct backends){ .start = NULL };
	if (first->start == NULL)
		return;
	m = ((struct driver *)first->context)->managers;
	open_driver(b, &(struct driver){ .managers = m, .loop = loop,
	    .clock = clock, .mailbox = mailbox });
}

size_t
backends_count(const struct backends *b)
{
	return b->start == NULL ? 0 :
	    ((struct driver *)b->context)->managers->count;
}

size_t
backends_held(const struct backends *b)
{
	return b->start == NULL ? 0 :
	    ((struct driver *)b->context)->managers->held.bytes;
}

bool
backends_rest(const struct backends *b)
{
	const struct driver	*d = b->context;

	if (b->start == NULL)
		return true;
	while (leases_drop(d->leases))
		continue;
	return !filters_run_now(d->filters);
}

void
backends_end_filters(struct backends *b)
{
	if (b->start != NULL)
		filters_end(((struct driver *)b->context)->filters);
}

void
backends_close(struct backends *b)
{
	struct driver	*d = b->context;

	if (b->start == NULL)
		return;
	/* A passage ends the backends of its filters. */
	for (int i = 0; i < 2 && d->mailbox != NULL; i++)
		mailbox_deliver(d->mailbox);
	leases_free(&d->leases);
	filters_free(&d->filters);
	passages_free(&d->passages);
	if (d->owns_managers)
		managers_free(&d->managers);
	error_lines_free_rates(&d->rates);
	buf_free(&d->spare);
	free(d);
	*b = (struct backends){ .start = NULL };
}
