/*
 * terminal: termios, and the few sequences that all terminals know today
 * (ECMA-48).  A library would add a data base of terminals that are out of use.
 */
#include <sys/ioctl.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "ampedctl/terminal.h"
#include "lib/io.h"
#include "lib/visible.h"

#define COLUMNS_DEFAULT	80
#define LINES_DEFAULT	24

#define ENTER	"\033[?1049h\033[?25l"	/* another screen, no cursor */
#define LEAVE	"\033[?25h\033[?1049l"
#define HOME	"\033[H"
#define CLEAR	"\033[K"		/* to the end of the line */
#define BELOW	"\033[J"		/* all below */

static struct termios			 before;
static bool				 entered;
static volatile sig_atomic_t		 ended, stopped, changed;

static void
on_signal(int signo)
{
	if (signo == SIGTSTP)
		stopped = 1;
	else if (signo == SIGWINCH || signo == SIGCONT)
		changed = 1;
	else
		ended = 1;
}

static void
catch_signals(void)
{
	static const int	caught[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP,
				    SIGWINCH, SIGCONT };
	struct sigaction	sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
}

static void
set_raw(void)
{
	struct termios	raw = before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	(void)io_write_all(STDOUT_FILENO, ENTER, sizeof(ENTER) - 1);
	entered = true;
}

const char *
terminal_enter(void)
{
	const char	*type = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "top needs a terminal; status shows the same once";
	if (type == NULL || strcmp(type, "dumb") == 0 ||
	    tcgetattr(STDIN_FILENO, &before) == -1)
		return "top needs a terminal with a cursor (TERM); status "
		    "shows the same once";
	catch_signals();
	set_raw();
	atexit(terminal_leave);
	return NULL;
}

void
terminal_leave(void)
{
	if (!entered)
		return;
	entered = false;
	(void)io_write_all(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void
terminal_size(size_t *columns, size_t *lines)
{
	struct winsize	size;
	bool		known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;

	*columns = known && size.ws_col > 0 ? size.ws_col : COLUMNS_DEFAULT;
	*lines = known && size.ws_row > 0 ? size.ws_row : LINES_DEFAULT;
}

void
terminal_show(const struct buf *text)
{
	struct buf	 out = { 0 };
	const char	*at = text->at, *end = text->at + text->len, *newline;
	size_t		 columns, lines, len;

	terminal_size(&columns, &lines);
	buf_adds(&out, HOME);
	for (; at < end && lines > 0; at = newline + 1, lines--) {
		newline = memchr(at, '\n', (size_t)(end - at));
		if (newline == NULL)
			newline = end;
		len = (size_t)(newline - at);
		len = len < columns ? len : columns;
		buf_add(&out, at, len);
		visible_line(out.at + out.len - len, len);
		/* A newline after the last line would scroll. */
		buf_adds(&out, lines > 1 ? CLEAR "\r\n" : CLEAR);
	}
	if (lines > 0)
		buf_adds(&out, BELOW);
	if (io_write_all(STDOUT_FILENO, out.at, out.len) == -1)
		ended = 1;
	buf_free(&out);
}

/* SIGTSTP: gives the terminal back until SIGCONT. */
static void
suspend(void)
{
	stopped = 0;
	terminal_leave();
	kill(getpid(), SIGSTOP);
	set_raw();
}

static enum terminal_event
read_key(void)
{
	char	keys[64];
	ssize_t	n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n == 0 || (n == -1 && errno != EINTR && errno != EAGAIN))
		return TERMINAL_QUIT;		/* the terminal has gone */
	for (ssize_t i = 0; i < n; i++)
		if (keys[i] == 'q' || keys[i] == 'Q')
			return TERMINAL_QUIT;
	return TERMINAL_REDRAW;
}

enum terminal_event
terminal_wait(int ms)
{
	struct pollfd	in = { .fd = STDIN_FILENO, .events = POLLIN };
	int		n = poll(&in, 1, ms);

	if (ended)
		return TERMINAL_QUIT;
	if (stopped)
		suspend();
	if (n > 0)
		return read_key();
	if (changed || n == -1) {
		changed = 0;
		return TERMINAL_REDRAW;
	}
	return TERMINAL_TIMEOUT;
}
