/*
 * sending: what each way to send a body costs, by its size.
 *
 *	make contrib/bench/sending
 *	contrib/bench/sending [-c connections] [-r rounds] [-s ms] [-b bytes]
 *	    [-d directory]
 *
 * A server without HTTP, on the first processor, answers each request with a
 * head and the bytes of one file, which is in memory, over so many connections;
 * its client, on the second, reads so many bytes at once.  Printed is the
 * server's CPU time for a response, in us: the median of some rounds of so many
 * ms each, and the lowest.  The ways:
 *
 *	two	head and body in memory of ours, sendmsg(2) with two entries
 *	join	the same, copied together first, send(2)
 *	one	head and body in one buffer from the start
 *	map	the body from a mapping of the file
 *	proof	the same, after reading it with preadv2(RWF_NOWAIT)
 *	look	the same, after a look into /proc/self/pagemap
 *	file	sendfile(2)
 *
 * Behind a way stands how much is given to the system at once, and in one turn,
 * before other connections are served; all others are given everything.  What
 * amped does by size (COPIED in src/http/body.c) follows from this; of a turn
 * (CONN_SEND_QUOTA in src/http/conn.h) run says more.  Compare within one run.
 */
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/pagemap.h"

#define REQUEST		64		/* bytes */
#define HEAD		256
#define CHUNK		(64 * 1024)	/* of a proof */
#define EVENTS		64
#define CONNECTIONS	1024		/* at most */
#define ROUNDS		99

#define KIB		1024u
#define MIB		(1024 * KIB)

enum kind { TWO, JOIN, ONE, MAP, PROOF, LOOK, FILES };

static const struct way {
	const char	*name;
	enum kind	 kind;
	size_t		 turn;			/* bytes; 0: all */
	size_t		 least, most;		/* sizes that it is for */
} ways[] = {
	{ "two", TWO, 0, 0, 20000 },
	{ "join", JOIN, 0, 0, 20000 },
	{ "one", ONE, 0, 0, 20000 },
	{ "map", MAP, 0, 0, 200000 },
	{ "proof", PROOF, 0, 20000, 200000 },
	{ "look", LOOK, 0, 20000, 200000 },
	{ "file", FILES, 0, 0, 200000 },
	{ "map 256K", MAP, 256 * KIB, 200001, SIZE_MAX },
	{ "map 1M", MAP, MIB, 200001, SIZE_MAX },
	{ "map 4M", MAP, 4 * MIB, 200001, SIZE_MAX },
	{ "proof 1M", PROOF, MIB, 200001, SIZE_MAX },
	{ "look 1M", LOOK, MIB, 200001, SIZE_MAX },
	{ "file 256K", FILES, 256 * KIB, 200001, SIZE_MAX },
	{ "file 1M", FILES, MIB, 200001, SIZE_MAX },
	{ "file 4M", FILES, 4 * MIB, 200001, SIZE_MAX },
};

#define WAYS	(sizeof(ways) / sizeof(ways[0]))

static const size_t	sizes[] = { 500, 5000, 16000, 24000, 50000, 100000,
			    200000, 500000, 1000000, 5000000 };

struct connection {
	int	fd;
	size_t	sent;			/* of the response under way */
	bool	turn;			/* has more to send, and room */
};

static int	connections = 64, rounds = 5, period = 300;
static size_t	at_once = 64 * KIB;
static char	head[HEAD];

/* The file, and how it can be had. */
static int	file, pagemap;
static size_t	size;
static char	*bytes, *map;		/* bytes: with a head in front */

static double
seconds(clockid_t clock)
{
	struct timespec	t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
run_on(int processor)
{
	cpu_set_t	set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	/* With one processor the figures are still figures. */
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static void
no_delay(int fd)
{
	static const int	on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* The client: reads whole responses and asks again. */

static void
ask(int fd)
{
	static const char	request[REQUEST];

	if (write(fd, request, REQUEST) != REQUEST)
		err(1, "write");
}

static void
be_client(const struct sockaddr_in *server)
{
	struct epoll_event	 e, events[EVENTS];
	size_t			*left = calloc(CONNECTIONS * 2, sizeof(*left));
	char			*to = malloc(at_once);
	int			 fd, n, epoll = epoll_create1(0);
	ssize_t			 got;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(1);
	for (int i = 0; i < connections; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd == -1 || connect(fd, (const struct sockaddr *)server,
		    sizeof(*server)) == -1)
			err(1, "connect");
		no_delay(fd);
		e = (struct epoll_event){ EPOLLIN, { .fd = fd } };
		epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
		left[fd] = HEAD + size;
		ask(fd);
	}
	for (;;) {
		n = epoll_wait(epoll, events, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			fd = events[i].data.fd;
			got = recv(fd, to, at_once, MSG_DONTWAIT);
			if (got == 0)
				exit(0);
			if (got == -1)
				continue;
			left[fd] -= (size_t)got;
			if (left[fd] == 0) {
				left[fd] = HEAD + size;
				ask(fd);
			}
		}
	}
}

/* The server. */

static void
prove(size_t offset, size_t len)
{
	static char	scratch[CHUNK];
	struct iovec	iov = { scratch, 0 };

	for (; len > 0; offset += iov.iov_len, len -= iov.iov_len) {
		iov.iov_len = len < CHUNK ? len : CHUNK;
		if (preadv2(file, &iov, 1, (off_t)offset, RWF_NOWAIT) !=
		    (ssize_t)iov.iov_len)
			errx(1, "the file is not in memory, or its file "
			    "system does not know RWF_NOWAIT: try -d");
	}
}

/* As amped does for what is sent from a mapping, by chunks. */
static void
look(size_t offset, size_t len)
{
	size_t	end = offset + len, n;

	for (offset -= offset % CHUNK; offset < end; offset += CHUNK) {
		n = end - offset < CHUNK ? end - offset : CHUNK;
		if (pagemap_present(pagemap, (char *)map + offset, n) != n)
			errx(1, "the mapping has no pages");
	}
}

static ssize_t
send_pieces(int fd, const char *body, size_t offset, size_t len, size_t sent)
{
	struct iovec	iov[2];
	struct msghdr	msg = { .msg_iov = iov };

	if (sent < HEAD)
		iov[msg.msg_iovlen++] = (struct iovec){ head + sent,
		    HEAD - sent };
	iov[msg.msg_iovlen++] = (struct iovec){
	    (char *)(uintptr_t)body + offset, len };
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t
send_joined(int fd, size_t len)
{
	static char	joined[HEAD + CHUNK];

	memcpy(joined, head, HEAD);
	memcpy(joined + HEAD, bytes + HEAD, len);
	return send(fd, joined, HEAD + len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t
send_of_file(int fd, size_t offset, size_t len, size_t sent)
{
	off_t	from = (off_t)offset;
	ssize_t	n;

	if (sent < HEAD && (n = send(fd, head + sent, HEAD - sent, MSG_DONTWAIT
	    | MSG_NOSIGNAL | MSG_MORE)) != (ssize_t)(HEAD - sent))
		return n;
	n = sendfile(fd, file, &from, len);
	if (sent < HEAD)
		return (ssize_t)(HEAD - sent) + (n > 0 ? n : 0);
	return n;
}

/* At most so many bytes of the body; what came of it. */
static ssize_t
give(const struct way *way, const struct connection *c, size_t most)
{
	size_t	offset = c->sent < HEAD ? 0 : c->sent - HEAD;
	size_t	len = size - offset < most ? size - offset : most;

	if (way->kind == PROOF)
		prove(offset, len);
	if (way->kind == LOOK)
		look(offset, len);
	switch (way->kind) {
	case TWO:
		return send_pieces(c->fd, bytes + HEAD, offset, len, c->sent);
	case JOIN:
		if (c->sent == 0)
			return send_joined(c->fd, len);
		/* FALLTHROUGH */
	case ONE:
		return send(c->fd, bytes + c->sent, HEAD + size - c->sent,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	case FILES:
		return send_of_file(c->fd, offset, len, c->sent);
	default:
		return send_pieces(c->fd, map, offset, len, c->sent);
	}
}

/* One turn of a connection; whether a response has been sent. */
static bool
serve(const struct way *way, struct connection *c)
{
	static char	request[REQUEST];
	ssize_t		n;

	c->turn = false;
	if (c->sent == HEAD + size) {
		if (recv(c->fd, request, REQUEST, MSG_DONTWAIT) != REQUEST)
			return false;
		c->sent = 0;
	}
	n = give(way, c, way->turn != 0 ? way->turn : size);
	if (n == -1 && errno != EAGAIN)
		err(1, "send");
	if (n > 0)
		c->sent += (size_t)n;
	c->turn = n > 0 && way->turn != 0 && (size_t)n >= way->turn;
	return c->sent == HEAD + size;
}

static int
turn(const struct way *way, struct connection *c, int epoll)
{
	struct epoll_event	events[EVENTS];
	int			n, done = 0;
	bool			waits = true;

	for (int i = 0; i < connections; i++)
		if (c[i].turn) {
			done += serve(way, &c[i]);
			waits = waits && !c[i].turn;
		}
	n = epoll_wait(epoll, events, EVENTS, waits ? 100 : 0);
	for (int i = 0; i < n; i++)
		done += serve(way, events[i].data.ptr);
	return done;
}

/* us of CPU time a response. */
static double
measure(const struct way *way)
{
	static struct connection	 c[CONNECTIONS];
	struct sockaddr_in		 a = { .sin_family = AF_INET,
					    .sin_addr.s_addr =
					    htonl(INADDR_LOOPBACK) };
	socklen_t			 len = sizeof(a);
	struct epoll_event		 e;
	int				 done = 0, epoll = epoll_create1(0);
	int				 l = socket(AF_INET, SOCK_STREAM, 0);
	double				 until, cpu;
	pid_t				 client;

	if (bind(l, (struct sockaddr *)&a, len) == -1 ||
	    listen(l, CONNECTIONS) == -1 ||
	    getsockname(l, (struct sockaddr *)&a, &len) == -1)
		err(1, "listen");
	if ((client = fork()) == 0)
		be_client(&a);
	for (int i = 0; i < connections; i++) {
		c[i] = (struct connection){ accept4(l, NULL, NULL,
		    SOCK_NONBLOCK), HEAD + size, false };
		no_delay(c[i].fd);
		e = (struct epoll_event){ EPOLLIN | EPOLLOUT | EPOLLET,
		    { .ptr = &c[i] } };
		epoll_ctl(epoll, EPOLL_CTL_ADD, c[i].fd, &e);
	}
	until = seconds(CLOCK_MONOTONIC) + period / 4e3;
	while (seconds(CLOCK_MONOTONIC) < until)	/* warms up */
		turn(way, c, epoll);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	until = seconds(CLOCK_MONOTONIC) + period / 1e3;
	while (seconds(CLOCK_MONOTONIC) < until || done == 0)
		done += turn(way, c, epoll);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	kill(client, SIGKILL);
	waitpid(client, NULL, 0);
	for (int i = 0; i < connections; i++)
		close(c[i].fd);
	close(epoll);
	close(l);
	return cpu / done * 1e6;
}

static int
compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	    (*(const double *)a < *(const double *)b);
}

static void
make_file(size_t n)
{
	char	name[] = "sending-XXXXXX";

	size = n;
	file = mkstemp(name);
	if (file == -1 || unlink(name) == -1)
		err(1, "%s", name);
	bytes = malloc(HEAD + size);
	if (bytes == NULL)
		err(1, NULL);
	memset(bytes, 'x', HEAD + size);
	if (write(file, bytes + HEAD, size) != (ssize_t)size ||
	    fsync(file) == -1)
		err(1, "write");
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
}

static void
one_size(size_t n)
{
	static double	took[WAYS][ROUNDS];

	make_file(n);
	/* Each way in each round, so that all have the same neighbours. */
	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < WAYS; i++)
			if (n >= ways[i].least && n <= ways[i].most)
				took[i][round] = measure(&ways[i]);
	for (size_t i = 0; i < WAYS; i++)
		if (n >= ways[i].least && n <= ways[i].most) {
			qsort(took[i], (size_t)rounds, sizeof(took[i][0]),
			    compare);
			printf("%8zu  %-10s %9.2f %9.2f\n", n, ways[i].name,
			    took[i][rounds / 2], took[i][0]);
		}
	fflush(stdout);
	munmap(map, size);
	free(bytes);
	close(file);
}

static void
usage(void)
{
	fprintf(stderr, "usage: sending [-c connections] [-r rounds] [-s ms] "
	    "[-b bytes] [-d directory]\n");
	exit(64);
}

static long
number(const char *text, long most)
{
	char	*end;
	long	 n = strtol(text, &end, 10);

	if (*text == '\0' || *end != '\0' || n < 1 || n > most)
		usage();
	return n;
}

int
main(int argc, char **argv)
{
	int	option;

	while ((option = getopt(argc, argv, "b:c:d:r:s:")) != -1)
		switch (option) {
		case 'b':
			at_once = (size_t)number(optarg, 1 << 24);
			break;
		case 'c':
			connections = (int)number(optarg, CONNECTIONS);
			break;
		case 'd':
			if (chdir(optarg) == -1)
				err(1, "%s", optarg);
			break;
		case 'r':
			rounds = (int)number(optarg, ROUNDS);
			break;
		case 's':
			period = (int)number(optarg, 60000);
			break;
		default:
			usage();
		}
	if (argc != optind)
		usage();
	run_on(0);
	signal(SIGPIPE, SIG_IGN);
	pagemap = pagemap_open();
	printf("    size  way           median    lowest  us a response\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		one_size(sizes[i]);
	return 0;
}
