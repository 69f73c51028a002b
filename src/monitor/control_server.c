/*
 * control_server: accepts clients, reads their line, and has it answered.
 *
 * A client may be slow or silent.  So their number is limited, each has a time
 * limit for its line, and a silent one is closed when another comes.  The
 * monitor sends an answer in one call: the part that the socket's buffer does
 * not take is lost.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "monitor/control_child.h"
#include "monitor/private.h"
#include "shared/channel.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION	"unknown"
#endif

#define CLIENTS_MAX	32
#define CHILDREN_MAX	8
#define LINE_TIMEOUT	10000		/* ms for a line */
#define CHILD_TIMEOUT	30000		/* ms for a control child's answer */
#define SEND_BUFFER	(256 * 1024)	/* bytes, for an answer */

static void
end_client(struct monitor *m, struct control_client *c)
{
	TAILQ_REMOVE(&m->control.clients, c, link);
	if (c->child != 0)
		children_give_up(&m->children, c->child);
	io_close(&c->fd);
	io_close(&c->pipe);
	buf_free(&c->line);
	free(c);
}

static void
send_answer(struct control_client *c, struct buf *answer)
{
	control_end_answer(answer);
	/* The send fails if the client has gone, and is cut off if it has sent
	 * many requests without reading. */
	(void)send(c->fd, answer->at, answer->len, MSG_DONTWAIT | MSG_NOSIGNAL);
	buf_free(answer);
}

/* Sends a whole answer and closes the client. */
static void
answer_client(struct monitor *m, struct control_client *c,
    enum control_verdict verdict, const char *text)
{
	struct buf	b = { 0 };

	control_begin_answer(&b, verdict, "%s", text);
	send_answer(c, &b);
	end_client(m, c);
}

/*
 * Commands of the monitor
 */

static void
begin_reload(struct monitor *m, struct control_client *c)
{
	c->state = CONTROL_STATE_WAITING;
	c->deadline = 0;		/* the reload has one */
	c->reload = m->reload.number + 1;	/* also if it begins later */
	reload_begin(m);
}

static void
begin_reopen(struct monitor *m, struct control_client *c)
{
	c->state = CONTROL_STATE_WAITING;
	c->deadline = 0;
	m->control.reopen_errors.len = 0;
	logs_reopen(m);
}

/* Answers at once; the client learns of the server's end by the end of its
 * connection. */
static void
stop_server(struct control_client *c, int signo, const char *text)
{
	struct buf	b = { 0 };

	control_begin_answer(&b, CONTROL_VERDICT_OK, "%s", text);
	send_answer(c, &b);
	c->state = CONTROL_STATE_ANSWERED;
	c->deadline = 0;
	kill(getpid(), signo);		/* as by kill(1) */
}

static void
run_command(struct monitor *m, struct control_client *c)
{
	switch (c->command) {
	case CONTROL_RELOAD:
		begin_reload(m, c);
		break;
	case CONTROL_REOPEN:
		begin_reopen(m, c);
		break;
	case CONTROL_STOP:
		stop_server(c, SIGTERM, "stopping");
		break;
	case CONTROL_DRAIN:
		stop_server(c, SIGQUIT, "stopping when the responses under way "
		    "have been sent");
		break;
	default:
		answer_client(m, c, CONTROL_VERDICT_OK,
		    "amped " PACKAGE_VERSION);
		break;
	}
}

/*
 * Commands of other processes
 */

static size_t
count_delegated(const struct monitor *m, bool by_children)
{
	const struct control_client	*c;
	size_t				 n = 0;

	TAILQ_FOREACH(c, &m->control.clients, link)
		n += c->state == CONTROL_STATE_DELEGATED &&
		    (c->child != 0) == by_children;
	return n;
}

static void
ask_child(struct monitor *m, struct control_client *c,
    const struct control_request *request)
{
	if (count_delegated(m, true) >= CHILDREN_MAX) {
		answer_client(m, c, CONTROL_VERDICT_BUSY, "too many requests "
		    "of this kind at a time");
		return;
	}
	c->child = control_child_start(m, request, c->fd, &c->pipe);
	if (c->child == 0) {
		answer_client(m, c, CONTROL_VERDICT_FAILED, "no process can be "
		    "started for the answer");
		return;
	}
	io_close(&c->fd);
	c->state = CONTROL_STATE_DELEGATED;
	c->deadline = monitor_now() + CHILD_TIMEOUT;
}

/*
 * Sends main the end of a new pipe.  In that pipe is the line, with the
 * client's descriptor.  So a message on the channel stays one byte, however
 * long the line is.  Main closes its end when it has answered.
 */
static bool
send_to_main(const struct worker *w, struct control_client *c, int client)
{
	struct iovec	iov = { c->line.at, c->line.len };
	int		pipe[2];
	bool		sent;

	if (io_pipe(pipe) == -1)
		return false;
	sent = io_nonblock(pipe[0]) == 0 &&
	    io_send_message(pipe[0], &iov, 1, client) == 0 &&
	    shutdown(pipe[0], SHUT_WR) == 0 &&
	    channel_send(w->channel, CHANNEL_REQUEST, pipe[1]) == 0;
	close(pipe[1]);
	c->pipe = pipe[0];
	return sent;
}

/* Asks a main and discards its answer: every main gets the command, and only
 * the last one's answer reaches the client. */
static bool
ask_main_unheard(const struct worker *w, struct control_client *c)
{
	int	aside[2];
	bool	sent;

	if (io_pipe(aside) == -1)
		return false;
	close(aside[0]);
	sent = send_to_main(w, c, aside[1]);
	close(aside[1]);
	return sent;
}

/* Returns the next main to ask, or NULL.  last: no other main follows it. */
static const struct worker *
next_main(const struct monitor *m, struct control_client *c, bool *last)
{
	const struct generation	*g = m->serving;
	const struct worker	*w = NULL;

	/* After a reload, the mains of the new generation are asked from the
	 * first on: their caches are empty. */
	if (c->generation != g->number)
		c->mains_asked = 0;
	c->generation = g->number;
	while (c->mains_asked < g->nworkers && w == NULL)
		if (g->workers[c->mains_asked++].channel != -1)
			w = &g->workers[c->mains_asked - 1];
	*last = true;
	for (unsigned i = c->mains_asked; i < g->nworkers; i++)
		if (g->workers[i].channel != -1)
			*last = false;
	return w;
}

/* Asks one main after the other, as each has its own caches. */
static void
ask_next_main(struct monitor *m, struct control_client *c)
{
	const struct worker	*w;
	bool			 last;

	io_close(&c->pipe);
	w = next_main(m, c, &last);
	if (w == NULL)
		answer_client(m, c, CONTROL_VERDICT_BUSY, "main is being "
		    "started: try again");
	else if (last ? !send_to_main(w, c, c->fd) : !ask_main_unheard(w, c))
		answer_client(m, c, CONTROL_VERDICT_BUSY, "main takes no "
		    "request now: try again");
	else {
		if (last)
			io_close(&c->fd);
		c->state = CONTROL_STATE_DELEGATED;
		c->deadline = 0;
	}
}

static void
ask_main(struct monitor *m, struct control_client *c, const struct buf *line)
{
	if (count_delegated(m, false) >= CONTROL_REQUESTS_MAX) {
		answer_client(m, c, CONTROL_VERDICT_BUSY, "too many requests "
		    "of this kind at a time");
		return;
	}
	buf_add(&c->line, line->at, line->len);
	ask_next_main(m, c);
}

/*
 * Lines
 */

/* Logs which user gave a command, where the system tells. */
static void
log_requester(const struct control_client *c, const char *what)
{
#ifdef SO_PEERCRED
	struct ucred	who;
	socklen_t	len = sizeof(who);

	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0) {
		log_notice("%s: asked for by user %ld (process %ld)", what,
		    (long)who.uid, (long)who.pid);
		return;
	}
#endif
	log_notice("%s: asked for at the control socket", what);
}

/* Takes a line without its newline. */
static void
handle_line(struct monitor *m, struct control_client *c, const struct buf *line)
{
	struct control_request	 request;
	struct buf		 wrong = { 0 };
	char			*text = mem_string(line->at);

	if (!control_parse(text, &request, &wrong)) {
		(void)send(c->fd, wrong.at, wrong.len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		buf_free(&wrong);
		end_client(m, c);
	} else if (m->end_signal != 0 && request.command != CONTROL_STOP &&
	    request.command != CONTROL_DRAIN)
		answer_client(m, c, CONTROL_VERDICT_BUSY, "the server is "
		    "stopping");
	else {
		c->command = request.command;
		if (control_rows[c->command].by == CONTROL_BY_MONITOR &&
		    c->command != CONTROL_VERSION)
			log_requester(c, control_rows[c->command].name);
		if (control_rows[c->command].by == CONTROL_BY_MONITOR)
			run_command(m, c);
		else if (control_rows[c->command].by == CONTROL_BY_CHILD)
			ask_child(m, c, &request);
		else
			ask_main(m, c, line);
	}
	free(text);
}

static void
read_line(struct monitor *m, struct control_client *c)
{
	char		*newline;
	ssize_t		 n;
	struct buf	 line;

	buf_reserve(&c->line, CONTROL_LINE_MAX - c->line.len + 1);
	n = recv(c->fd, c->line.at + c->line.len,
	    CONTROL_LINE_MAX - c->line.len, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_client(m, c);
		return;
	}
	c->line.len += (size_t)n;
	newline = memchr(c->line.at, '\n', c->line.len);
	if (newline == NULL && c->line.len == CONTROL_LINE_MAX)
		answer_client(m, c, CONTROL_VERDICT_BAD, "the line is too "
		    "long");
	if (newline == NULL)
		return;
	*newline = '\0';
	line = c->line;			/* c may be freed before the line */
	line.len = (size_t)(newline - line.at);
	c->line = (struct buf){ 0 };
	handle_line(m, c, &line);
	buf_free(&line);
}

/* A client with a complete line is watched for its end only. */
void
control_server_on_readable(struct monitor *m, struct control_client *c)
{
	if (c->state == CONTROL_STATE_READING)
		read_line(m, c);
	else if (c->state == CONTROL_STATE_DELEGATED && c->fd != -1)
		ask_next_main(m, c);
	else
		end_client(m, c);
}

int
control_server_pollfd(const struct control_client *c, bool *reads)
{
	*reads = c->state == CONTROL_STATE_READING;
	return c->pipe != -1 ? c->pipe : c->fd;
}

/*
 * Clients
 */

static struct control_client *
find_longest_silent(struct monitor *m, size_t *all)
{
	struct control_client	*c, *first = NULL;

	*all = 0;
	TAILQ_FOREACH(c, &m->control.clients, link) {
		++*all;
		if (first == NULL && c->state == CONTROL_STATE_READING)
			first = c;
	}
	return first;
}

static bool
make_room(struct monitor *m)
{
	size_t			 all;
	struct control_client	*silent = find_longest_silent(m, &all);

	if (all < CLIENTS_MAX)
		return true;
	if (silent != NULL)
		answer_client(m, silent, CONTROL_VERDICT_BUSY, "no request "
		    "came, and another client needs the place");
	return silent != NULL;
}

void
control_server_accept(struct monitor *m)
{
	static const int	 room = SEND_BUFFER;
	struct control_client	*c;
	int			 fd;

	fd = accept4(m->control.socket.fd, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd == -1)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	c = mem_zero(sizeof(*c));
	c->fd = fd;
	c->pipe = -1;
	c->deadline = monitor_now() + LINE_TIMEOUT;
	if (!make_room(m)) {
		TAILQ_INSERT_TAIL(&m->control.clients, c, link);
		answer_client(m, c, CONTROL_VERDICT_BUSY, "too many clients at "
		    "a time");
		return;
	}
	TAILQ_INSERT_TAIL(&m->control.clients, c, link);
	/* The line has usually come with the connection. */
	read_line(m, c);
}

static void
tick_client(struct monitor *m, struct control_client *c)
{
	bool	waits = c->state == CONTROL_STATE_WAITING;
	bool	failed = m->control.reopen_errors.len > 0;

	if (waits && m->end_signal != 0)
		answer_client(m, c, CONTROL_VERDICT_BUSY, "the server is "
		    "stopping");
	else if (waits && c->command == CONTROL_REOPEN &&
	    !logs_are_reopening(m))
		answer_client(m, c, failed ? CONTROL_VERDICT_FAILED :
		    CONTROL_VERDICT_OK, failed ?
		    buf_string(&m->control.reopen_errors) :
		    "the logs have been opened again");
	else if (c->deadline == 0 || monitor_now() < c->deadline)
		return;
	else if (c->state == CONTROL_STATE_READING)
		answer_client(m, c, CONTROL_VERDICT_BUSY, "no request came");
	else {
		if (c->child != 0)
			kill(c->child, SIGKILL);
		end_client(m, c);
	}
}

void
control_server_tick(struct monitor *m)
{
	struct control_client	*c, *next;

	for (c = TAILQ_FIRST(&m->control.clients); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		tick_client(m, c);
	}
}

int64_t
control_server_next_at(const struct monitor *m)
{
	const struct control_client	*c;
	int64_t				 due = 0;

	TAILQ_FOREACH(c, &m->control.clients, link)
		if (c->deadline != 0 && (due == 0 || c->deadline < due))
			due = c->deadline;
	return due;
}

/*
 * Events
 */

void
control_server_reloaded(struct monitor *m, unsigned reload,
    enum control_verdict verdict, const struct buf *errors)
{
	struct control_client	*c, *next;
	struct buf		 b;

	for (c = TAILQ_FIRST(&m->control.clients); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state != CONTROL_STATE_WAITING ||
		    c->command != CONTROL_RELOAD || c->reload > reload)
			continue;
		b = (struct buf){ 0 };
		control_begin_answer(&b, verdict, "%s",
		    verdict == CONTROL_VERDICT_OK ?
		    "the conf has been read again, and is in force" :
		    "the conf in force stays");
		if (errors != NULL && errors->len > 0)
			buf_add(&b, errors->at, errors->len);
		send_answer(c, &b);
		end_client(m, c);
	}
}

void
control_server_reopen_failed(struct monitor *m, const char *log)
{
	buf_addf(&m->control.reopen_errors, "%sthe %s cannot be opened again, "
	    "and stays as it was: the error log says why",
	    m->control.reopen_errors.len > 0 ? "; " : "", log);
}

int
control_server_prepare(struct monitor *m, const struct conf *conf)
{
	m->control.unchanged = control_socket_is_unchanged(&m->control.socket,
	    m->serving->conf, conf);
	if (m->control.unchanged)
		return 0;
	return control_socket_open(&m->control.pending, conf,
	    &m->control.socket, false);
}

void
control_server_take_over(struct monitor *m)
{
	if (!m->control.unchanged) {
		control_socket_publish(&m->control.pending);
		control_socket_remove(&m->control.socket);
		m->control.socket = m->control.pending;
		m->control.pending = (struct control_socket){ .fd = -1 };
	}
	m->control.unchanged = true;
}

void
control_server_keep(struct monitor *m)
{
	control_socket_remove(&m->control.pending);
	m->control.unchanged = true;
}

void
control_server_init(struct monitor *m, struct control_socket *socket)
{
	TAILQ_INIT(&m->control.clients);
	m->control.socket = (struct control_socket){ .fd = -1 };
	m->control.pending = *socket;
}

void
control_server_end(struct monitor *m)
{
	struct control_client	*c;

	while ((c = TAILQ_FIRST(&m->control.clients)) != NULL)
		end_client(m, c);
	control_socket_remove(&m->control.pending);
	control_socket_remove(&m->control.socket);
	buf_free(&m->control.reopen_errors);
}

void
control_server_close_all(struct monitor *m)
{
	struct control_client	*c;

	TAILQ_FOREACH(c, &m->control.clients, link) {
		io_close(&c->fd);
		io_close(&c->pipe);
	}
	control_socket_close(&m->control.pending);
	control_socket_close(&m->control.socket);
}
