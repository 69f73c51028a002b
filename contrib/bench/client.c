/*
 * client: asks a server, counts the answers, and says how long they took.
 *
 *	client [-1lnR] [-a active] [-c connections] [-d seconds] [-f file]
 *	    [-p depth] [-t turns] [-w requests] port [target]
 *
 * Opens the connections, asks on each of them once and, with -w, so often
 * altogether, and says "ready".  With a line from its standard input it asks
 * for so many seconds, waits for the last answers, prints one line of JSON, and
 * ends when its standard input does; without a line it ends at once.  So what a
 * server uses while "ready" is what idle connections cost, and what it uses
 * from then until the JSON is for what is counted: not the end of connections.
 *
 *	-1	HTTP/1.0, a connection for each request; the server closes
 *	-R	targets at random, not in order, but for those of -w
 *	-a	so many connections have requests under way; the others idle
 *	-f	targets from a file, one a line; what follows a tab is a field
 *	-l	only prints the length of the first request
 *	-n	opens connections only when it is to go, in its time; for servers
 *		that cannot keep as many
 *	-p	so many requests at once, and no more until all are answered
 *	-t	a connection is the next one's turn after so many answers
 *
 * One thread, one epoll.  Every answer must be 200 or 304 and have a length.
 * A connection that the server closes after its answers is opened again.
 */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
	DEEPEST = 64,		/* pipeline */
	EVENTS = 512,
	HEAD = 4096,		/* bytes of an answer's head */
	PATIENCE = 20,		/* seconds without an answer */
	ROOM = 256 * 1024,
	/* Histogram: steps of 1/32, from 1 us to more than a day. */
	SUB = 32,
	SLOTS = 40 * SUB,
};

struct conn {
	int		 fd;
	unsigned	 pending;	/* answers to come */
	unsigned	 turns;
	size_t		 body;		/* bytes of this answer to come */
	size_t		 in;		/* bytes of an incomplete head */
	bool		 busy, closing, connecting, fresh, in_body;
	uint64_t	 started_at;
	char		*head;
};

struct request {
	const char	*bytes;
	size_t		 length;
};

static struct {
	bool		 one_each, at_random, late, show_length;
	unsigned	 active, connections, depth, turns;
	unsigned long	 warm;
	double		 seconds;
	const char	*file;
	int		 port;
} opt = { .active = 0, .connections = 64, .depth = 1, .seconds = 1 };

static struct {
	uint64_t	 requests, bytes, errors, reopened, slowest;
	uint64_t	 slots[SLOTS];
} sum;

static struct conn	*conns;
static unsigned		*idle, idle_first, idle_n;
static struct request	*requests;
static size_t		 requests_n, next_request;
static unsigned		 under_way;
static bool		 stopping, warming;
static uint64_t		 asked, most_asked = UINT64_MAX;
static int		 queue;

static uint64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void *
allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p == NULL)
		err(1, "calloc");
	return p;
}

/*
 * Times
 */

static unsigned
slot(uint64_t us)
{
	unsigned power = 0;

	while (us >= 2 * SUB) {
		us >>= 1;
		power++;
	}
	return power * SUB + (unsigned)us;
}

static void
took(uint64_t ns)
{
	unsigned i = slot(ns / 1000);

	sum.slots[i < SLOTS ? i : SLOTS - 1]++;
	if (ns > sum.slowest)
		sum.slowest = ns;
}

/* us of a percentile: the middle of its slot. */
static double
percentile(double percent)
{
	double until = (double)sum.requests * percent / 100, seen = 0;
	unsigned i, power;

	for (i = 0; i < SLOTS - 1; i++)
		if ((seen += (double)sum.slots[i]) >= until)
			break;
	power = i < 2 * SUB ? 0 : i / SUB - 1;
	return ((double)(i - power * SUB) + 0.5) * (double)(1UL << power);
}

/*
 * Requests
 */

static void
make_request(struct request *request, const char *target, const char *field)
{
	char *bytes;
	int n;

	n = asprintf(&bytes, "GET %s HTTP/1.%d\r\nHost: localhost\r\n%s%s\r\n",
	    target, !opt.one_each, field, *field == '\0' ? "" : "\r\n");
	if (n == -1)
		err(1, "asprintf");
	*request = (struct request){ bytes, (size_t)n };
}

static void
read_targets(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *field;
	size_t size = 0, room = 0;

	if (file == NULL)
		err(1, "%s", path);
	while (getline(&line, &size, file) != -1) {
		line[strcspn(line, "\n")] = '\0';
		if ((field = strchr(line, '\t')) != NULL)
			*field++ = '\0';
		if (requests_n == room) {
			room = room * 2 + 1024;
			requests = reallocarray(requests, room,
			    sizeof(*requests));
			if (requests == NULL)
				err(1, "reallocarray");
		}
		make_request(&requests[requests_n++], line,
		    field != NULL ? field : "");
	}
	if (requests_n == 0)
		errx(1, "%s has no targets", path);
	free(line);
	fclose(file);
}

static const struct request *
choose(void)
{
	static uint64_t state = 88172645463325252;

	if (!opt.at_random || warming) {
		if (next_request == requests_n)
			next_request = 0;
		return &requests[next_request++];
	}
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return &requests[state % requests_n];
}

/*
 * Connections
 */

/*
 * The server's kernel answers at once, unless it has queued as many as it
 * will: then nobody else waits for that.
 */
static void
open_conn(struct conn *c)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)opt.port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd == -1)
		err(1, "socket");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->connecting = connect(c->fd, (struct sockaddr *)&sin,
	    sizeof(sin)) == -1;
	if (c->connecting) {
		if (errno != EINPROGRESS)
			err(1, "connect");
		event.events |= EPOLLOUT;
	}
	if (epoll_ctl(queue, EPOLL_CTL_ADD, c->fd, &event) == -1)
		err(1, "epoll_ctl");
	c->pending = 0;
	c->in = c->body = 0;
	c->in_body = c->closing = false;
	c->fresh = true;
}

static void
reopen(struct conn *c)
{
	close(c->fd);
	open_conn(c);
}

/* Requests are small, and nothing else is on its way: they fit. */
static void
send_batch(struct conn *c)
{
	static char batch[ROOM];
	const struct request *request = choose();
	const char *bytes = request->bytes;
	size_t length = request->length;

	if (opt.depth > 1) {
		memcpy(batch, bytes, length);
		bytes = batch;
	}
	for (unsigned i = 1; i < opt.depth; i++) {
		request = choose();
		if (length + request->length > sizeof(batch))
			errx(1, "the pipeline is too long");
		memcpy(batch + length, request->bytes, request->length);
		length += request->length;
	}
	if (send(c->fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length)
		sum.errors++;
}

static void
ask(struct conn *c)
{
	if (!c->connecting)
		send_batch(c);
	c->started_at = now();
	c->pending = opt.depth;
	c->busy = true;
	asked += opt.depth;
	under_way++;
}

/* What it is to ask for was not sent yet. */
static void
connected(struct conn *c)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

	if (epoll_ctl(queue, EPOLL_CTL_MOD, c->fd, &event) == -1)
		err(1, "epoll_ctl");
	c->connecting = false;
	if (c->busy)
		send_batch(c);
}

/* All that this one asked for is there: it goes on, or lets another. */
static void
go_on(struct conn *c)
{
	under_way--;
	c->busy = false;
	if (stopping || asked >= most_asked) {
		idle[(idle_first + idle_n++) % opt.connections] =
		    (unsigned)(c - conns);
		return;
	}
	if (idle_n > 0 && opt.turns > 0 && ++c->turns >= opt.turns) {
		c->turns = 0;
		idle[(idle_first + idle_n) % opt.connections] =
		    (unsigned)(c - conns);
		c = &conns[idle[idle_first]];
		idle_first = (idle_first + 1) % opt.connections;
	}
	ask(c);
}

/*
 * Answers
 */

static void
failed(struct conn *c, const char *why)
{
	if (sum.errors++ == 0)
		warnx("%s", why);
	reopen(c);
	go_on(c);
}

/* The length of the body, or -1. */
static ssize_t
read_head(struct conn *c, const char *head, size_t length)
{
	const char *line = head, *end = head + length, *next;
	ssize_t body = -1;
	int status = length > 12 ? atoi(head + 9) : 0;

	for (; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next == NULL ? end : next + 1;
		if (strncasecmp(line, "content-length:", 15) == 0)
			body = atol(line + 15);
		else if (strncasecmp(line, "connection: close", 17) == 0)
			c->closing = true;
	}
	if (status != 200 && status != 304)
		return -1;
	return status == 304 ? 0 : body;
}

static void
complete(struct conn *c)
{
	c->in_body = c->fresh = false;
	took(now() - c->started_at);
	sum.requests++;
	if (--c->pending > 0 && !c->closing)
		return;
	if (opt.one_each)
		return;			/* the server closes first */
	if (c->closing) {
		asked -= c->pending;
		sum.reopened++;
		reopen(c);
	}
	go_on(c);
}

/* Takes a head out of what has come; how much of it; 0: it is not complete. */
static size_t
take_head(struct conn *c, const char *data, size_t n)
{
	size_t before = c->in, used;
	const char *head = data, *end;
	ssize_t body;

	if (before > 0) {
		if (n > HEAD - before)
			n = HEAD - before;
		memcpy(c->head + before, data, n);
		head = c->head;
	}
	end = memmem(head, before + n, "\r\n\r\n", 4);
	if (end == NULL)
		return 0;
	used = (size_t)(end + 4 - head);
	body = read_head(c, head, used);
	c->in = 0;
	if (body == -1) {
		if (sum.errors == 0)
			fwrite(head, 1, used, stderr);
		failed(c, "an answer that is none");
		return SIZE_MAX;
	}
	c->in_body = true;
	c->body = (size_t)body;
	return used - before;
}

static void
keep_head(struct conn *c, const char *data, size_t n)
{
	if (c->in + n >= HEAD) {
		failed(c, "a head without an end");
		return;
	}
	if (c->in == 0)			/* else it is there already */
		memcpy(c->head, data, n);
	c->in += n;
}

static void
take_body(struct conn *c, size_t n)
{
	c->body -= n;
	sum.bytes += n;
}

static void
take(struct conn *c, const char *data, size_t n)
{
	size_t used;

	while (n > 0 && c->pending > 0) {
		if (!c->in_body) {
			used = take_head(c, data, n);
			if (used == 0)
				keep_head(c, data, n);
			if (used == 0 || used == SIZE_MAX)
				return;
		} else {
			used = n < c->body ? n : c->body;
			take_body(c, used);
		}
		data += used;
		n -= used;
		if (c->in_body && c->body == 0)
			complete(c);
	}
}

static void
ended(struct conn *c)
{
	if (c->busy && c->pending == 0) {
		reopen(c);
		go_on(c);
	} else if (c->busy && !c->fresh && !opt.one_each && c->in == 0 &&
	    !c->in_body) {
		/* Each side may close what was idle, as the other asks. */
		asked -= c->pending;
		under_way--;
		sum.reopened++;
		reopen(c);
		ask(c);
	} else if (c->busy) {
		failed(c, "the server closed in place of an answer");
	} else {
		sum.reopened++;		/* it was idle */
		reopen(c);
	}
}

static void
received(struct conn *c, const char *data, size_t n)
{
	if (data == NULL)
		take_body(c, n);
	else
		take(c, data, n);
}

/*
 * All but the end of a large body is thrown away where it is (tcp(7)): to copy
 * it costs more than to send it, and a server that waits for its client has a
 * core half idle, where nobody is charged for what the system's timers send.
 */
static void
readable(struct conn *c)
{
	static char room[ROOM];
	size_t spare = c->in_body && c->body > ROOM ? c->body - ROOM : 0;
	char *data = spare > 0 ? NULL : room;
	ssize_t n = recv(c->fd, data, spare > 0 ? spare : ROOM,
	    spare > 0 ? MSG_TRUNC : 0);

	if (n > 0)
		received(c, data, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		ended(c);
}

static void
ready(struct conn *c, uint32_t events)
{
	if (c->connecting && !(events & (EPOLLERR | EPOLLHUP)))
		connected(c);
	else
		readable(c);
}

/* Until nothing is under way any more, asking for so long. */
static void
run(uint64_t until)
{
	struct epoll_event events[EVENTS];
	uint64_t patience = until + PATIENCE * 1000000000ULL;
	int n;

	while (under_way > 0) {
		n = epoll_wait(queue, events, EVENTS, 100);
		if (n == -1 && errno != EINTR)
			err(1, "epoll_wait");
		for (int i = 0; i < n; i++)
			ready(events[i].data.ptr, events[i].events);
		if (now() >= until)
			stopping = true;
		if (now() >= patience) {
			warnx("%u answers did not come", under_way);
			sum.errors += under_way;
			return;
		}
	}
}

/* Each connection once, and then as often as -w says. */
static void
warm_up(void)
{
	unsigned depth = opt.depth;
	uint64_t until = now() + 600 * 1000000000ULL;

	opt.depth = 1;
	warming = true;
	for (unsigned i = 0; i < opt.connections; i++) {
		open_conn(&conns[i]);
		most_asked = 0;		/* answered, it is idle */
		ask(&conns[i]);
		if (i % 64 == 63)
			run(until);
	}
	run(until);
	most_asked = opt.warm;
	idle_n = 0;
	next_request = 0;
	asked = 0;
	for (unsigned i = 0; i < opt.connections && asked < opt.warm; i++)
		ask(&conns[i]);
	run(until);
	most_asked = UINT64_MAX;
	warming = false;
	opt.depth = depth;
}

static double
processor_seconds(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void
measure(void)
{
	double used = processor_seconds();
	uint64_t start;

	memset(&sum, 0, sizeof(sum));
	next_request = idle_first = idle_n = 0;
	stopping = false;
	start = now();
	for (unsigned i = 0; opt.late && i < opt.connections; i++)
		open_conn(&conns[i]);
	for (unsigned i = 0; i < opt.connections; i++)
		if (i < opt.active)
			ask(&conns[i]);
		else
			idle[idle_n++] = i;
	run(start + (uint64_t)(opt.seconds * 1e9));
	printf("{\"requests\":%ju,\"bytes\":%ju,\"errors\":%ju,"
	    "\"reopened\":%ju,\"seconds\":%.6f,\"processor\":%.6f,"
	    "\"p50\":%.1f,\"p99\":%.1f,\"slowest\":%.1f}\n",
	    (uintmax_t)sum.requests, (uintmax_t)sum.bytes,
	    (uintmax_t)sum.errors, (uintmax_t)sum.reopened,
	    (double)(now() - start) / 1e9, processor_seconds() - used,
	    percentile(50), percentile(99), (double)sum.slowest / 1000);
}

static void
need_descriptors(void)
{
	struct rlimit limit;
	rlim_t need = opt.connections + 64;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		err(1, "getrlimit");
	if (limit.rlim_cur >= need)
		return;
	limit.rlim_cur = need;
	if (limit.rlim_max < need)
		limit.rlim_max = need;
	if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
		err(1, "%ju descriptors", (uintmax_t)need);
}

static void
options(int argc, char *argv[])
{
	int o;

	while ((o = getopt(argc, argv, "1a:c:d:f:lnp:Rt:w:")) != -1)
		switch (o) {
		case '1': opt.one_each = true; break;
		case 'a': opt.active = (unsigned)atoi(optarg); break;
		case 'c': opt.connections = (unsigned)atoi(optarg); break;
		case 'd': opt.seconds = atof(optarg); break;
		case 'f': opt.file = optarg; break;
		case 'l': opt.show_length = true; break;
		case 'n': opt.late = true; break;
		case 'p': opt.depth = (unsigned)atoi(optarg); break;
		case 'R': opt.at_random = true; break;
		case 't': opt.turns = (unsigned)atoi(optarg); break;
		case 'w': opt.warm = strtoul(optarg, NULL, 10); break;
		default: exit(64);
		}
	if (argc - optind != 1 + (opt.file == NULL) || opt.depth < 1 ||
	    opt.depth > DEEPEST || opt.connections < 1)
		errx(64, "usage: client [-1lnR] [-a active] [-c connections] "
		    "[-d seconds] [-f file] [-p depth] [-t turns] "
		    "[-w requests] port [target]");
	if (opt.active == 0 || opt.active > opt.connections)
		opt.active = opt.connections;
	opt.port = atoi(argv[optind]);
}

int
main(int argc, char *argv[])
{
	char line[8];

	options(argc, argv);
	if (opt.file != NULL) {
		read_targets(opt.file);
	} else {
		requests = allocate(1, sizeof(*requests));
		requests_n = 1;
		make_request(requests, argv[optind + 1], "");
	}
	if (opt.show_length) {
		printf("%zu\n", requests[0].length);
		return 0;
	}
	need_descriptors();
	conns = allocate(opt.connections, sizeof(*conns));
	idle = allocate(opt.connections, sizeof(*idle));
	for (unsigned i = 0; i < opt.connections; i++)
		conns[i].head = allocate(1, HEAD);
	if ((queue = epoll_create1(EPOLL_CLOEXEC)) == -1)
		err(1, "epoll_create1");
	if (!opt.late)
		warm_up();
	if (sum.errors > 0)
		errx(1, "%ju errors before it began", (uintmax_t)sum.errors);
	printf("ready\n");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) == NULL)
		return 0;
	measure();
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL)
		;
	return 0;
}
