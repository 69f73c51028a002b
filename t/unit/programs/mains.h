/*
 * mains: shared by the tests of the manager: the test is main, over sockets.
 */
#ifndef T_UNIT_PROGRAMS_MAINS_H
#define T_UNIT_PROGRAMS_MAINS_H

#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "programs/manager.h"
#include "shared/program_message.h"
#include "t/unit/unit.h"

#define WAIT_MS	30000

static char		 directory[] = "/tmp/amped-programs.XXXXXX";
static int		 mains;		/* to the manager */
static int		 errors;	/* its standard error */
static struct buf	 lines;		/* read from there */
static pid_t		 manager;

static inline void
write_file(const char *name, mode_t mode, const char *text)
{
	char	path[200];
	int	fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(io_write_all(fd, text, strlen(text)), 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static inline _Noreturn void
run_manager(const struct conf *conf, int socket, int to)
{
	char	title[300] = "test";
	char	*arguments[] = { title, NULL };

	/* What a monitor is started with must not matter. */
	signal(SIGUSR1, SIG_IGN);
	proc_title_init(1, arguments);
	log_init("programs", LOG_LEVEL_NOTICE);
	dup2(to, STDERR_FILENO);
	proc_close_from(socket + 1);
	manager_run(conf, socket);
	_exit(0);
}

static inline void
start_manager(const struct conf *conf)
{
	int	sockets[2], pipe[2];

	ck_assert_int_eq(pipe2(pipe, O_CLOEXEC), 0);
	ck_assert_int_eq(io_record_pipe(sockets), 0);
	manager = fork();
	if (manager == 0) {
		close(sockets[0]);
		close(pipe[0]);
		run_manager(conf, sockets[1], pipe[1]);
	}
	ck_assert_int_ne(manager, -1);
	close(sockets[1]);
	close(pipe[1]);
	mains = sockets[0];
	errors = pipe[0];
}

/* Returns how the manager ended. */
static inline int
await_manager(void)
{
	int	status;

	ck_assert_int_eq(waitpid(manager, &status, 0), manager);
	manager = 0;
	return status;
}

static inline void
end_manager(void)
{
	char	command[100];

	io_close(&mains);
	if (manager != 0)
		ck_assert_int_eq(await_manager(), 0);
	io_close(&errors);
	buf_free(&lines);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static inline void
await_input(int fd)
{
	struct pollfd	poll_fd = { .fd = fd, .events = POLLIN };

	ck_assert_int_eq(poll(&poll_fd, 1, WAIT_MS), 1);
}

/* Texts are separated by "|"; returns the request's socket. */
static inline int
send_texts(uint32_t program, const char *file, const char *texts,
    enum program_body body)
{
	struct program_start	start = { .program = program, .body = body,
				    .file = str_of(file) };
	char			all[4000];
	int			fds[2];

	strcpy(all, texts);
	for (char *at = all; (at = strchr(at, '|')) != NULL;)
		*at++ = '\0';
	start.environment = (struct str){ all, strlen(texts) };
	ck_assert_int_eq(io_record_pipe(fds), 0);
	ck_assert_int_eq(program_message_send_start(mains, &start, fds[1]), 0);
	close(fds[1]);
	return fds[0];
}

static inline int
start_texts(uint32_t program, const char *file, const char *texts, int body)
{
	int	request = send_texts(program, file, texts, body == -1 ?
		    PROGRAM_BODY_NONE : PROGRAM_BODY_FILE);

	if (body != -1)
		ck_assert_int_eq(program_message_send_body(request, body), 0);
	return request;
}

/* Returns the output. */
static inline int
await_report(int request, enum program_report_kind kind,
    struct program_report *report)
{
	int	output;

	await_input(request);
	ck_assert_int_eq(program_message_recv_report(request, report, &output),
	    1);
	ck_assert_uint_eq(report->kind, kind);
	return output;
}

static inline int
await_start(int request)
{
	struct program_report	report;

	return await_report(request, PROGRAM_STARTED, &report);
}

static inline int
await_status(int request)
{
	struct program_report	report;

	await_report(request, PROGRAM_ENDED, &report);
	return report.status;
}

static inline int
await_error(int request)
{
	struct program_report	report;

	await_report(request, PROGRAM_FAILED, &report);
	return report.error;
}

/* The manager has closed the request, without a report. */
static inline void
await_end(int *request)
{
	struct program_report	report;
	int			output;

	await_input(*request);
	ck_assert_int_eq(program_message_recv_report(*request, &report,
	    &output), 0);
	io_close(request);
}

/* Reads until the end, or until there is that text. */
static inline const char *
read_output(int fd, const char *until, struct buf *text)
{
	char	bytes[4096];
	ssize_t	n;

	while (until == NULL || text->len == 0 ||
	    strstr(buf_string(text), until) == NULL) {
		await_input(fd);
		n = read(fd, bytes, sizeof(bytes));
		ck_assert_int_ge(n, 0);
		if (n == 0 && until != NULL)
			ck_abort_msg("no \"%s\" in \"%s\"", until,
			    buf_string(text));
		if (n == 0)
			break;
		buf_add(text, bytes, (size_t)n);
	}
	return buf_string(text);
}

static inline void
await_line(const char *text)
{
	(void)read_output(errors, text, &lines);
}

/* Waits until no process has the output. */
static inline void
await_no_process(int *output)
{
	struct buf	text = { 0 };

	(void)read_output(*output, NULL, &text);
	io_close(output);
	buf_free(&text);
}

#endif
