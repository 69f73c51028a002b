/*
 * program_message: messages between main and the program manager.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "lib/io.h"
#include "shared/program_message.h"

struct done {
	uint32_t	nanswered, again, unread;
};

enum { RESTART = PROGRAM_BODY_COUNT };	/* a kind beside those of bodies */

/* Of both texts: the lengths in front of them. */
struct start_head {
	uint32_t	program, kind, file, environment;
	uint64_t	group;
};

/* Whether the other side has closed: a message without a byte looks the same to
 * recvmsg(2). */
static bool
has_ended(int sock)
{
	struct pollfd	end = { .fd = sock };

	return poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0;
}

/* Receives over a request's socket.  The other side may have closed before it
 * has read what was sent to it: that comes first, its last message behind it.
 */
static ssize_t
recv_last(int request, void *to, size_t size, int *fd)
{
	ssize_t	n = io_recv_message(request, to, size, fd, MSG_DONTWAIT);

	if (n == -1 && errno == ECONNRESET)
		n = io_recv_message(request, to, size, fd, MSG_DONTWAIT);
	return n;
}

int
program_message_send_start(int manager, const struct program_start *start,
    int request)
{
	struct start_head	head = { start->program, start->body,
				    (uint32_t)start->file.len,
				    (uint32_t)start->environment.len,
				    start->group };
	const struct iovec	iov[] = {
		{ &head, sizeof(head) },
		{ (void *)(uintptr_t)start->file.at, start->file.len },
		{ (void *)(uintptr_t)start->environment.at,
		    start->environment.len },
	};

	if (start->file.len > PROGRAM_FILE_MAX ||
	    start->environment.len > PROGRAM_ENVIRONMENT_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	return io_send_message(manager, iov, 3, request);
}

int
program_message_send_restart(int manager, uint32_t program)
{
	struct start_head	head = { .program = program,
				    .kind = RESTART };
	const struct iovec	iov = { &head, sizeof(head) };

	return io_send_message(manager, &iov, 1, -1);
}

/* Whether a message of that many bytes is what its head says. */
static bool
is_whole(const struct start_head *head, size_t bytes)
{
	if (bytes < sizeof(*head))
		return false;
	if (head->kind == RESTART)
		return bytes == sizeof(*head) && head->file == 0 &&
		    head->environment == 0;
	return head->kind < PROGRAM_BODY_COUNT &&
	    head->file <= PROGRAM_FILE_MAX &&
	    head->environment <= PROGRAM_ENVIRONMENT_MAX &&
	    bytes == sizeof(*head) + head->file + head->environment;
}

int
program_message_recv_start(int manager, char *buffer,
    struct program_start *start, int *request)
{
	struct start_head	head = { 0 };
	ssize_t			n;

	n = io_recv_message(manager, buffer, PROGRAM_MESSAGE_MAX, request,
	    MSG_DONTWAIT);
	if (n == -1 || (n == 0 && *request == -1 && has_ended(manager)))
		return (int)n;
	if ((size_t)n >= sizeof(head))
		memcpy(&head, buffer, sizeof(head));
	if (!is_whole(&head, (size_t)n) ||
	    (*request == -1) != (head.kind == RESTART)) {
		io_close(request);
		errno = EBADMSG;
		return -1;
	}
	start->program = head.program;
	start->restart = head.kind == RESTART;
	start->for_filter = false;
	start->group = head.group;
	start->body = start->restart ? PROGRAM_BODY_NONE : head.kind;
	start->file = (struct str){ buffer + sizeof(head), head.file };
	start->environment = (struct str){ start->file.at + head.file,
	    head.environment };
	return 1;
}

int
program_message_send_body(int request, int body)
{
	char			byte = 0;
	const struct iovec	iov = { &byte, 1 };

	return io_send_message(request, &iov, 1, body);
}

int
program_message_recv_body(int request, int *body)
{
	char	byte;
	ssize_t	n = io_recv_message(request, &byte, 1, body, MSG_DONTWAIT);

	if (n == -1 || (n == 0 && *body == -1 && has_ended(request)))
		return (int)n;
	if (n != 1 || *body == -1) {
		io_close(body);
		errno = EBADMSG;
		return -1;
	}
	return 1;
}

int
program_message_send_done(int request, const struct program_done *done)
{
	struct done		message = { done->nanswered, done->again,
				    done->unread };
	const struct iovec	iov = { &message, sizeof(message) };

	return io_send_message(request, &iov, 1, -1);
}

int
program_message_recv_done(int request, struct program_done *done)
{
	struct done	message = { 0 };
	int		fd;
	ssize_t		n = recv_last(request, &message, sizeof(message),
			    &fd);

	io_close(&fd);
	if (n > 0 && n != sizeof(message)) {
		errno = EBADMSG;
		return -1;
	}
	*done = (struct program_done){ .nanswered = message.nanswered,
	    .again = message.again == 1, .unread = message.unread == 1 };
	return n > 0 ? 1 : (int)n;
}

int
program_message_send_report(int request, const struct program_report *report,
    int fd)
{
	const struct iovec	iov = { (void *)(uintptr_t)report,
				    sizeof(*report) };

	return io_send_message(request, &iov, 1, fd);
}

int
program_message_recv_report(int request, struct program_report *report,
    int *fd)
{
	ssize_t	n = recv_last(request, report, sizeof(*report), fd);

	if (n == -1 || (n == 0 && *fd == -1 && has_ended(request)))
		return (int)n;
	if (n != sizeof(*report) || report->kind >= PROGRAM_REPORT_COUNT ||
	    (*fd != -1) != (report->kind == PROGRAM_STARTED ||
	    report->kind == PROGRAM_INPUT || report->kind == PROGRAM_NOTES)) {
		io_close(fd);
		errno = EBADMSG;
		return -1;
	}
	return 1;
}
