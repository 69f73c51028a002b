/*
 * relay: the least that an answer by a program of FastCGI can cost a gateway on
 * this machine.
 *
 *	relay port socket connections
 *
 * Keeps so many connections to the program that listens at the socket.  Each
 * request that comes, in one piece, is given to one that is free, as the same
 * ready records; what the program says goes to the client behind a ready head.
 * By epoll, with one recv and one send on each side.  Nothing of the request is
 * parsed but its end.
 */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_FDS = 65536,
	EVENTS = 512,
	ROOM = 65536,
	HEAD = 8,		/* bytes of a record's */
	GONE = -1,
};

enum record {
	BEGIN_REQUEST = 1, END_REQUEST = 3, PARAMS = 4, INPUT = 5, OUTPUT = 6,
};

/* A client, or a connection to the program, by descriptor. */
struct end {
	bool	 is_program;
	int	 other;		/* the program's client, or GONE */
	size_t	 len;		/* bytes of its answer so far */
	char	*answer;
};

/* As spawn.c's. */
static const char head[] = "HTTP/1.1 200 OK\r\nServer: relay\r\n"
    "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: text/plain\r\n"
    "Transfer-Encoding: chunked\r\n\r\n";

static const char *const variables[] = {
	"GATEWAY_INTERFACE", "CGI/1.1", "SERVER_SOFTWARE", "relay",
	"SERVER_PROTOCOL", "HTTP/1.1", "SERVER_NAME", "localhost",
	"SERVER_ADDR", "127.0.0.1", "SERVER_PORT", "80",
	"REMOTE_ADDR", "127.0.0.1", "REMOTE_PORT", "12345",
	"REQUEST_METHOD", "GET", "REQUEST_SCHEME", "http",
	"REQUEST_URI", "/app", "QUERY_STRING", "", "SCRIPT_NAME", "/app",
	"DOCUMENT_ROOT", "/var/www", "SCRIPT_FILENAME", "/var/www/app",
	"HTTP_HOST", "localhost", NULL
};

static struct end	*ends;
static char		 request[4096];
static size_t		 request_len;
static int		 idle[MOST_FDS], nidle;
static int		 waiting[MOST_FDS];	/* clients, a ring */
static unsigned		 first, last;
static int		 highest;		/* of the program's */
static int		 queue;

static void
put_record(enum record type, const char *content, size_t n)
{
	char	*h = request + request_len;
	size_t	 padding = -n % HEAD;

	memcpy(h, (char []){ 1, (char)type, 0, 1, (char)(n >> 8), (char)n,
	    (char)padding, 0 }, HEAD);
	memcpy(h + HEAD, content, n);
	memset(h + HEAD + n, 0, padding);
	request_len += HEAD + n + padding;
}

/* As a gateway has to write them for each request. */
static void
make_request(void)
{
	char	params[2048];
	size_t	n = 0;

	for (const char *const *v = variables; *v != NULL; v += 2) {
		params[n++] = (char)strlen(v[0]);
		params[n++] = (char)strlen(v[1]);
		for (int i = 0; i < 2; i++) {
			memcpy(params + n, v[i], strlen(v[i]));
			n += strlen(v[i]);
		}
	}
	put_record(BEGIN_REQUEST, "\0\1\1\0\0\0\0", 8);	/* keep */
	put_record(PARAMS, params, n);
	put_record(PARAMS, "", 0);
	put_record(INPUT, "", 0);
}

static void
watch(int fd)
{
	struct epoll_event	event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event) == -1)
		err(1, "epoll_ctl");
}

static void
set(int fd, int level, int option)
{
	if (setsockopt(fd, level, option, &(int){ 1 }, sizeof(int)) == -1)
		err(1, "setsockopt");
}

static int
listen_on(int port)
{
	struct sockaddr_in	sin = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int			fd = socket(AF_INET,
				    SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd == -1)
		err(1, "socket");
	set(fd, SOL_SOCKET, SO_REUSEADDR);
	set(fd, IPPROTO_TCP, TCP_NODELAY);
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(fd, 4096) == -1)
		err(1, "port %d", port);
	return fd;
}

/* The program may be about to listen. */
static void
connect_program(const char *path)
{
	struct sockaddr_un	sun = { .sun_family = AF_UNIX };
	int			fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int			patience = 1000;

	if (fd == -1 || strlen(path) >= sizeof(sun.sun_path))
		err(1, "%s", path);
	strcpy(sun.sun_path, path);
	while (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1) {
		if (--patience == 0)
			err(1, "%s", path);
		usleep(5000);
	}
	ends[fd] = (struct end){ .is_program = true, .other = GONE,
	    .answer = malloc(ROOM) };
	if (ends[fd].answer == NULL)
		err(1, "malloc");
	watch(fd);
	idle[nidle++] = highest = fd;
}

/* It is small, so there is room unless the client has gone. */
static void
send_all(int fd, const char *bytes, size_t n)
{
	if (send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n && errno != EPIPE &&
	    errno != ECONNRESET)
		err(1, "send");
}

static void
ask_program(int program, int client)
{
	ends[program].other = client;
	ends[program].len = 0;
	send_all(program, request, request_len);
}

/* Its number may be that of another one soon. */
static void
forget_client(int fd)
{
	for (int i = 0; i <= highest; i++)
		if (ends[i].is_program && ends[i].other == fd)
			ends[i].other = GONE;
	for (unsigned i = first; i != last; i++)
		if (waiting[i % MOST_FDS] == fd)
			waiting[i % MOST_FDS] = GONE;
	close(fd);
}

static void
hear_client(int fd)
{
	static char	buffer[ROOM];
	ssize_t		n = recv(fd, buffer, sizeof(buffer), 0);

	if (n <= 0) {
		forget_client(fd);
		return;
	}
	if (n < 4 || memcmp(buffer + n - 4, "\r\n\r\n", 4) != 0)
		errx(1, "a request in pieces");
	if (nidle > 0)
		ask_program(idle[--nidle], fd);
	else
		waiting[last++ % MOST_FDS] = fd;
}

/* The output of an answer, in one piece; NULL: it has not ended. */
static const char *
find_output(const struct end *program, size_t *len)
{
	const unsigned char	*a = (const unsigned char *)program->answer;
	const char		*output = NULL;

	for (size_t at = 0, n; at + HEAD <= program->len;
	    at += HEAD + n + a[at + 6]) {
		n = (size_t)a[at + 4] << 8 | a[at + 5];
		if (a[at + 1] == OUTPUT) {
			output = program->answer + at + HEAD;
			*len = n;
		} else if (a[at + 1] == END_REQUEST) {
			return at + HEAD + n <= program->len ? output : NULL;
		}
	}
	return NULL;
}

static void
answer_client(int fd, const char *output, size_t len)
{
	static const char	digits[] = "0123456789abcdef";
	static char		response[2 * ROOM];
	const char		*body = memmem(output, len, "\n\n", 2);
	size_t			 n = sizeof(head) - 1, size;

	if (body == NULL)
		errx(1, "no head");
	body += 2;
	size = len - (size_t)(body - output);
	memcpy(response, head, n);
	for (int shift = 12; shift >= 0; shift -= 4)
		if (size >> shift > 0)
			response[n++] = digits[size >> shift & 15];
	memcpy(response + n, "\r\n", 2);
	memcpy(response + n + 2, body, size);
	memcpy(response + n + 2 + size, "\r\n0\r\n\r\n", 7);
	send_all(fd, response, n + size + 9);
}

static void
hear_program(int fd)
{
	struct end	*program = &ends[fd];
	size_t		 len = 0;
	const char	*output;
	ssize_t		 n = recv(fd, program->answer + program->len,
			    ROOM - program->len, 0);

	if (n <= 0)
		errx(1, "the program has ended");
	program->len += (size_t)n;
	output = find_output(program, &len);
	if (output == NULL)
		return;
	if (program->other != GONE)
		answer_client(program->other, output, len);
	program->other = GONE;
	if (first != last)
		ask_program(fd, waiting[first++ % MOST_FDS]);
	else
		idle[nidle++] = fd;
}

static void
accept_one(int listener)
{
	int	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

	if (fd == -1)
		return;
	ends[fd] = (struct end){ .other = GONE };
	watch(fd);
}

int
main(int argc, char *argv[])
{
	struct epoll_event	events[EVENTS];
	int			listener, n, fd;

	if (argc != 4)
		errx(64, "usage: relay port socket connections");
	make_request();
	ends = calloc(MOST_FDS, sizeof(*ends));
	queue = epoll_create1(0);
	if (ends == NULL || queue == -1)
		err(1, "epoll");
	for (int i = atoi(argv[3]); i > 0; i--)
		connect_program(argv[2]);
	listener = listen_on(atoi(argv[1]));
	watch(listener);
	while ((n = epoll_wait(queue, events, EVENTS, -1)) != -1) {
		while (n-- > 0) {
			fd = events[n].data.fd;
			if (fd == listener)
				accept_one(fd);
			else if (ends[fd].is_program)
				hear_program(fd);
			else
				hear_client(fd);
		}
	}
	err(1, "epoll_wait");
}
