/*
 * client: connects, sends a line, and splits the answer; explains failures.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "ampedctl/client.h"
#include "conf/conf.h"
#include "lib/io.h"
#include "lib/mem.h"

#define AMPED_CONTROL	"/run/amped/control"	/* the packages' choice */

#define ANSWER_TIMEOUT	90	/* s without a byte; a reload may take 60 */

/* Says how to do without a control socket. */
static void
error_no_socket(const char *conf, const char *pid)
{
	fprintf(stderr, "ampedctl: %s names no control socket: add a line like "
	    "\"control %s\" to it, and reload; SIGHUP reloads and SIGTERM "
	    "stops the process ", conf, AMPED_CONTROL);
	if (pid != NULL)
		fprintf(stderr, "whose id is in %s\n", pid);
	else
		fprintf(stderr, "that ps calls \"amped: monitor\"\n");
}

/* A conf that this user may not read may be that of the package, whose socket
 * is known. */
const char *
client_socket(struct client_target *a)
{
	const char	*conf = a->conf != NULL ? a->conf : AMPED_CONF;
	char		*pid;
	int		 error;

	if (a->socket != NULL)
		return a->socket;
	a->socket = conf_read_control(conf, &pid);
	error = errno;
	if (a->socket == NULL && a->conf == NULL &&
	    access(AMPED_CONTROL, F_OK) == 0)
		a->socket = AMPED_CONTROL;
	if (a->socket != NULL) {
		mem_drop(&pid);
		return a->socket;
	}
	if (error != 0)
		fprintf(stderr, "ampedctl: %s: %s; -s names the socket, -f "
		    "another conf\n", conf, strerror(error));
	else
		error_no_socket(conf, pid);
	exit(error != 0 ? EX_NOINPUT : EX_CONFIG);
}

/* Adds who may use the socket, so that the user knows whom to ask. */
static void
add_owner(const char *file, struct buf *text)
{
	const struct passwd	*pw;
	const struct group	*gr;
	struct stat		 st;
	char			*copy = mem_string(file);
	const char		*what = file;
	bool			 there = stat(file, &st) == 0;

	if (!there) {
		what = dirname(copy);	/* the directory is closed */
		there = stat(what, &st) == 0;
	}
	if (there) {
		pw = getpwuid(st.st_uid);
		gr = getgrgid(st.st_gid);
		buf_addf(text, "; %s is for user %s and group %s (mode %04o): "
		    "be one of these, or root (sudo)", what,
		    pw != NULL ? pw->pw_name : "?",
		    gr != NULL ? gr->gr_name : "?",
		    (unsigned)st.st_mode & 07777);
	}
	free(copy);
}

static int
explain_failure(const char *file, struct buf *text)
{
	int	error = errno;

	if (error == ENOENT || error == ECONNREFUSED) {
		buf_addf(text, "no server listens at %s: amped does not run, "
		    "or its conf names another socket", file);
		return EX_UNAVAILABLE;
	}
	buf_addf(text, "%s: %s", file, strerror(error));
	if (error != EACCES && error != EPERM)
		return EX_UNAVAILABLE;
	add_owner(file, text);
	return EX_NOPERM;
}

/* Returns a socket, or -1 with errno. */
static int
connect_to(const char *file)
{
	static const struct timeval	timeout = { .tv_sec = ANSWER_TIMEOUT };
	struct sockaddr_un		sun = { .sun_family = AF_UNIX };
	int				fd;

	if (strlen(file) >= sizeof(sun.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(sun.sun_path, file);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -1;
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1) {
		io_close(&fd);
		return -1;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout,
	    sizeof(timeout));
	return fd;
}

static void
send_words(int fd, const char *const *words, size_t n)
{
	struct buf	line = { 0 };

	for (size_t i = 0; i < n; i++)
		buf_addf(&line, "%s%s", i > 0 ? "\t" : "", words[i]);
	buf_addc(&line, '\n');
	/* If the server has closed the connection, its answer says why. */
	(void)send(fd, line.at, line.len, MSG_NOSIGNAL);
	buf_free(&line);
}

static bool
is_complete(const struct buf *b)
{
	const size_t	n = sizeof(CONTROL_END) - 1;

	return b->len >= n && memcmp(b->at + b->len - n, CONTROL_END, n) == 0 &&
	    (b->len == n || b->at[b->len - n - 1] == '\n');
}

/* Reads all of an answer but its last line.  Returns false, and why, if that
 * line does not come. */
static bool
read_answer(int fd, struct buf *b, struct buf *why)
{
	ssize_t	n = 1;

	while (!is_complete(b) && n > 0) {
		buf_reserve(b, 65536);
		n = read(fd, b->at + b->len, 65536);
		if (n > 0)
			b->len += (size_t)n;
		if (n == -1 && errno == EINTR)
			n = 1;
	}
	if (is_complete(b)) {
		b->len -= sizeof(CONTROL_END) - 1;
		return true;
	}
	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
		buf_addf(why, "no answer for %d seconds", ANSWER_TIMEOUT);
	else
		buf_adds(why, "the answer is incomplete: the process that gave "
		    "it has ended; the error log says why");
	return false;
}

static void
await_end(int fd)
{
	static const struct timeval	timeout = { 0 };	/* no limit */
	char				bytes[512];
	ssize_t				n;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout,
	    sizeof(timeout));
	do
		n = read(fd, bytes, sizeof(bytes));
	while (n > 0 || (n == -1 && errno == EINTR));
}

/* Moves the first line to text, without its verdict. */
static int
split_answer(struct buf *text, struct buf *more)
{
	const char		*behind;
	enum control_verdict	 verdict;
	size_t			 len = strcspn(buf_string(more), "\n");

	buf_add(text, more->at, len);
	buf_consume(more, len < more->len ? len + 1 : len);
	verdict = control_parse_verdict(buf_string(text), &behind);
	buf_consume(text, (size_t)(behind - text->at));
	if (verdict != CONTROL_VERDICT_COUNT)
		return control_exit_status(verdict);
	text->len = 0;
	buf_adds(text, "the answer is not that of amped, or of another "
	    "version");
	return EX_PROTOCOL;
}

int
client_ask(struct client_target *a, const char *const *words, size_t n,
    bool stay, struct buf *text, struct buf *more)
{
	const char	*socket = client_socket(a);
	int		 fd, status = EX_PROTOCOL;

	text->len = more->len = 0;
	fd = connect_to(socket);
	if (fd == -1)
		return explain_failure(socket, text);
	send_words(fd, words, n);
	if (read_answer(fd, more, text))
		status = split_answer(text, more);
	if (stay && status == 0)
		await_end(fd);
	close(fd);
	return status;
}
