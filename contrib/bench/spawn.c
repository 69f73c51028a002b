/*
 * spawn: the least that an answer by a program can cost on this machine.
 *
 *	spawn program seconds [core]
 *
 * Starts the program over and over, one at a time, by vfork: pipe, exec, read
 * to the end, wait, as a gateway must, and sends what it has said, behind a
 * head, over a loopback connection to a process that throws it away, on that
 * core.  There is no request and no server.  Prints how many there were in a
 * second, and the us of processor that each took: in all, and without the
 * program's.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	ROOM = 65536,
};

/* As long as those of a server's. */
static const char head[] = "HTTP/1.1 200 OK\r\nServer: spawn\r\n"
    "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: text/plain\r\n"
    "Transfer-Encoding: chunked\r\n\r\n";

static const char *const environment[] = {
	"GATEWAY_INTERFACE=CGI/1.1", "SERVER_SOFTWARE=spawn",
	"SERVER_PROTOCOL=HTTP/1.1", "SERVER_NAME=localhost",
	"SERVER_ADDR=127.0.0.1", "SERVER_PORT=80", "REMOTE_ADDR=127.0.0.1",
	"REMOTE_PORT=12345", "REQUEST_METHOD=GET", "REQUEST_SCHEME=http",
	"REQUEST_URI=/cgi-bin/hello", "QUERY_STRING=",
	"SCRIPT_NAME=/cgi-bin/hello", "DOCUMENT_ROOT=/var/www",
	"SCRIPT_FILENAME=/var/www/cgi-bin/hello", "HTTP_HOST=localhost",
	"PATH=/usr/bin:/bin", NULL
};

static pid_t reader;

/* It ends with the connection, which ends with us. */
static void
throw_away(int fd, const char *core)
{
	static char buffer[ROOM];
	cpu_set_t set;

	CPU_ZERO(&set);
	if (core != NULL)
		CPU_SET((size_t)atoi(core), &set);
	if (core != NULL && sched_setaffinity(0, sizeof(set), &set) == -1)
		warn("core %s", core);
	while (recv(fd, buffer, sizeof(buffer), 0) > 0)
		continue;
	_exit(0);
}

/* A connection to such a process. */
static int
connect_reader(const char *core)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *address = (struct sockaddr *)&sin;
	socklen_t length = sizeof(sin);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), from, on = 1;

	if (listener == -1 || to == -1 || bind(listener, address, length) ||
	    listen(listener, 1) || getsockname(listener, address, &length) ||
	    connect(to, address, length))
		err(1, "loopback");
	from = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (from == -1 || setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &on,
	    sizeof(on)) || (reader = fork()) == -1)
		err(1, "loopback");
	if (reader == 0) {
		close(to);
		throw_away(from, core);
	}
	close(listener);
	close(from);
	return to;
}

/* The other end of its output; its input is that descriptor. */
static int
start_program(const char *path, int input, pid_t *pid)
{
	char *const arguments[] = { (char *)(size_t)path, NULL };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) == -1)
		err(1, "pipe");
	*pid = vfork();
	if (*pid == 0) {
		if (dup2(input, 0) != -1 && dup2(ends[1], 1) != -1)
			execve(path, arguments,
			    (char *const *)(size_t)environment);
		_exit(127);
	}
	if (*pid == -1)
		err(1, "vfork");
	close(ends[1]);
	return ends[0];
}

static void
answer_once(const char *path, int input, int to)
{
	static char response[ROOM];
	size_t length = sizeof(head) - 1;
	int status, from;
	ssize_t n;
	pid_t pid;

	from = start_program(path, input, &pid);
	memcpy(response, head, length);
	while ((n = read(from, response + length,
	    sizeof(response) - length)) > 0)
		length += (size_t)n;
	close(from);
	if (n != 0 || waitpid(pid, &status, 0) != pid || status != 0 ||
	    length == sizeof(head) - 1)
		errx(1, "%s failed", path);
	if (send(to, response, length, MSG_NOSIGNAL) != (ssize_t)length)
		err(1, "send");
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* us of processor so far. */
static double
used(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 +
	    (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

int
main(int argc, char *argv[])
{
	int to, input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	double start, own, n = 0, seconds;

	if (argc < 3 || argc > 4 || (seconds = atof(argv[2])) <= 0)
		errx(64, "usage: spawn program seconds [core]");
	if (input == -1)
		err(1, "/dev/null");
	to = connect_reader(argc == 4 ? argv[3] : NULL);
	own = used(RUSAGE_SELF);
	for (start = now(); now() - start < seconds; n++)
		answer_once(argv[1], input, to);
	seconds = now() - start;
	own = used(RUSAGE_SELF) - own;
	printf("%.1f %.1f %.1f\n", n / seconds,
	    (own + used(RUSAGE_CHILDREN)) / n, own / n);
	close(to);
	waitpid(reader, NULL, 0);
	return 0;
}
