/*
 * control_server: accepts, reads a line, and sees to it that there is an
 * answer.
 *
 * Whoever connects may be slow, or may never say anything: so there are so many
 * at most, each has so much time for its line, and one that says nothing goes
 * when another comes.  An answer goes as a whole into what the socket takes, or
 * is cut off there.
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

#define CLIENTS_MOST	32
#define CLERKS_MOST	8
#define LINE_WITHIN	10000		/* ms for a line */
#define CLERK_WITHIN	30000		/* ms for a control child's answer */
#define ROOM		(256 * 1024)	/* for an answer, in the socket */

static void
end(struct monitor *m, struct ctl_client *c)
{
	TAILQ_REMOVE(&m->ctl.list, c, link);
	if (c->clerk != 0)
		children_give_up(&m->children, c->clerk);
	io_close(&c->fd);
	io_close(&c->pipe);
	buf_free(&c->line);
	free(c);
}

static void
send_answer(struct ctl_client *c, struct buf *answer)
{
	ctl_end(answer);
	/* Who does not take it has gone, or asked for too much at once. */
	(void)send(c->fd, answer->at, answer->len, MSG_DONTWAIT | MSG_NOSIGNAL);
	buf_free(answer);
}

/* The last that it hears. */
static void
answer(struct monitor *m, struct ctl_client *c, enum ctl_verdict verdict,
    const char *text)
{
	struct buf	b = { 0 };

	ctl_begin(&b, verdict, "%s", text);
	send_answer(c, &b);
	end(m, c);
}

/*
 * What the monitor does
 */

static void
reload(struct monitor *m, struct ctl_client *c)
{
	c->state = CTL_STATE_WAITS;
	c->deadline = 0;		/* its reading has one */
	c->reading = m->reading.number + 1;	/* or what is due then */
	reload_begin(m);
}

static void
reopen(struct monitor *m, struct ctl_client *c)
{
	c->state = CTL_STATE_WAITS;
	c->deadline = 0;
	m->ctl.trouble.len = 0;
	logs_reopen(m);
}

/* It is told at once, and notices by the end of the connection. */
static void
stop(struct ctl_client *c, int signo, const char *text)
{
	struct buf	b = { 0 };

	ctl_begin(&b, CTL_VERDICT_OK, "%s", text);
	send_answer(c, &b);
	c->state = CTL_STATE_STAYS;
	c->deadline = 0;
	kill(getpid(), signo);		/* as anybody else would */
}

static void
do_it(struct monitor *m, struct ctl_client *c)
{
	switch (c->command) {
	case CTL_RELOAD:
		reload(m, c);
		break;
	case CTL_REOPEN:
		reopen(m, c);
		break;
	case CTL_STOP:
		stop(c, SIGTERM, "stopping");
		break;
	case CTL_DRAIN:
		stop(c, SIGQUIT, "stopping when the responses under way have "
		    "been sent");
		break;
	default:
		answer(m, c, CTL_VERDICT_OK, "amped " PACKAGE_VERSION);
		break;
	}
}

/*
 * What others do
 */

static size_t
count(const struct monitor *m, bool clerks)
{
	const struct ctl_client	*c;
	size_t			 n = 0;

	TAILQ_FOREACH(c, &m->ctl.list, link)
		n += c->state == CTL_STATE_ELSEWHERE &&
		    (c->clerk != 0) == clerks;
	return n;
}

static void
ask_clerk(struct monitor *m, struct ctl_client *c,
    const struct ctl_request *request)
{
	if (count(m, true) >= CLERKS_MOST) {
		answer(m, c, CTL_VERDICT_BUSY, "too many ask the same");
		return;
	}
	c->clerk = control_child_start(m, request, c->fd, &c->pipe);
	if (c->clerk == 0) {
		answer(m, c, CTL_VERDICT_FAILED, "no process can be had");
		return;
	}
	io_close(&c->fd);
	c->state = CTL_STATE_ELSEWHERE;
	c->deadline = monitor_now() + CLERK_WITHIN;
}

/*
 * The question goes to main as the end of a pipe, in which its line stands
 * with the client's descriptor beside it: so messages of the control pipe stay
 * one byte, however long the line.  Main closes its end when it has answered.
 */
static bool
send_to_main(const struct worker *w, struct ctl_client *c, int client)
{
	struct iovec	iov = { c->line.at, c->line.len };
	int		pipe[2];
	bool		sent;

	if (io_pipe(pipe) == -1)
		return false;
	sent = io_nonblock(pipe[0]) == 0 &&
	    io_send_record(pipe[0], &iov, 1, client) == 0 &&
	    shutdown(pipe[0], SHUT_WR) == 0 &&
	    channel_send(w->channel, CHANNEL_REQUEST, pipe[1]) == 0;
	close(pipe[1]);
	c->pipe = pipe[0];
	return sent;
}

/* What a main but the last answers, nobody hears. */
static bool
ask_aside(const struct worker *w, struct ctl_client *c)
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

/* The next main that there is, and whether it is the last. */
static const struct worker *
next_main(const struct monitor *m, struct ctl_client *c, bool *last)
{
	const struct generation	*g = m->serving;
	const struct worker	*w = NULL;

	/* Others have begun with nothing, by another conf: ask those. */
	if (c->generation != g->number)
		c->asked = 0;
	c->generation = g->number;
	while (c->asked < g->nworkers && w == NULL)
		if (g->workers[c->asked++].channel != -1)
			w = &g->workers[c->asked - 1];
	*last = true;
	for (unsigned i = c->asked; i < g->nworkers; i++)
		if (g->workers[i].channel != -1)
			*last = false;
	return w;
}

/* One main after the other, as each has caches of its own. */
static void
ask_next(struct monitor *m, struct ctl_client *c)
{
	const struct worker	*w;
	bool			 last;

	io_close(&c->pipe);
	w = next_main(m, c, &last);
	if (w == NULL)
		answer(m, c, CTL_VERDICT_BUSY, "main is being started: try "
		    "again");
	else if (last ? !send_to_main(w, c, c->fd) : !ask_aside(w, c))
		answer(m, c, CTL_VERDICT_BUSY, "main does not listen now");
	else {
		if (last)
			io_close(&c->fd);
		c->state = CTL_STATE_ELSEWHERE;
		c->deadline = 0;
	}
}

static void
ask_main(struct monitor *m, struct ctl_client *c, const struct buf *line)
{
	if (count(m, false) >= CTL_QUESTIONS_MOST) {
		answer(m, c, CTL_VERDICT_BUSY, "too many ask the same");
		return;
	}
	buf_add(&c->line, line->at, line->len);
	ask_next(m, c);
}

/*
 * Lines
 */

/* Who it is, where the system says so: the log is to tell whose wish it was. */
static void
log_who(const struct ctl_client *c, const char *what)
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

/* A whole line, cut off at its end. */
static void
obey(struct monitor *m, struct ctl_client *c, const struct buf *line)
{
	struct ctl_request	request;
	struct buf		wrong = { 0 };
	char			*text = mem_string(line->at);

	if (!ctl_parse(text, &request, &wrong)) {
		(void)send(c->fd, wrong.at, wrong.len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		buf_free(&wrong);
		end(m, c);
	} else if (m->end_signal != 0 && request.command != CTL_STOP &&
	    request.command != CTL_DRAIN)
		answer(m, c, CTL_VERDICT_BUSY, "the server is stopping");
	else {
		c->command = request.command;
		if (ctl_rows[c->command].by == CTL_BY_MONITOR &&
		    c->command != CTL_VERSION)
			log_who(c, ctl_rows[c->command].name);
		if (ctl_rows[c->command].by == CTL_BY_MONITOR)
			do_it(m, c);
		else if (ctl_rows[c->command].by == CTL_BY_CLERK)
			ask_clerk(m, c, &request);
		else
			ask_main(m, c, line);
	}
	free(text);
}

static void
hear_line(struct monitor *m, struct ctl_client *c)
{
	char		*newline;
	ssize_t		 n;
	struct buf	 line;

	buf_need(&c->line, CTL_LINE_MOST - c->line.len + 1);
	n = recv(c->fd, c->line.at + c->line.len, CTL_LINE_MOST - c->line.len,
	    MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end(m, c);
		return;
	}
	c->line.len += (size_t)n;
	newline = memchr(c->line.at, '\n', c->line.len);
	if (newline == NULL && c->line.len == CTL_LINE_MOST)
		answer(m, c, CTL_VERDICT_BAD, "the line is too long");
	if (newline == NULL)
		return;
	*newline = '\0';
	line = c->line;			/* c may go before it */
	line.len = (size_t)(newline - line.at);
	c->line = (struct buf){ 0 };
	obey(m, c, &line);
	buf_free(&line);
}

/* Only its end is listened for, but where it asks. */
void
ctl_clients_hear(struct monitor *m, struct ctl_client *c)
{
	if (c->state == CTL_STATE_ASKS)
		hear_line(m, c);
	else if (c->state == CTL_STATE_ELSEWHERE && c->fd != -1)
		ask_next(m, c);
	else
		end(m, c);
}

int
ctl_clients_ear(const struct ctl_client *c, bool *says)
{
	*says = c->state == CTL_STATE_ASKS;
	return c->pipe != -1 ? c->pipe : c->fd;
}

/*
 * Coming and going
 */

static struct ctl_client *
longest_silent(struct monitor *m, size_t *all)
{
	struct ctl_client	*c, *first = NULL;

	*all = 0;
	TAILQ_FOREACH(c, &m->ctl.list, link) {
		++*all;
		if (first == NULL && c->state == CTL_STATE_ASKS)
			first = c;
	}
	return first;
}

static bool
has_room(struct monitor *m)
{
	size_t			 all;
	struct ctl_client	*silent = longest_silent(m, &all);

	if (all < CLIENTS_MOST)
		return true;
	if (silent != NULL)
		answer(m, silent, CTL_VERDICT_BUSY, "others have come, and "
		    "nothing was asked");
	return silent != NULL;
}

void
ctl_clients_knock(struct monitor *m)
{
	static const int	 room = ROOM;
	struct ctl_client	*c;
	int			 fd;

	fd = accept4(m->ctl.socket.fd, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd == -1)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	c = mem_zero(sizeof(*c));
	c->fd = fd;
	c->pipe = -1;
	c->deadline = monitor_now() + LINE_WITHIN;
	if (!has_room(m)) {
		TAILQ_INSERT_TAIL(&m->ctl.list, c, link);
		answer(m, c, CTL_VERDICT_BUSY, "too many ask at once");
		return;
	}
	TAILQ_INSERT_TAIL(&m->ctl.list, c, link);
	/* What it asks for has come already, mostly. */
	hear_line(m, c);
}

static void
look_at(struct monitor *m, struct ctl_client *c)
{
	bool	waits = c->state == CTL_STATE_WAITS;
	bool	wrong = m->ctl.trouble.len > 0;

	if (waits && m->end_signal != 0)
		answer(m, c, CTL_VERDICT_BUSY, "the server is stopping");
	else if (waits && c->command == CTL_REOPEN && !logs_are_reopening(m))
		answer(m, c, wrong ? CTL_VERDICT_FAILED : CTL_VERDICT_OK,
		    wrong ? buf_string(&m->ctl.trouble) :
		    "the logs have been opened again");
	else if (c->deadline == 0 || monitor_now() < c->deadline)
		return;
	else if (c->state == CTL_STATE_ASKS)
		answer(m, c, CTL_VERDICT_BUSY, "nothing was asked");
	else {
		if (c->clerk != 0)
			kill(c->clerk, SIGKILL);
		end(m, c);
	}
}

void
ctl_clients_look(struct monitor *m)
{
	struct ctl_client	*c, *next;

	for (c = TAILQ_FIRST(&m->ctl.list); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		look_at(m, c);
	}
}

int64_t
ctl_clients_due(const struct monitor *m)
{
	const struct ctl_client	*c;
	int64_t			 due = 0;

	TAILQ_FOREACH(c, &m->ctl.list, link)
		if (c->deadline != 0 && (due == 0 || c->deadline < due))
			due = c->deadline;
	return due;
}

/*
 * What happens
 */

void
ctl_clients_reloaded(struct monitor *m, unsigned reading,
    enum ctl_verdict verdict, const struct buf *wrong)
{
	struct ctl_client	*c, *next;
	struct buf		 b;

	for (c = TAILQ_FIRST(&m->ctl.list); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state != CTL_STATE_WAITS || c->command != CTL_RELOAD ||
		    c->reading > reading)
			continue;
		b = (struct buf){ 0 };
		ctl_begin(&b, verdict, "%s", verdict == CTL_VERDICT_OK ?
		    "the conf has been read again, and is in force" :
		    "going on with the conf before");
		if (wrong != NULL && wrong->len > 0)
			buf_add(&b, wrong->at, wrong->len);
		send_answer(c, &b);
		end(m, c);
	}
}

void
ctl_clients_trouble(struct monitor *m, const char *log)
{
	buf_addf(&m->ctl.trouble, "%sthe %s cannot be opened again, and stays "
	    "as it was: the error log says why",
	    m->ctl.trouble.len > 0 ? "; " : "", log);
}

int
ctl_clients_prepare(struct monitor *m, const struct conf *conf)
{
	m->ctl.stays = ctl_socket_stays(&m->ctl.socket, m->serving->conf, conf);
	if (m->ctl.stays)
		return 0;
	return ctl_socket_open(&m->ctl.coming, conf, &m->ctl.socket, false);
}

void
ctl_clients_take_over(struct monitor *m)
{
	if (!m->ctl.stays) {
		ctl_socket_place(&m->ctl.coming);
		ctl_socket_remove(&m->ctl.socket);
		m->ctl.socket = m->ctl.coming;
		m->ctl.coming = (struct ctl_socket){ .fd = -1 };
	}
	m->ctl.stays = true;
}

void
ctl_clients_stay(struct monitor *m)
{
	ctl_socket_remove(&m->ctl.coming);
	m->ctl.stays = true;
}

void
ctl_clients_init(struct monitor *m, struct ctl_socket *socket)
{
	TAILQ_INIT(&m->ctl.list);
	m->ctl.socket = (struct ctl_socket){ .fd = -1 };
	m->ctl.coming = *socket;
}

void
ctl_clients_end(struct monitor *m)
{
	struct ctl_client	*c;

	while ((c = TAILQ_FIRST(&m->ctl.list)) != NULL)
		end(m, c);
	ctl_socket_remove(&m->ctl.coming);
	ctl_socket_remove(&m->ctl.socket);
	buf_free(&m->ctl.trouble);
}

void
ctl_clients_leave(struct monitor *m)
{
	struct ctl_client	*c;

	TAILQ_FOREACH(c, &m->ctl.list, link) {
		io_close(&c->fd);
		io_close(&c->pipe);
	}
	ctl_socket_leave(&m->ctl.coming);
	ctl_socket_leave(&m->ctl.socket);
}
