/*
 * backend_protocol: makes the request piece by piece, so that a large body
 * takes no memory; finds the output in what comes, in place.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "conf/program.h"
#include "lib/io.h"
#include "lib/log.h"
#include "loop/backend_protocol.h"
#include "loop/net.h"
#include "proto/scgi.h"

#define PIECE_SIZE	(32 * 1024)	/* bytes of a body that wait at most */
#define RETRY_AFTER	1		/* seconds: a server says only that it
					 * is overloaded */

bool
backend_protocol_sends(const struct backend_protocol *p)
{
	return p->kind != CONF_CGI || p->comes;
}

/*
 * The request
 */

/* Adds the next part of the body.  A record without content ends it. */
static int
add_body(struct backend_protocol *p)
{
	struct buf	*to = &p->piece;
	size_t		 begin = to->len, room = PIECE_SIZE - begin;
	ssize_t		 n;

	if (p->kind == CONF_FASTCGI)
		fastcgi_open(to, FASTCGI_STDIN, p->answer.id);
	buf_reserve(to, room);
	n = pread(p->body, to->at + to->len, room, p->offset);
	if (n == -1) {
		to->len = begin;
		return -1;
	}
	to->len += (size_t)n;
	p->offset += n;
	if (p->kind == CONF_FASTCGI)
		fastcgi_close(to, begin);
	if (n == 0)
		io_close(&p->body);
	return 0;
}

static int
fill_piece(struct backend_protocol *p)
{
	while (p->body != -1 && p->piece.len <= PIECE_SIZE / 2)
		if (add_body(p) == -1)
			return -1;
	return 0;
}

static void
drop_request(struct backend_protocol *p)
{
	buf_wipe(&p->piece);
	io_close(&p->body);
}

static ssize_t
send_piece(const struct backend_protocol *p, int connection)
{
	return p->kind == CONF_CGI ?
	    write(connection, p->piece.at, p->piece.len) :
	    io_send(connection, p->piece.at, p->piece.len);
}

ssize_t
backend_protocol_recv(const struct backend_protocol *p, int connection,
    char *to, size_t room)
{
	return p->kind == CONF_CGI ? read(connection, to, room) :
	    io_recv(connection, to, room);
}

bool
backend_protocol_begin(struct backend_protocol *p, int connection)
{
	ssize_t	n;

	/* An error comes again with the next part. */
	(void)fill_piece(p);
	n = send_piece(p, connection);
	if (n == -1)
		return errno == EAGAIN || errno == EINTR;
	buf_consume(&p->piece, (size_t)n);
	if (backend_protocol_is_sent(p))
		drop_request(p);
	return true;
}

int
backend_protocol_send(struct backend_protocol *p, int connection)
{
	ssize_t	n;

	if (fill_piece(p) == -1)
		return errno == EINTR ? 0 : -1;
	if (p->piece.len == 0)
		return 1;
	n = send_piece(p, connection);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	/* An answer may be there nevertheless. */
	p->is_cut = n == -1;
	if (n != -1)
		buf_consume(&p->piece, (size_t)n);
	if (!p->is_cut && (p->piece.len > 0 || p->body != -1))
		return 0;
	drop_request(p);
	return 1;
}

/* More than once for a piece would be many small ones. */
size_t
backend_protocol_room(const struct backend_protocol *p)
{
	if (!p->comes)
		return 0;
	return p->piece.len <= PIECE_SIZE / 2 ? PIECE_SIZE - p->piece.len : 0;
}

/* Adds a part of the body; without bytes its end. */
static void
add_part(struct backend_protocol *p, const char *bytes, size_t n)
{
	size_t	begin = p->piece.len;

	if (p->is_cut)
		return;
	if (p->kind == CONF_FASTCGI)
		fastcgi_open(&p->piece, FASTCGI_STDIN, p->answer.id);
	buf_add(&p->piece, bytes, n);
	if (p->kind == CONF_FASTCGI)
		fastcgi_close(&p->piece, begin);
}

void
backend_protocol_add(struct backend_protocol *p, const char *bytes, size_t n)
{
	if (n > 0)
		add_part(p, bytes, n);
}

void
backend_protocol_finish(struct backend_protocol *p)
{
	add_part(p, "", 0);
	p->comes = false;
}

bool
backend_protocol_is_sent(const struct backend_protocol *p)
{
	return p->is_cut ||
	    (!p->comes && p->body == -1 && p->piece.len == 0);
}

bool
backend_protocol_is_flushed(const struct backend_protocol *p)
{
	return p->piece.len == 0;
}

bool
backend_protocol_is_cut(const struct backend_protocol *p)
{
	return p->is_cut;
}

/*
 * The answer
 */

static void
log_line(void *protocol, const char *line, size_t len)
{
	const struct backend_protocol	*p = protocol;

	log_warnx("%s: %.*s", p->name, (int)len, line);
}

/* Says among the program's own lines why it has refused, or is not heard. */
static void
add_own_line(struct backend_protocol *p, const char *line)
{
	error_lines_add(&p->errors, p->clock->ms, line, strlen(line));
}

/* Behind a part of an answer its program has not refused the request. */
static enum backend_end
take_end(struct backend_protocol *p, struct backend *b)
{
	if (p->answer.status == FASTCGI_OVERLOADED && !p->has_output) {
		b->retry_after = RETRY_AFTER;
		return BACKEND_BUSY;
	}
	if (p->answer.status == FASTCGI_UNKNOWN_ROLE)
		add_own_line(p, "it does not have the role that the conf gives "
		    "it (run, authorize)\n");
	if (p->answer.status != FASTCGI_REQUEST_COMPLETE)
		return BACKEND_BROKEN;
	b->status = (int)(p->answer.exit_status & 0xff) << 8;
	return BACKEND_COMPLETE;
}

enum backend_end
backend_protocol_take(struct backend_protocol *p, char *bytes, size_t *n,
    struct backend *b)
{
	struct str		input = { bytes, *n }, content;
	enum fastcgi_result	result;

	p->has_begun = true;
	if (p->kind != CONF_FASTCGI) {
		p->has_output = true;
		return BACKEND_RUNS;
	}
	*n = 0;
	do {
		result = fastcgi_next(&p->answer, &input, &content);
		if (result == FASTCGI_OUTPUT) {
			memmove(bytes + *n, content.at, content.len);
			*n += content.len;
			p->has_output = true;
		} else if (result == FASTCGI_ERRORS)
			error_lines_add(&p->errors, p->clock->ms, content.at,
			    content.len);
	} while (result == FASTCGI_OUTPUT || result == FASTCGI_ERRORS);
	p->is_last = input.len == 0;
	if (result == FASTCGI_REFUSED)
		add_own_line(p, "what it answers is not FastCGI: does the conf "
		    "name the right program, or its port?\n");
	return result == FASTCGI_MORE ? BACKEND_RUNS : result == FASTCGI_END ?
	    take_end(p, b) : BACKEND_BROKEN;
}

enum backend_end
backend_protocol_end(const struct backend_protocol *p, int error)
{
	return p->kind == CONF_SCGI && (error == 0 ||
	    (error == ECONNRESET && p->has_output)) ? BACKEND_COMPLETE :
	    BACKEND_RUNS;
}

/* Whether bytes are on their way to a server that has closed, or have found it
 * closed. */
static bool
has_missed(int connection)
{
	const struct net_sock	sock = { .fd = connection };
	struct pollfd		fd = { .fd = connection };

	return net_unacked(&sock) > 0 ||
	    (poll(&fd, 1, 0) == 1 && (fd.revents & POLLERR) != 0);
}

/* A server that closes with bytes unread resets the connection.  Where it had
 * closed before the bytes came, TCP tells of the end first. */
bool
backend_protocol_is_unread(const struct backend_protocol *p, int connection,
    int error)
{
	if (p->kind == CONF_CGI || p->has_begun)
		return false;
	return p->is_cut || error == ECONNRESET ||
	    (error == 0 && has_missed(connection));
}

bool
backend_protocol_is_reusable(const struct backend_protocol *p)
{
	return p->keeps && p->is_last && !p->is_cut && p->piece.len == 0;
}

/*
 * Beginning and end
 */

/* Sets where the body begins; -1 with errno. */
static int
take_body(struct backend_protocol *p, int body)
{
	p->body = -1;
	if (body == -1)
		return 0;
	p->offset = lseek(body, 0, SEEK_CUR);
	if (p->offset != -1)
		p->body = fcntl(body, F_DUPFD_CLOEXEC, 0);
	return p->body == -1 ? -1 : 0;
}

int
backend_protocol_open(struct backend_protocol *p,
    const struct backend_start *start, const struct clock *clock,
    struct error_lines_rate *rate, uint16_t id)
{
	*p = (struct backend_protocol){ .kind = start->protocol, .body = -1,
	    .comes = start->sends_body, .answer.id = id, .clock = clock,
	    .name = start->name };
	if (p->kind == CONF_CGI)
		return 0;
	if (take_body(p, start->body) == -1)
		return -1;
	if (p->kind == CONF_SCGI) {
		scgi_add_head(&p->piece, start->environment);
		return 0;
	}
	p->errors.rate = rate;
	p->errors.put = log_line;
	p->errors.context = p;
	error_lines_name_request(&p->errors, start->target, start->host);
	p->keeps = start->keep && p->body == -1 && !p->comes;
	fastcgi_add_head(&p->piece, id, start->authorizes ?
	    FASTCGI_AUTHORIZER : FASTCGI_RESPONDER, start->environment,
	    p->keeps);
	if (p->body == -1 && !p->comes)
		fastcgi_close(&p->piece, fastcgi_open(&p->piece,
		    FASTCGI_STDIN, id));
	return 0;
}

void
backend_protocol_close(struct backend_protocol *p, bool failed)
{
	drop_request(p);
	if (p->errors.rate != NULL)
		error_lines_end(&p->errors, p->clock->ms, failed);
	p->errors.rate = NULL;
}
