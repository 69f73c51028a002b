/*
 * app: a program of FastCGI; of CGI/1.1, if its standard input is no socket
 * that listens.
 *
 *	app [socket processes]
 *
 * Says hello; where there is a query, it says the query, in a line, and what
 * the body of the request says.  So an answer tells whose it is.  With
 * arguments it listens there by itself, with so many processes.  A process that
 * is asked for nothing ends after LIFE.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LIFE = 120,		/* s */
	ROOM = 1 << 20,		/* bytes of parameters, or of a body */
	IN_RECORD = 65528,	/* bytes of content, at most */
	HEAD = 8,		/* bytes of a record's */
};

enum record {
	BEGIN_REQUEST = 1, END_REQUEST = 3, PARAMS = 4, INPUT = 5, OUTPUT = 6,
};

static const char head[] = "Content-Type: text/plain\n\n";

/* What has been read of the connection and is not used yet. */
static unsigned char	in[65536];
static size_t		in_at, in_len;

/* The request. */
static unsigned char	params[ROOM], body[ROOM];
static size_t		nparams, nbody;
static uint16_t		id;
static bool		keep;

/* The answer. */
static unsigned char	out[2 * ROOM];
static size_t		nout;

static bool
write_all(int fd, const void *bytes, size_t n)
{
	const char	*at = bytes;
	ssize_t		 done;

	for (; n > 0; at += done, n -= (size_t)done) {
		done = write(fd, at, n);
		if (done <= 0)
			return false;
	}
	return true;
}

/* The next bytes of the connection, or drops them. */
static bool
take(int fd, void *to, size_t n)
{
	unsigned char	*at = to;

	while (n > 0) {
		size_t	some = in_len - in_at < n ? in_len - in_at : n;
		ssize_t	got;

		if (some == 0) {
			got = read(fd, in, sizeof(in));
			if (got <= 0)
				return false;
			in_at = 0;
			in_len = (size_t)got;
			continue;
		}
		if (at != NULL) {
			memcpy(at, in + in_at, some);
			at += some;
		}
		in_at += some;
		n -= some;
	}
	return true;
}

static bool
take_content(int fd, unsigned char *to, size_t *len, size_t n)
{
	if (n > ROOM - *len)
		return false;
	*len += n;
	return take(fd, to + *len - n, n);
}

/* A record; *more: whether the request has not ended with it. */
static bool
take_record(int fd, bool *more)
{
	unsigned char	h[HEAD], begin[8];
	size_t		n;
	bool		good;

	if (!take(fd, h, sizeof(h)) || h[0] != 1)
		return false;
	n = (size_t)h[4] << 8 | h[5];
	*more = h[1] != INPUT || n > 0;
	switch (h[1]) {
	case BEGIN_REQUEST:
		good = n == sizeof(begin) && take(fd, begin, n);
		id = (uint16_t)(h[2] << 8 | h[3]);
		keep = good && begin[2] & 1;
		nparams = nbody = 0;
		break;
	case PARAMS:
		good = take_content(fd, params, &nparams, n);
		break;
	case INPUT:
		good = take_content(fd, body, &nbody, n);
		break;
	default:
		good = false;
	}
	return good && take(fd, NULL, h[6]);
}

/* Of a name or a value, at that place, which is moved. */
static size_t
take_length(size_t *at)
{
	const unsigned char	*p = params + *at;

	if (p[0] < 128) {
		*at += 1;
		return p[0];
	}
	*at += 4;
	return (size_t)(p[0] & 127) << 24 | (size_t)p[1] << 16 |
	    (size_t)p[2] << 8 | p[3];
}

/* The query; its length, which is 0 without one. */
static size_t
find_query(const unsigned char **query)
{
	static const char	name[] = "QUERY_STRING";
	size_t			at = 0, n, value;

	while (at + 8 < nparams) {
		n = take_length(&at);
		value = take_length(&at);
		if (n > nparams - at || value > nparams - at - n)
			break;
		*query = params + at + n;
		if (n == sizeof(name) - 1 && memcmp(params + at, name, n) == 0)
			return value;
		at += n + value;
	}
	return 0;
}

static void
put_record(enum record type, const void *content, size_t n)
{
	unsigned char	*h = out + nout;
	size_t		 padding = -n % 8;

	memcpy(h, (unsigned char []){ 1, (unsigned char)type,
	    (unsigned char)(id >> 8), id & 255, (unsigned char)(n >> 8),
	    n & 255, (unsigned char)padding, 0 }, HEAD);
	memcpy(h + HEAD, content, n);
	memset(h + HEAD + n, 0, padding);
	nout += HEAD + n + padding;
}

static bool
answer(int fd)
{
	static unsigned char	 text[ROOM + 65536];
	const unsigned char	*query = NULL;
	size_t			 n = sizeof(head) - 1, length;

	length = find_query(&query);
	if (length > 65536 - sizeof(head))
		return false;
	memcpy(text, head, n);
	if (length == 0) {
		memcpy(text + n, "hello", 5);
		n += 5;
	} else {
		memcpy(text + n, query, length);
		n += length;
	}
	text[n++] = '\n';
	if (length > 0) {
		memcpy(text + n, body, nbody);
		n += nbody;
	}
	nout = 0;
	for (size_t at = 0; at < n; at += IN_RECORD)
		put_record(OUTPUT, text + at,
		    n - at < IN_RECORD ? n - at : IN_RECORD);
	put_record(END_REQUEST, "\0\0\0\0\0\0\0", 8);
	return write_all(fd, out, nout);
}

static void
serve(int fd)
{
	bool	more = true;

	in_at = in_len = 0;
	do {
		while (more && take_record(fd, &more))
			continue;
		if (more || !answer(fd))
			break;
		more = true;
	} while (keep);
	close(fd);
}

static void
limit_silence(int fd)
{
	const struct timeval	life = { .tv_sec = LIFE };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &life, sizeof(life));
}

static void
serve_all(void)
{
	int	fd;

	signal(SIGPIPE, SIG_IGN);
	limit_silence(0);
	while ((fd = accept(0, NULL, NULL)) != -1) {
		limit_silence(fd);
		serve(fd);
	}
}

/* Becomes so many processes, which end with the first. */
static void
listen_at(const char *path, int processes)
{
	struct sockaddr_un	sun = { .sun_family = AF_UNIX };
	int			fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (strlen(path) >= sizeof(sun.sun_path))
		errx(1, "%s is too long", path);
	strcpy(sun.sun_path, path);
	unlink(path);
	if (fd == -1 || bind(fd, (struct sockaddr *)&sun, sizeof(sun)) ||
	    chmod(path, 0666) || listen(fd, 1024) || dup2(fd, 0) == -1)
		err(1, "%s", path);
	close(fd);
	while (--processes > 0) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	}
}

/* The query and the body, by CGI/1.1. */
static int
answer_once(void)
{
	const char	*query = getenv("QUERY_STRING");
	const char	*length = getenv("CONTENT_LENGTH");
	long		 left = length != NULL ? atol(length) : 0;
	ssize_t		 n;

	alarm(LIFE);
	if (query == NULL || *query == '\0')
		query = "hello";
	if (!write_all(1, head, sizeof(head) - 1) ||
	    !write_all(1, query, strlen(query)) || !write_all(1, "\n", 1))
		return 1;
	for (; left > 0; left -= n) {
		n = read(0, in, sizeof(in));
		if (n <= 0 || !write_all(1, in, (size_t)n))
			return 1;
	}
	return 0;
}

int
main(int argc, char *argv[])
{
	int		listens = 0;
	socklen_t	size = sizeof(listens);

	if (argc == 3)
		listen_at(argv[1], atoi(argv[2]));
	else if (argc != 1)
		errx(64, "usage: app [socket processes]");
	if (getsockopt(0, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == -1 ||
	    !listens)
		return answer_once();
	serve_all();
	return 0;
}
