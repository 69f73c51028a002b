/*
 * Fuzz target of shared/program_message and programs/variables: messages from
 * the other side.  The input is a byte of flags and the message.  A START that
 * is accepted has exactly the texts that its head says, and becomes variables
 * that a program may have; a RESTART has no text and no descriptor; no
 * descriptor stays open.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "programs/variables.h"
#include "shared/program_message.h"

enum {
	HAS_FD = 1,
	IS_REPORT = 2
};

#define HEAD	24			/* bytes: four numbers and a group */

static char		 root[] = "/srv/www";
static struct conf_site	 site = { .rules.root = root };
static struct conf_program program;
static const struct conf conf = { .sites = &site, .nsites = 1,
    .programs = &program, .nprograms = 1 };

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* A second statement of what a program may be told. */
static void
check_variable(const char *text)
{
	size_t		 len = strcspn(text, "=");
	const char	*value = text + len + 1;

	need(text[len] == '=' && len > 0);
	need(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == len);
	need(strncmp(text, "HTTP_PROXY=", 11) != 0);
	need(strncmp(text, "LD_", 3) != 0 && strncmp(text, "IFS", 3) != 0);
	need(strncmp(text, "PATH=", 5) != 0 ||
	    strncmp(value, "/usr/", 5) == 0);
	if (strncmp(text, "SCRIPT_FILENAME=", 16) == 0) {
		need(strncmp(value, root, sizeof(root) - 1) == 0);
		need(strstr(value, "/../") == NULL);
	}
}

static void
check_start(const struct program_start *start, const char *buffer,
    const uint8_t *data, size_t size)
{
	uint32_t	head[HEAD / sizeof(uint32_t)];
	uint64_t	group;
	char		**variables;

	memcpy(head, data, HEAD);
	memcpy(&group, data + HEAD - sizeof(group), sizeof(group));
	need(start->program == head[0] &&
	    start->restart == (head[1] == PROGRAM_BODY_COUNT));
	if (start->restart) {
		need(size == HEAD);
		return;
	}
	need(size == HEAD + (size_t)head[2] + head[3]);
	need(start->body == head[1] && start->group == group);
	need(start->file.at == buffer + HEAD && start->file.len == head[2]);
	need(start->environment.at == start->file.at + start->file.len);
	need(start->environment.len == head[3]);
	variables = variables_make(&conf, &program, start->environment, NULL);
	need(variables != NULL || errno == EBADMSG || errno == EACCES);
	if (variables == NULL)
		return;
	for (char **at = variables; *at != NULL; at++)
		check_variable(*at);
	variables_free(&variables);
}

static void
recv_start(int sock, const uint8_t *data, size_t size)
{
	char			*buffer = mem_get(PROGRAM_MESSAGE_MAX);
	struct program_start	 start;
	int			 request, n;

	n = program_message_recv_start(sock, buffer, &start, &request);
	need(n == 1 || (n == -1 && errno == EBADMSG));
	need((n == 1 && !start.restart) == (request != -1));
	if (n == 1)
		check_start(&start, buffer, data, size);
	io_close(&request);
	mem_drop(&buffer);
}

static void
recv_report(int sock, const uint8_t *data, size_t size)
{
	struct program_report	report;
	int			output, n;

	n = program_message_recv_report(sock, &report, &output);
	need(n == 1 || (n == -1 && errno == EBADMSG));
	if (n == 1) {
		/* A longer message is cut. */
		need(size >= sizeof(report));
		need(memcmp(&report, data, sizeof(report)) == 0);
		need(report.kind < PROGRAM_REPORT_COUNT);
	}
	need((output != -1) == (n == 1 &&
	    (report.kind == PROGRAM_NOTES || report.kind == PROGRAM_INPUT || report.kind == PROGRAM_STARTED)));
	io_close(&output);
}

static void
send_input(int sock, const uint8_t *data, size_t size, int fd)
{
	union {
		struct cmsghdr	head;
		char		bytes[CMSG_SPACE(sizeof(int))];
	}		control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
			    .cmsg_level = SOL_SOCKET,
			    .cmsg_type = SCM_RIGHTS } };
	struct iovec	iov = { (void *)(uintptr_t)data, size };
	struct msghdr	message = { .msg_iov = &iov, .msg_iovlen = 1 };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (fd != -1) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
	}
	need(sendmsg(sock, &message, MSG_NOSIGNAL) == (ssize_t)size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int	fds[2], before, after;

	if (size == 0 || size > PROGRAM_MESSAGE_MAX)
		return 0;
	before = dup(0);
	need(io_record_pipe(fds) == 0);
	send_input(fds[0], data + 1, size - 1, data[0] & HAS_FD ? before : -1);
	if (data[0] & IS_REPORT)
		recv_report(fds[1], data + 1, size - 1);
	else
		recv_start(fds[1], data + 1, size - 1);
	after = dup(0);
	need(after == (fds[0] > fds[1] ? fds[0] : fds[1]) + 1);
	io_close(&after);
	io_close(&fds[0]);
	io_close(&fds[1]);
	io_close(&before);
	return 0;
}
