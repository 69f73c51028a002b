/*
 * program: a program of CGI/1.1 that does what its query says.
 *
 *	busy			computes, and answers
 *	upload-N		reads its body, and answers
 *	download-N		answers with 1 MiB
 *	HOW-WHEN-N		hangs: HOW is fork (with a child), daemon (with
 *				one in a session of its own, without its
 *				descriptors) or stubborn (it ignores signals);
 *				WHEN is before, in or after (the head)
 *
 * Each but busy adds its query as a line to the file started beside the
 * program.  No process of it lives longer than LIFE.
 */
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	LIFE = 120,		/* s */
	BUSY_MS = 100,		/* of processor time */
	BODY = 1 << 20,		/* bytes */
};

static const char head[] = "Content-Type: text/plain\n\n";

static void
write_all(const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = write(1, bytes, n);

		if (done <= 0)
			exit(1);
		bytes += done;
		n -= (size_t)done;
	}
}

static void
answer(const char *text)
{
	write_all(head, sizeof(head) - 1);
	write_all(text, strlen(text));
}

/* The server's choice of a working directory does not matter. */
static void
note_start(const char *query)
{
	char path[PATH_MAX], line[80];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
	int fd, length = snprintf(line, sizeof(line), "%s\n", query);

	if (n == -1 || length >= (int)sizeof(line))
		exit(1);
	path[n] = '\0';
	strcpy(strrchr(path, '/'), "/started");
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd == -1 || write(fd, line, (size_t)length) != length)
		err(1, "%s", path);
	close(fd);
}

static void
compute(void)
{
	do
		for (volatile int i = 0; i < 100000; i++)
			continue;
	while (clock() < BUSY_MS * (CLOCKS_PER_SEC / 1000));
}

/* A server that sends no end of the body tells its length. */
static void
read_body(void)
{
	static char buffer[65536];
	const char *length = getenv("CONTENT_LENGTH");
	long left = length != NULL ? atol(length) : 0;
	ssize_t n;

	while (left > 0 && (n = read(0, buffer, sizeof(buffer))) > 0)
		left -= n;
}

static void
write_body(void)
{
	static char body[BODY];

	memset(body, 'x', sizeof(body));
	write_all(head, sizeof(head) - 1);
	write_all(body, sizeof(body));
}

static void
hang(void)
{
	alarm(LIFE);
	for (;;)
		pause();
}

static void
leave_child(bool daemon)
{
	pid_t pid = fork();

	if (pid != 0) {
		if (daemon)
			waitpid(pid, NULL, 0);
		return;
	}
	if (daemon && (setsid() == -1 || fork() != 0))
		_exit(0);
	for (int fd = 0; daemon && fd <= 2; fd++)
		close(fd);
	hang();
}

static void
misbehave(const char *how)
{
	if (strncmp(how, "fork", 4) == 0)
		leave_child(false);
	if (strncmp(how, "daemon", 6) == 0)
		leave_child(true);
	if (strncmp(how, "stubborn", 8) == 0) {
		signal(SIGHUP, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
	}
	if (strstr(how, "-in-") != NULL)
		write_all(head, sizeof(head) - 5);
	if (strstr(how, "-after-") != NULL)
		answer("begun\n");
	note_start(how);
	hang();
}

int
main(void)
{
	const char *query = getenv("QUERY_STRING");

	alarm(LIFE);
	if (query == NULL)
		return 1;
	if (strcmp(query, "busy") == 0) {
		compute();
		answer("computed\n");
	} else if (strncmp(query, "upload", 6) == 0) {
		note_start(query);
		read_body();
		answer("taken\n");
	} else if (strncmp(query, "download", 8) == 0) {
		note_start(query);
		write_body();
	} else {
		misbehave(query);
	}
	return 0;
}
