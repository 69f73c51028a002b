/*
 * ceiling: the least that an answer can cost on this machine.
 *
 *	ceiling [-1] port response length
 *
 * Sends the bytes of the file response for each length bytes that come in,
 * by epoll, one recv and one send.  Nothing is read of them: no server that
 * looks at its requests can do less.  What has come at once (a pipeline) is
 * answered at once.  -1: each connection ends with its answer, and comes with
 * its request.
 */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_FDS = 1 << 20,
	EVENTS = 512,
	PIPELINE = 64,		/* answers at once */
	ROOM = 65536,
};

struct client {
	size_t	in;		/* bytes that are no whole request yet */
	size_t	owed;		/* bytes that it has still to get */
	bool	watched, waits;	/* ... for room to send */
};

static struct client	*clients;
static char		*answers;
static size_t		 answer, all, length;	/* of one, of answers */
static bool		 one_each;
static int		 queue;

/* The response, as often as a pipeline may want it. */
static void
read_response(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1 || fstat(fd, &st) == -1 || st.st_size <= 0)
		err(1, "%s", path);
	answer = all = (size_t)st.st_size;
	if (answer < ROOM)
		all *= PIPELINE;
	answers = malloc(all);
	if (answers == NULL || read(fd, answers, answer) != (ssize_t)answer)
		err(1, "%s", path);
	for (size_t at = answer; at < all; at += answer)
		memcpy(answers + at, answers, answer);
	close(fd);
}

static void
set(int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)) == -1)
		err(1, "setsockopt");
}

static int
listen_on(int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd == -1)
		err(1, "socket");
	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, one_each);
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(fd, 4096) == -1)
		err(1, "port %d", port);
	return fd;
}

static void
watch(int op, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(queue, op, fd, &event) == -1)
		err(1, "epoll_ctl");
}

static void
watch_client(int fd, struct client *c)
{
	bool waits = c->owed > 0;

	if (c->watched && waits == c->waits)
		return;
	watch(c->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, waits ?
	    EPOLLOUT : EPOLLIN);
	c->watched = true;
	c->waits = waits;
}

/* The end of what is owed is the end of an answer, wherever we are in it.
 * False: the connection has ended. */
static bool
answer_client(int fd, struct client *c)
{
	size_t at = (answer - c->owed % answer) % answer;
	size_t most = c->owed < all - at ? c->owed : all - at;
	/* What is closed at once goes with its end, in one packet. */
	ssize_t n = send(fd, answers + at, most,
	    MSG_NOSIGNAL | (one_each ? MSG_MORE : 0));

	if (n == -1 && errno != EAGAIN)
		return false;
	c->owed -= n > 0 ? (size_t)n : 0;
	return c->owed > 0 || !one_each;
}

static bool
hear_client(int fd, struct client *c)
{
	static char buffer[ROOM];
	ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

	if (n == 0 || (n == -1 && errno != EAGAIN))
		return false;
	c->in += n > 0 ? (size_t)n : 0;
	c->owed = c->in / length * answer;
	c->in %= length;
	return true;
}

static void
serve(int fd)
{
	struct client *c = &clients[fd];

	if ((c->owed > 0 || hear_client(fd, c)) &&
	    (c->owed == 0 || answer_client(fd, c)))
		watch_client(fd, c);
	else
		close(fd);
}

static void
accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

	if (fd == -1)
		return;
	clients[fd] = (struct client){ 0 };
	if (one_each)			/* it has come with its request */
		serve(fd);
	else
		watch_client(fd, &clients[fd]);
}

int
main(int argc, char *argv[])
{
	struct epoll_event events[EVENTS];
	int listener, n;

	one_each = argc == 5 && strcmp(argv[1], "-1") == 0;
	argv += one_each;
	if (argc - one_each != 4 || atol(argv[3]) < 1)
		errx(64, "usage: ceiling [-1] port response length");
	length = (size_t)atol(argv[3]);
	read_response(argv[2]);
	clients = calloc(MOST_FDS, sizeof(*clients));
	queue = epoll_create1(0);
	if (clients == NULL || queue == -1)
		err(1, "epoll");
	listener = listen_on(atoi(argv[1]));
	watch(EPOLL_CTL_ADD, listener, EPOLLIN);
	while ((n = epoll_wait(queue, events, EVENTS, -1)) != -1)
		while (n-- > 0)
			if (events[n].data.fd == listener)
				accept_one(listener);
			else
				serve(events[n].data.fd);
	err(1, "epoll_wait");
}
