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
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/control_chains.h"
#include "monitor/control_child.h"
#include "monitor/control_programs.h"
#include "monitor/control_server.h"
#include "monitor/control_socket.h"
#include "monitor/generation.h"
#include "shared/channel.h"

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
	struct source		 pipe;		/* to main; it ends when the
						 * answer is complete */
	struct timer		 timeout;
	struct child		*child;		/* control child; NULL: none */
	unsigned		 reload;	/* number of the reload that it
						 * waits for; 0: none */
	unsigned		 generation;	/* of the mains asked */
	unsigned		 next_main;	/* to be asked */
	struct buf		 line;
	TAILQ_ENTRY(control_client) link;
};

static struct {
	struct source		 source;	/* of the socket, which has the
						 * descriptor */
	struct control_socket	 socket;
	struct control_socket	 pending;	/* of a generation that is
						 * being started */
	const struct conf	*pending_conf;	/* of that; NULL: there is none,
						 * or it keeps the socket */
	TAILQ_HEAD(, control_client) clients;
	struct buf		 reopen_errors;	/* text: logs that could not be
						 * opened again */
} server = {
	.source.fd = -1, .socket.fd = -1, .pending.fd = -1,
	.clients = TAILQ_HEAD_INITIALIZER(server.clients)
};

static void
end_client(struct control_client *c)
{
	TAILQ_REMOVE(&server.clients, c, link);
	child_give_up(&c->child);
	events_close(&c->client);
	events_close(&c->pipe);
	events_unset(&c->timeout);
	buf_free(&c->line);
	free(c);
}

/* Sends a whole answer: a line, and further lines if lines is not NULL.  The
 * send fails if the client has gone, and is cut off if the client has sent many
 * requests without reading. */
static void
send_answer(struct control_client *c, enum control_verdict verdict,
    const char *text, const struct buf *lines)
{
	struct buf	b = { 0 };

	control_begin_answer(&b, verdict, "%s", text);
	if (lines != NULL && lines->len > 0)
		buf_add(&b, lines->at, lines->len);
	control_end_answer(&b);
	(void)send(c->client.fd, b.at, b.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	buf_free(&b);
}

/* Sends a whole answer and closes the client. */
static void
answer_client(struct control_client *c,
    enum control_verdict verdict, const char *text)
{
	send_answer(c, verdict, text, NULL);
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

/* Answers at once; the client learns of the server's end by the end of its
 * connection. */
static void
stop_server(struct control_client *c, int signo, const char *text)
{
	send_answer(c, CONTROL_VERDICT_OK, text, NULL);
	wait_for_end(c, ANSWERED);
	kill(getpid(), signo);		/* as by kill(1) */
}

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

static void
run_command(struct control_client *c)
{
	if (c->command != CONTROL_VERSION)
		log_requester(c, control_rows[c->command].name);
	switch (c->command) {
	case CONTROL_RELOAD:
		wait_for_end(c, WAITING);
		c->reload = generations.reloads + 1;	/* or a later one */
		due.reload = true;
		break;
	case CONTROL_REOPEN:
		wait_for_end(c, WAITING);
		server.reopen_errors.len = 0;
		due.reopen = true;
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

/* For the control child that is being started. */
static struct {
	const struct control_request	*request;
	int				 client;
	int				 manager;	/* of programs; -1:
							 * there is none */
} asked;

/* Whether enough requests wait for processes of that kind. */
static bool
has_enough(enum control_by by)
{
	const struct control_client	*c;
	size_t				 n = 0;

	TAILQ_FOREACH(c, &server.clients, link)
		n += c->state == DELEGATED && control_rows[c->command].by == by;
	return n >= (by == CONTROL_BY_CHILD ? CHILDREN_MAX :
	    CONTROL_REQUESTS_MAX);
}

static void
run_child(struct generation *unused, void *client, int pipe)
{
	(void)unused;
	(void)client;
	(void)pipe;
	control_child_answer(asked.request, asked.client, asked.manager);
}

static void
on_child_end(void *client)
{
	end_client(client);
}

static void
give_up_child(void *client)
{
	struct control_client	*c = client;

	child_kill(c->child);
	end_client(c);
}

static const struct child_kind	control_child = {
	.name = "control child", .privileged = true, .run = run_child,
	.on_readable = on_child_end, .on_timeout = give_up_child,
	.timeout = CHILD_TIMEOUT
};

static void
ask_child(struct control_client *c, const struct control_request *request)
{
	if (control_programs_restarts(request))
		log_requester(c, "restart of a program");
	if (control_chains_reloads(request))
		log_requester(c, "reload of a chain");
	/* The descriptors themselves are closed in children. */
	asked.client = fcntl(c->client.fd, F_DUPFD_CLOEXEC, 0);
	asked.manager = fcntl(control_programs_manager(request),
	    F_DUPFD_CLOEXEC, 0);
	asked.request = request;
	if (asked.client != -1)
		c->child = child_start(&control_child, generations.serving, c,
		    NULL);
	io_close(&asked.client);
	io_close(&asked.manager);
	if (c->child == NULL) {
		answer_client(c, CONTROL_VERDICT_FAILED, "no process can be "
		    "started for the answer");
		return;
	}
	events_close(&c->client);
	events_unset(&c->timeout);
	c->state = DELEGATED;
}

static void	ask_next_main(struct control_client *);

/* Main has answered or ended. */
static void
on_main_end(void *client)
{
	struct control_client	*c = client;

	if (c->client.fd != -1)
		ask_next_main(c);
	else
		end_client(c);
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
	events_add(&c->pipe, pipe[0], on_main_end, c);
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

/* Returns the first worker from this one on whose main can be asked. */
static unsigned
find_main(const struct generation *g, unsigned i)
{
	while (i < g->nworkers && (g->workers[i].channel.fd == -1 ||
	    !g->workers[i].wanted))
		i++;
	return i;
}

/* Asks one main after the other, as each has its own caches.  After a reload,
 * the mains of the new generation are asked from the first on: their caches are
 * empty. */
static void
ask_next_main(struct control_client *c)
{
	const struct generation	*g = generations.serving;
	unsigned		 i = find_main(g, c->generation == g->number ?
				    c->next_main : 0);
	bool			 last = find_main(g, i + 1) >= g->nworkers;

	c->generation = g->number;
	c->next_main = i + 1;
	events_close(&c->pipe);
	if (i >= g->nworkers)
		answer_client(c, CONTROL_VERDICT_BUSY, "main is being "
		    "started: try again");
	else if (last ? !send_to_main(&g->workers[i], c, c->client.fd) :
	    !ask_main_unheard(&g->workers[i], c))
		answer_client(c, CONTROL_VERDICT_BUSY, "main takes no "
		    "request now: try again");
	else {
		wait_for_end(c, DELEGATED);
		c->client.wait = EVENTS_NOTHING;
		if (last)
			events_close(&c->client);
	}
}

/*
 * Lines
 */

static void
handle_line(struct control_client *c)
{
	struct control_request	 request;
	struct buf		 wrong = { 0 };
	char			*text = mem_string(c->line.at);
	enum control_by		 by;

	if (!control_parse(text, &request, &wrong)) {
		(void)send(c->client.fd, wrong.at, wrong.len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		buf_free(&wrong);
		end_client(c);
		free(text);
		return;
	}
	c->command = request.command;
	by = control_rows[c->command].by;
	if (due.ending != 0 && c->command != CONTROL_STOP &&
	    c->command != CONTROL_DRAIN)
		answer_client(c, CONTROL_VERDICT_BUSY, "the server is "
		    "stopping");
	else if (by == CONTROL_BY_MONITOR)
		run_command(c);
	else if (has_enough(by))
		answer_client(c, CONTROL_VERDICT_BUSY, "too many requests "
		    "of this kind at a time");
	else if (by == CONTROL_BY_CHILD)
		ask_child(c, &request);
	else
		ask_next_main(c);
	free(text);
}

static void
read_line(struct control_client *c)
{
	char	*newline;
	ssize_t	 n;

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
	if (newline != NULL) {
		*newline = '\0';
		c->line.len = (size_t)(newline - c->line.at);
		handle_line(c);
	} else if (c->line.len == CONTROL_LINE_MAX)
		answer_client(c, CONTROL_VERDICT_BAD, "the line is too "
		    "long");
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

static void
give_up_silent(void *client)
{
	answer_client(client, CONTROL_VERDICT_BUSY, "no request came");
}

/*
 * Clients
 */

/* Makes room for another client, in place of the one that is silent for
 * longest; false if there is none. */
static bool
make_room(void)
{
	struct control_client	*c, *silent = NULL;
	size_t			 all = 0;

	TAILQ_FOREACH(c, &server.clients, link) {
		all++;
		if (silent == NULL && c->state == READING)
			silent = c;
	}
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
	events_set(&c->timeout, LINE_TIMEOUT, give_up_silent, c);
	TAILQ_INSERT_TAIL(&server.clients, c, link);
	if (has_room)
		/* The line has usually come with the connection. */
		read_line(c);
	else
		answer_client(c, CONTROL_VERDICT_BUSY, "too many clients at "
		    "a time");
}

/*
 * Events
 */

/* Answers clients that wait for a reopen, or for a reload up to that number. */
static void
answer_waiting(enum control_command command, unsigned reload,
    enum control_verdict verdict, const char *text, const struct buf *lines)
{
	struct control_client	*c, *next;

	for (c = TAILQ_FIRST(&server.clients); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state != WAITING || c->command != command ||
		    c->reload > reload)
			continue;
		send_answer(c, verdict, text, lines);
		end_client(c);
	}
}

void
control_server_reloaded(unsigned reload,
    enum control_verdict verdict, const struct buf *errors)
{
	answer_waiting(CONTROL_RELOAD, reload, verdict,
	    verdict == CONTROL_VERDICT_OK ?
	    "the conf has been read again, and is in force" :
	    "the conf in force stays", errors);
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

	answer_waiting(CONTROL_REOPEN, 0, failed ? CONTROL_VERDICT_FAILED :
	    CONTROL_VERDICT_OK, failed ? buf_string(&server.reopen_errors) :
	    "the logs have been opened again", NULL);
}

int
control_server_prepare(const struct conf *conf, bool take_over)
{
	const struct generation	*g = generations.serving;

	if (g != NULL && control_socket_is_unchanged(&server.socket, g->conf,
	    conf))
		return 0;
	server.pending_conf = conf;
	return control_socket_open(&server.pending, conf, &server.socket,
	    take_over);
}

void
control_server_keep(void)
{
	/* The first generation may not have published its own yet. */
	if (generations.serving != NULL &&
	    server.pending_conf == generations.serving->conf)
		return;
	control_socket_remove(&server.pending);
	server.pending_conf = NULL;
}

/* A generation serves: puts the socket that was prepared for it in place. */
static void
publish_pending(struct generation *g)
{
	if (server.pending_conf != g->conf)
		return;
	server.pending_conf = NULL;
	control_socket_publish(&server.pending);
	events_release(&server.source);
	control_socket_remove(&server.socket);
	server.socket = server.pending;
	server.pending = (struct control_socket){ .fd = -1 };
	if (server.socket.fd != -1)
		events_add(&server.source, server.socket.fd, accept_client,
		    NULL);
}

static void
answer_all_waiting(void)
{
	answer_waiting(CONTROL_RELOAD, UINT_MAX, CONTROL_VERDICT_BUSY,
	    "the server is stopping", NULL);
	answer_waiting(CONTROL_REOPEN, 0, CONTROL_VERDICT_BUSY,
	    "the server is stopping", NULL);
}

static void
end_clients(void)
{
	while (!TAILQ_EMPTY(&server.clients))
		end_client(TAILQ_FIRST(&server.clients));
	events_release(&server.source);
	control_socket_remove(&server.pending);
	control_socket_remove(&server.socket);
	buf_free(&server.reopen_errors);
}

static void
close_descriptors(void)
{
	events_release(&server.source);
	io_close(&server.pending.fd);
	io_close(&server.socket.fd);
}

const struct component	control_server_component = {
	.serves = publish_pending, .stop = answer_all_waiting,
	.end = end_clients, .leave = close_descriptors
};
