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
#include "monitor/children.h"
#include "monitor/component.h"
#include "monitor/control_child.h"
#include "monitor/control_server.h"
#include "monitor/generation.h"
#include "monitor/monitor.h"
#include "shared/channel.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION	"unknown"
#endif

#define CLIENTS_MAX	32
#define CHILDREN_MAX	8
#define LINE_TIMEOUT	10000		/* ms for a line */
#define CHILD_TIMEOUT	30000		/* ms for a control child's answer */
#define SEND_BUFFER	(256 * 1024)	/* bytes, for an answer */

enum control_state {
	READING,		/* its line is not complete */
	WAITING,		/* for a reload or reopen to end */
	ANSWERED,		/* open until the server ends */
	DELEGATED		/* another process answers it */
};

struct control_client {
	enum control_state	 state;
	enum control_command	 command;
	struct source		 client;	/* closed: another process has
						 * it */
	struct source		 pipe;		/* DELEGATED: ends when the
						 * answer is complete */
	struct timer		 timeout;
	pid_t			 child;		/* control child; 0: none */
	unsigned		 reload;	/* the reload that it waits
						 * for */
	unsigned		 generation;	/* of the mains asked */
	unsigned		 mains_asked;	/* how many mains were asked */
	struct buf		 line;
	TAILQ_ENTRY(control_client) link;
};

static struct {
	struct source		 source;	/* of the socket, which has the
						 * descriptor */
	struct control_socket	 socket;
	struct control_socket	 pending;	/* of a generation that is
						 * being started */
	bool			 unchanged;	/* the new generation keeps the
						 * socket: no pending one */
	bool			 stopping;
	TAILQ_HEAD(, control_client) clients;
	struct buf		 reopen_errors;	/* text: logs that could not be
						 * opened again */
} server = {
	.source.fd = -1, .socket.fd = -1, .pending.fd = -1,
	.clients = TAILQ_HEAD_INITIALIZER(server.clients)
};

static const struct control_server_calls	*calls;

void
control_server_init(const struct control_server_calls *c)
{
	calls = c;
}

static void
end_client(struct control_client *c)
{
	TAILQ_REMOVE(&server.clients, c, link);
	if (c->child != 0)
		children_give_up(c->child);
	events_close(&c->client);
	events_close(&c->pipe);
	events_unset(&c->timeout);
	buf_free(&c->line);
	free(c);
}

static void
send_answer(struct control_client *c, struct buf *answer)
{
	control_end_answer(answer);
	/* The send fails if the client has gone, and is cut off if it has sent
	 * many requests without reading. */
	(void)send(c->client.fd, answer->at, answer->len,
	    MSG_DONTWAIT | MSG_NOSIGNAL);
	buf_free(answer);
}

/* Sends a whole answer and closes the client. */
static void
answer_client(struct control_client *c,
    enum control_verdict verdict, const char *text)
{
	struct buf	b = { 0 };

	control_begin_answer(&b, verdict, "%s", text);
	send_answer(c, &b);
	end_client(c);
}

/*
 * Commands of the monitor
 */

/* Of a client with a complete line, only the end is of interest.  What it waits
 * for has a time limit of its own. */
static void
wait_for_end(struct control_client *c, enum control_state state)
{
	c->state = state;
	c->client.wait = EVENTS_END;
	events_unset(&c->timeout);
}

static void
begin_reload(struct control_client *c)
{
	wait_for_end(c, WAITING);
	c->reload = calls->reload_number() + 1;	/* also if it begins later */
	calls->reload();
}

static void
begin_reopen(struct control_client *c)
{
	wait_for_end(c, WAITING);
	server.reopen_errors.len = 0;
	calls->reopen();
}

/* Answers at once; the client learns of the server's end by the end of its
 * connection. */
static void
stop_server(struct control_client *c, int signo, const char *text)
{
	struct buf	b = { 0 };

	control_begin_answer(&b, CONTROL_VERDICT_OK, "%s", text);
	send_answer(c, &b);
	wait_for_end(c, ANSWERED);
	kill(getpid(), signo);		/* as by kill(1) */
}

static void
run_command(struct control_client *c)
{
	switch (c->command) {
	case CONTROL_RELOAD:
		begin_reload(c);
		break;
	case CONTROL_REOPEN:
		begin_reopen(c);
		break;
	case CONTROL_STOP:
		stop_server(c, SIGTERM, "stopping");
		break;
	case CONTROL_DRAIN:
		stop_server(c, SIGQUIT, "stopping when the responses under way "
		    "have been sent");
		break;
	default:
		answer_client(c, CONTROL_VERDICT_OK,
		    "amped " PACKAGE_VERSION);
		break;
	}
}

/*
 * Commands of other processes
 */

static void	on_pipe(void *client);
static void	give_up_client(void *client);

static size_t
count_delegated(bool by_children)
{
	const struct control_client	*c;
	size_t				 n = 0;

	TAILQ_FOREACH(c, &server.clients, link)
		n += c->state == DELEGATED &&
		    (c->child != 0) == by_children;
	return n;
}

static void
ask_child(struct control_client *c, const struct control_request *request)
{
	int	pipe = -1;

	if (count_delegated(true) >= CHILDREN_MAX) {
		answer_client(c, CONTROL_VERDICT_BUSY, "too many requests "
		    "of this kind at a time");
		return;
	}
	c->child = control_child_start(request, c->client.fd, &pipe);
	if (c->child == 0) {
		answer_client(c, CONTROL_VERDICT_FAILED, "no process can be "
		    "started for the answer");
		return;
	}
	events_close(&c->client);
	c->state = DELEGATED;
	events_add(&c->pipe, pipe, on_pipe, c);
	c->pipe.wait = EVENTS_END;
	events_set(&c->timeout, CHILD_TIMEOUT, give_up_client, c);
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
	    channel_send(w->channel.fd, CHANNEL_REQUEST, pipe[1]) == 0;
	close(pipe[1]);
	events_add(&c->pipe, pipe[0], on_pipe, c);
	c->pipe.wait = EVENTS_END;
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
next_main(struct control_client *c, bool *last)
{
	const struct generation	*g = generations.serving;
	const struct worker	*w = NULL;

	/* After a reload, the mains of the new generation are asked from the
	 * first on: their caches are empty. */
	if (c->generation != g->number)
		c->mains_asked = 0;
	c->generation = g->number;
	while (c->mains_asked < g->nworkers && w == NULL)
		if (g->workers[c->mains_asked++].channel.fd != -1)
			w = &g->workers[c->mains_asked - 1];
	*last = true;
	for (unsigned i = c->mains_asked; i < g->nworkers; i++)
		if (g->workers[i].channel.fd != -1)
			*last = false;
	return w;
}

/* Asks one main after the other, as each has its own caches. */
static void
ask_next_main(struct control_client *c)
{
	const struct worker	*w;
	bool			 last;

	events_close(&c->pipe);
	w = next_main(c, &last);
	if (w == NULL)
		answer_client(c, CONTROL_VERDICT_BUSY, "main is being "
		    "started: try again");
	else if (last ? !send_to_main(w, c, c->client.fd) :
	    !ask_main_unheard(w, c))
		answer_client(c, CONTROL_VERDICT_BUSY, "main takes no "
		    "request now: try again");
	else {
		wait_for_end(c, DELEGATED);
		c->client.wait = EVENTS_NOTHING;
		if (last)
			events_close(&c->client);
	}
}

static void
ask_main(struct control_client *c, const struct buf *line)
{
	if (count_delegated(false) >= CONTROL_REQUESTS_MAX) {
		answer_client(c, CONTROL_VERDICT_BUSY, "too many requests "
		    "of this kind at a time");
		return;
	}
	buf_add(&c->line, line->at, line->len);
	ask_next_main(c);
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

	if (getsockopt(c->client.fd, SOL_SOCKET, SO_PEERCRED, &who,
	    &len) == 0) {
		log_notice("%s: asked for by user %ld (process %ld)", what,
		    (long)who.uid, (long)who.pid);
		return;
	}
#endif
	log_notice("%s: asked for at the control socket", what);
}

/* Takes a line without its newline. */
static void
handle_line(struct control_client *c, const struct buf *line)
{
	struct control_request	 request;
	struct buf		 wrong = { 0 };
	char			*text = mem_string(line->at);

	if (!control_parse(text, &request, &wrong)) {
		(void)send(c->client.fd, wrong.at, wrong.len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		buf_free(&wrong);
		end_client(c);
	} else if (server.stopping && request.command != CONTROL_STOP &&
	    request.command != CONTROL_DRAIN)
		answer_client(c, CONTROL_VERDICT_BUSY, "the server is "
		    "stopping");
	else {
		c->command = request.command;
		if (control_rows[c->command].by == CONTROL_BY_MONITOR &&
		    c->command != CONTROL_VERSION)
			log_requester(c, control_rows[c->command].name);
		if (control_rows[c->command].by == CONTROL_BY_MONITOR)
			run_command(c);
		else if (control_rows[c->command].by == CONTROL_BY_CHILD)
			ask_child(c, &request);
		else
			ask_main(c, line);
	}
	free(text);
}

static void
read_line(struct control_client *c)
{
	char		*newline;
	ssize_t		 n;
	struct buf	 line;

	buf_reserve(&c->line, CONTROL_LINE_MAX - c->line.len + 1);
	n = recv(c->client.fd, c->line.at + c->line.len,
	    CONTROL_LINE_MAX - c->line.len, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_client(c);
		return;
	}
	c->line.len += (size_t)n;
	newline = memchr(c->line.at, '\n', c->line.len);
	if (newline == NULL && c->line.len == CONTROL_LINE_MAX)
		answer_client(c, CONTROL_VERDICT_BAD, "the line is too "
		    "long");
	if (newline == NULL)
		return;
	*newline = '\0';
	line = c->line;			/* c may be freed before the line */
	line.len = (size_t)(newline - line.at);
	c->line = (struct buf){ 0 };
	handle_line(c, &line);
	buf_free(&line);
}

static void
on_client(void *client)
{
	struct control_client	*c = client;

	if (c->state == READING)
		read_line(c);
	else
		end_client(c);
}

/* The process that was asked has answered or ended. */
static void
on_pipe(void *client)
{
	struct control_client	*c = client;

	if (c->client.fd != -1)
		ask_next_main(c);
	else
		end_client(c);
}

static void
give_up_client(void *client)
{
	struct control_client	*c = client;

	if (c->state == READING) {
		answer_client(c, CONTROL_VERDICT_BUSY, "no request came");
		return;
	}
	if (c->child != 0)
		kill(c->child, SIGKILL);
	end_client(c);
}

/*
 * Clients
 */

static struct control_client *
find_longest_silent(size_t *all)
{
	struct control_client	*c, *first = NULL;

	*all = 0;
	TAILQ_FOREACH(c, &server.clients, link) {
		++*all;
		if (first == NULL && c->state == READING)
			first = c;
	}
	return first;
}

static bool
make_room(void)
{
	size_t			 all;
	struct control_client	*silent = find_longest_silent(&all);

	if (all < CLIENTS_MAX)
		return true;
	if (silent != NULL)
		answer_client(silent, CONTROL_VERDICT_BUSY, "no request "
		    "came, and another client needs the place");
	return silent != NULL;
}

static void
accept_client(void *unused)
{
	static const int	 room = SEND_BUFFER;
	struct control_client	*c;
	bool			 has_room;
	int			 fd;

	(void)unused;
	fd = accept4(server.socket.fd, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd == -1)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	has_room = make_room();
	c = mem_zero(sizeof(*c));
	c->pipe.fd = -1;
	events_add(&c->client, fd, on_client, c);
	events_set(&c->timeout, LINE_TIMEOUT, give_up_client, c);
	TAILQ_INSERT_TAIL(&server.clients, c, link);
	if (has_room)
		/* The line has usually come with the connection. */
		read_line(c);
	else
		answer_client(c, CONTROL_VERDICT_BUSY, "too many clients at "
		    "a time");
}

/* Answers all that wait for a reload or reopen. */
static void
answer_waiting(enum control_command command, enum control_verdict verdict,
    const char *text)
{
	struct control_client	*c, *next;

	for (c = TAILQ_FIRST(&server.clients); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state == WAITING && c->command == command)
			answer_client(c, verdict, text);
	}
}

/*
 * Events
 */

void
control_server_reloaded(unsigned reload,
    enum control_verdict verdict, const struct buf *errors)
{
	struct control_client	*c, *next;
	struct buf		 b;

	for (c = TAILQ_FIRST(&server.clients); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state != WAITING ||
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
		end_client(c);
	}
}

void
control_server_reopen_failed(const char *log)
{
	buf_addf(&server.reopen_errors, "%sthe %s cannot be opened again, "
	    "and stays as it was: the error log says why",
	    server.reopen_errors.len > 0 ? "; " : "", log);
}

void
control_server_reopened(void)
{
	bool	failed = server.reopen_errors.len > 0;

	answer_waiting(CONTROL_REOPEN, failed ? CONTROL_VERDICT_FAILED :
	    CONTROL_VERDICT_OK, failed ? buf_string(&server.reopen_errors) :
	    "the logs have been opened again");
}

int
control_server_prepare(const struct conf *conf)
{
	server.unchanged = control_socket_is_unchanged(&server.socket,
	    generations.serving->conf, conf);
	if (server.unchanged)
		return 0;
	return control_socket_open(&server.pending, conf, &server.socket,
	    false);
}

void
control_server_take_over(void)
{
	if (!server.unchanged) {
		control_socket_publish(&server.pending);
		events_release(&server.source);
		control_socket_remove(&server.socket);
		server.socket = server.pending;
		server.pending = (struct control_socket){ .fd = -1 };
		if (server.socket.fd != -1)
			events_add(&server.source, server.socket.fd,
			    accept_client, NULL);
	}
	server.unchanged = true;
}

void
control_server_begin(void)
{
	if (server.pending.fd != -1 && server.socket.fd == -1)
		control_server_take_over();
}

void
control_server_keep(void)
{
	control_socket_remove(&server.pending);
	server.unchanged = true;
}

static void
take_setup(struct monitor_setup *setup)
{
	server.pending = setup->control;
}

static void
close_descriptors(void)
{
	events_release(&server.source);
	control_socket_close(&server.pending);
	control_socket_close(&server.socket);
}

static void
answer_all_waiting(void)
{
	server.stopping = true;
	answer_waiting(CONTROL_RELOAD, CONTROL_VERDICT_BUSY, "the server is "
	    "stopping");
	answer_waiting(CONTROL_REOPEN, CONTROL_VERDICT_BUSY, "the server is "
	    "stopping");
}

static void
end_clients(void)
{
	struct control_client	*c;

	while ((c = TAILQ_FIRST(&server.clients)) != NULL)
		end_client(c);
	events_release(&server.source);
	control_socket_remove(&server.pending);
	control_socket_remove(&server.socket);
	buf_free(&server.reopen_errors);
}

const struct component	control_server_component = {
	.setup = take_setup, .leave = close_descriptors,
	.stop = answer_all_waiting, .end = end_clients
};
