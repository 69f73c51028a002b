/*
 * application: a filter whose work a program of FastCGI does, in the role of a
 * filter (FastCGI 1.0, section 6.4): it gets variables, an empty standard
 * input, and the file, and answers as a program of CGI does.
 *
 * The program manager has connected to the application.  The program says how
 * many bytes the file has before it gets the first one, so the bytes of a pipe
 * are collected.  Reads and writes at once, as an application may answer before
 * it has read all.
 *
 * The exit status says whether the answer has ended (src/programs/cgi.c):
 * EX_OK, EX_DATAERR (but it is of no use), or it has not: any other.
 */
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "helpers/filters/filter.h"
#include "lib/io.h"
#include "proto/cgi_head.h"
#include "proto/fastcgi.h"

#define CONNECTION_FD	3
#define ID		1		/* of the request */
#define PIECE_SIZE	(32 * 1024)	/* bytes of data in a record */
#define READ_SIZE	(64 * 1024)

struct exchange {
	struct buf	 input;		/* all of a pipe's */
	int64_t		 size, at;	/* of the data; bytes in records */
	bool		 has_file;	/* the data is a file, not in input */
	struct buf	 records;	/* to be sent */
	bool		 is_cut;	/* the application takes no more */
	struct fastcgi	 answer;
	struct buf	 head;		/* of its output, until that ends */
	struct cgi_head	 parse;
	bool		 has_head;
	int64_t		 length;	/* its Content-Length; -1: none */
	int64_t		 written;	/* bytes of its body */
	int64_t		 limit;		/* of them; -1: none */
	bool		 is_useless;	/* the rest is dropped */
};

/* The answer cannot be awaited. */
static _Noreturn void
give_up(const char *why)
{
	fprintf(stderr, "its application %s\n", why);
	exit(EX_PROTOCOL);
}

static void
refuse_answer(struct exchange *x, const char *why)
{
	if (!x->is_useless)
		fprintf(stderr, "its application %s\n", why);
	x->is_useless = true;
}

/*
 * The request
 */

static void
add_text(struct buf *to, const char *name, const char *value)
{
	buf_addf(to, "%s=%s", name, value);
	buf_addc(to, '\0');
}

static void
add_number(struct buf *to, const char *name, int64_t value)
{
	char	text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	add_text(to, name, text);
}

/* CONTENT_LENGTH would be that of standard input, which has nothing; PATH is
 * of this process. */
static bool
is_for_application(const char *text)
{
	return strncmp(text, "CONTENT_LENGTH=", 15) != 0 &&
	    strncmp(text, "PATH=", 5) != 0;
}

static void
add_variables(const struct exchange *x, int64_t changed_at, struct buf *to)
{
	extern char	**environ;

	for (char **at = environ; *at != NULL; at++)
		if (is_for_application(*at))
			buf_add(to, *at, strlen(*at) + 1);
	if (getenv("REQUEST_METHOD") == NULL)
		add_text(to, "REQUEST_METHOD", "GET");
	if (getenv("GATEWAY_INTERFACE") == NULL)
		add_text(to, "GATEWAY_INTERFACE", "CGI/1.1");
	if (getenv("SERVER_PROTOCOL") == NULL)
		add_text(to, "SERVER_PROTOCOL", "HTTP/1.1");
	add_number(to, "FCGI_DATA_LAST_MOD", changed_at);
	add_number(to, "FCGI_DATA_LENGTH", x->size);
}

/* Finds the data: a file, or all that comes over a pipe.  Returns when it has
 * been changed. */
static int64_t
find_data(struct exchange *x)
{
	struct stat	st;

	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode)) {
		x->has_file = true;
		x->size = st.st_size;
		return st.st_mtime;
	}
	while (filter_next(&x->input))
		filter_limit(x->input.len);
	x->size = (int64_t)x->input.len;
	return time(NULL);
}

static void
add_head(struct exchange *x)
{
	int64_t		changed_at = find_data(x);
	struct buf	variables = { 0 };

	add_variables(x, changed_at, &variables);
	fastcgi_add_head(&x->records, ID, FASTCGI_FILTER,
	    (struct str){ variables.at, variables.len }, false);
	fastcgi_close(&x->records, fastcgi_open(&x->records, FASTCGI_STDIN,
	    ID));
	buf_free(&variables);
}

static void
read_file(const struct exchange *x, struct buf *to, size_t n)
{
	ssize_t	got;

	buf_reserve(to, n);
	got = pread(STDIN_FILENO, to->at + to->len, n, (off_t)x->at);
	if (got == -1) {
		perror("cannot read the file");
		exit(EX_IOERR);
	}
	if ((size_t)got < n) {
		fputs("the file became shorter\n", stderr);
		exit(EX_IOERR);
	}
	to->len += n;
}

/* Adds the next part of the data; without bytes its end. */
static void
add_data(struct exchange *x)
{
	size_t	record = fastcgi_open(&x->records, FASTCGI_DATA, ID);
	size_t	n = (size_t)MIN(x->size - x->at, PIECE_SIZE);

	if (n > 0 && x->has_file)
		read_file(x, &x->records, n);
	else if (n > 0)
		buf_add(&x->records, x->input.at + x->at, n);
	fastcgi_close(&x->records, record);
	x->at = n > 0 ? x->at + (int64_t)n : -1;
}

/* Whether there is something to send, now or soon. */
static bool
fill_records(struct exchange *x)
{
	while (!x->is_cut && x->at != -1 && x->records.len < PIECE_SIZE / 2)
		add_data(x);
	return !x->is_cut && x->records.len > 0;
}

static void
send_records(struct exchange *x)
{
	ssize_t	n = send(CONNECTION_FD, x->records.at, x->records.len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n > 0)
		buf_consume(&x->records, (size_t)n);
	else if (n == -1 && errno != EAGAIN && errno != EINTR)
		x->is_cut = true;	/* an answer may be there */
}

/*
 * The answer
 */

/* A result that is too large ends the process as the limit of files would.  An
 * answer that goes on for long is not awaited. */
static _Noreturn void
end_too_large(void)
{
	signal(SIGXFSZ, SIG_DFL);
	raise(SIGXFSZ);
	exit(EX_PROTOCOL);
}

static void
take_body(struct exchange *x, struct str bytes)
{
	x->written += (int64_t)bytes.len;
	if (x->limit != -1 && x->written > 2 * x->limit) {
		if (x->is_useless)
			exit(EX_PROTOCOL);
		end_too_large();
	}
	if (!x->is_useless && (x->limit == -1 || x->written <= x->limit))
		filter_write(bytes.at, bytes.len);
}

static void
check_head(struct exchange *x)
{
	const struct cgi_head	*p = &x->parse;
	char			 text[80];

	x->has_head = true;
	x->length = p->length;
	snprintf(text, sizeof(text), "answers with status %u, not 200",
	    (unsigned)p->status);
	if (p->status != 0 && p->status != 200)
		refuse_answer(x, text);
	else if (p->location.len > 0 || p->file.len > 0 || p->path.len > 0)
		refuse_answer(x, "answers with the name of something else "
		    "(Location, X-Sendfile), not with a result");
}

/* Takes a part of the head, and what is behind it. */
static void
take_head(struct exchange *x, struct str bytes)
{
	char	text[160];

	buf_add(&x->head, bytes.at, bytes.len);
	switch (cgi_head_feed(&x->parse, x->head.at, x->head.len)) {
	case CGI_HEAD_MORE:
		return;
	case CGI_HEAD_REFUSED:
		snprintf(text, sizeof(text), "gives no valid head, as "
		    "\"Content-Type: text/html\" and an empty line: %s",
		    x->parse.why);
		refuse_answer(x, text);
		x->has_head = true;
		return;
	case CGI_HEAD_DONE:
		break;
	}
	check_head(x);
	take_body(x, (struct str){ x->head.at + x->parse.size,
	    x->head.len - x->parse.size });
	buf_free(&x->head);
}

static void
take_errors(struct str bytes)
{
	(void)io_write_all(STDERR_FILENO, bytes.at, bytes.len);
}

static void
check_end(struct exchange *x)
{
	char	text[80];

	snprintf(text, sizeof(text), "says that it has failed (status %u)",
	    (unsigned)x->answer.exit_status);
	if (x->answer.status == FASTCGI_OVERLOADED)
		refuse_answer(x, "says that it has too much to do");
	else if (x->answer.status == FASTCGI_UNKNOWN_ROLE)
		refuse_answer(x, "does not have the role of a filter "
		    "(FCGI_FILTER)");
	else if (x->answer.status != FASTCGI_REQUEST_COMPLETE)
		refuse_answer(x, "has refused the request");
	else if (x->answer.exit_status != 0)
		refuse_answer(x, text);
	else if (!x->has_head)
		refuse_answer(x, "has ended without an answer");
	else if (x->length != -1 && x->written != x->length)
		refuse_answer(x, "gives another number of bytes than its "
		    "Content-Length says");
}

/* Returns false at the end of the answer. */
static bool
take_bytes(struct exchange *x, struct str input)
{
	struct str		content;
	enum fastcgi_result	result;

	do {
		result = fastcgi_next(&x->answer, &input, &content);
		if (result == FASTCGI_ERRORS)
			take_errors(content);
		else if (result == FASTCGI_OUTPUT && x->has_head)
			take_body(x, content);
		else if (result == FASTCGI_OUTPUT)
			take_head(x, content);
	} while (result == FASTCGI_OUTPUT || result == FASTCGI_ERRORS);
	if (result == FASTCGI_REFUSED)
		give_up("does not answer in FastCGI: does the conf name the "
		    "right program, or its port?");
	return result != FASTCGI_END;
}

/* Returns false at the end of the answer.  Writes what there is before it
 * waits. */
static bool
recv_answer(struct exchange *x)
{
	char	bytes[READ_SIZE];
	ssize_t	n = recv(CONNECTION_FD, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
		filter_flush();
		return true;
	}
	if (n <= 0)
		give_up("has closed the connection before the end of its "
		    "answer");
	return take_bytes(x, (struct str){ bytes, (size_t)n });
}

static void
exchange_all(struct exchange *x)
{
	struct pollfd	p = { .fd = CONNECTION_FD };
	bool		goes_on = true;

	add_head(x);
	while (goes_on) {
		p.events = fill_records(x) ? POLLIN | POLLOUT : POLLIN;
		if (poll(&p, 1, -1) == -1)
			continue;
		if ((p.revents & POLLOUT) != 0)
			send_records(x);
		goes_on = recv_answer(x);
	}
	check_end(x);
}

/* The limit of a result that is a file; the server judges that of a pipe. */
static int64_t
get_limit(void)
{
	struct rlimit	limit;
	struct stat	st;

	if (fstat(STDOUT_FILENO, &st) == -1 || !S_ISREG(st.st_mode) ||
	    getrlimit(RLIMIT_FSIZE, &limit) == -1 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return -1;
	return (int64_t)limit.rlim_cur;
}

int
application_filter(void)
{
	struct exchange	x = { .answer.id = ID, .length = -1,
			    .limit = get_limit() };
	struct stat	st;

	if (fstat(CONNECTION_FD, &st) == -1 || !S_ISSOCK(st.st_mode)) {
		fputs("fastcgi needs a connection to an application, which the "
		    "server makes\n", stderr);
		return EX_USAGE;
	}
	filter_confine(NULL);
	exchange_all(&x);
	buf_free(&x.input);
	buf_free(&x.records);
	buf_free(&x.head);
	if (x.is_useless)
		return EX_DATAERR;
	if (x.limit != -1 && x.written > x.limit)
		end_too_large();
	return EX_OK;
}
