/*
 * arrivals: asks a server at given times, whether or not it has answered what
 * was asked before, as people do (an open system).
 *
 *	arrivals [-s seconds] address port
 *
 * Reads lines from its standard input: microseconds from the start, in
 * ascending order; a target.  At each time it opens a connection and asks for
 * the target.  For each answer it prints a line: the target, the bytes of its
 * body, the microseconds from its time until its end.  It ends after the last
 * answer, or so many seconds (60) behind the last time.
 *
 * One thread, one epoll.  Exit 1 if an answer was not 200, or was not whole.
 */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	EVENTS = 256,
	HEAD = 2048,		/* bytes of an answer's head */
	ROOM = 256 * 1024,
};

struct request {
	uint64_t	 due;		/* us from the start */
	char		*target;
	size_t		 size;		/* of the body; known from the head */
	size_t		 got;
	size_t		 in_head;
	int		 fd;
	bool		 asked;		/* of a connection: sent */
	char		 head[HEAD];
};

static struct request	**requests;
static size_t		 requests_n, open_n, failed_n;
static struct sockaddr_in server;
static int		 queue;
static uint64_t		 started_at;

static uint64_t
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void
read_requests(void)
{
	char *line = NULL, *target;
	size_t size = 0, room = 0;
	struct request *r;

	while (getline(&line, &size, stdin) != -1) {
		line[strcspn(line, "\n")] = '\0';
		if ((r = calloc(1, sizeof(*r))) == NULL)
			err(1, "calloc");
		r->due = strtoull(line, &target, 10);
		if (*target != ' ' || (r->target = strdup(target + 1)) == NULL)
			errx(1, "not a request: %s", line);
		if (requests_n == room) {
			room = room * 2 + 1024;
			requests = reallocarray(requests, room,
			    sizeof(*requests));
			if (requests == NULL)
				err(1, "reallocarray");
		}
		requests[requests_n++] = r;
	}
	free(line);
}

static void
open_request(struct request *r)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT,
	    .data.ptr = r };
	int on = 1;

	r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->fd == -1)
		err(1, "socket");
	setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(r->fd, (struct sockaddr *)&server, sizeof(server)) == -1 &&
	    errno != EINPROGRESS)
		err(1, "connect");
	if (epoll_ctl(queue, EPOLL_CTL_ADD, r->fd, &event) == -1)
		err(1, "epoll_ctl");
	open_n++;
}

static void
close_request(struct request *r, const char *why)
{
	close(r->fd);
	r->fd = -1;
	open_n--;
	if (why == NULL) {
		printf("%s %zu %ju\n", r->target, r->got,
		    (uintmax_t)(now_us() - started_at - r->due));
		return;
	}
	if (failed_n++ == 0)
		warnx("%s: %s", r->target, why);
}

static void
send_request(struct request *r)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = r };
	char bytes[HEAD];
	int n = snprintf(bytes, sizeof(bytes), "GET %s HTTP/1.1\r\n"
	    "Host: localhost\r\nConnection: close\r\n\r\n", r->target);

	if (send(r->fd, bytes, (size_t)n, MSG_NOSIGNAL) != n) {
		close_request(r, "cannot ask");
		return;
	}
	r->asked = true;
	if (epoll_ctl(queue, EPOLL_CTL_MOD, r->fd, &event) == -1)
		err(1, "epoll_ctl");
}

/* Reads a part of the head; what follows is of the body. */
static void
read_head(struct request *r)
{
	ssize_t n = recv(r->fd, r->head + r->in_head, HEAD - 1 - r->in_head, 0);
	const char *end, *length;

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			close_request(r, "no answer");
		return;
	}
	r->in_head += (size_t)n;
	r->head[r->in_head] = '\0';
	if ((end = strstr(r->head, "\r\n\r\n")) == NULL)
		return;
	length = strcasestr(r->head, "\r\ncontent-length:");
	if (strncmp(r->head, "HTTP/1.1 200 ", 13) != 0 || length == NULL) {
		close_request(r, "not 200");
		return;
	}
	r->size = strtoull(length + 17, NULL, 10);
	r->got = (size_t)(r->head + r->in_head - (end + 4));
}

/* A body is thrown away where it is (tcp(7)). */
static void
read_body(struct request *r)
{
	ssize_t n = recv(r->fd, NULL, ROOM, MSG_TRUNC);

	if (n > 0)
		r->got += (size_t)n;
	else if (n == 0 || errno != EAGAIN)
		close_request(r, "not whole");
}

static void
handle_event(struct request *r, uint32_t events)
{
	if (!r->asked && (events & EPOLLOUT) != 0)
		send_request(r);
	else if (r->size == 0)
		read_head(r);
	else
		read_body(r);
	if (r->fd != -1 && r->size > 0 && r->got >= r->size)
		close_request(r, NULL);
}

/* ms until the next request is due, or events may be late. */
static int
until_next(size_t next)
{
	uint64_t now = now_us() - started_at;

	if (next == requests_n)
		return 100;
	return requests[next]->due <= now ? 0 :
	    (int)((requests[next]->due - now) / 1000);
}

static void
run_requests(uint64_t patience)
{
	struct epoll_event events[EVENTS];
	uint64_t end = requests[requests_n - 1]->due + patience;
	size_t next = 0;
	int n;

	started_at = now_us();
	while (next < requests_n || open_n > 0) {
		while (next < requests_n &&
		    requests[next]->due <= now_us() - started_at)
			open_request(requests[next++]);
		n = epoll_wait(queue, events, EVENTS, until_next(next));
		if (n == -1 && errno != EINTR)
			err(1, "epoll_wait");
		for (int i = 0; i < n; i++)
			handle_event(events[i].data.ptr, events[i].events);
		if (now_us() - started_at > end) {
			warnx("%zu answers did not come", open_n);
			failed_n += open_n;
			return;
		}
	}
}

int
main(int argc, char *argv[])
{
	struct rlimit limit;
	uint64_t seconds = 60;
	int o;

	while ((o = getopt(argc, argv, "s:")) != -1)
		if (o == 's')
			seconds = strtoull(optarg, NULL, 10);
		else
			exit(64);
	server.sin_family = AF_INET;
	if (argc - optind != 2 ||
	    inet_pton(AF_INET, argv[optind], &server.sin_addr) != 1)
		errx(64, "usage: arrivals [-s seconds] address port");
	server.sin_port = htons((uint16_t)atoi(argv[optind + 1]));
	read_requests();
	if (requests_n == 0)
		errx(1, "no requests");
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if ((queue = epoll_create1(EPOLL_CLOEXEC)) == -1)
		err(1, "epoll_create1");
	run_requests(seconds * 1000000);
	return failed_n > 0;
}
