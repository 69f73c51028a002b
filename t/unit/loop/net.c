/*
 * Tests of loop/net: what a READ or a WRITE brings, when it is not tried again,
 * and what the other end sees of flags.
 */
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/sockaddr.h"
#include "loop/net.h"
#include "t/unit/unit.h"

#define FAR	(1LL << 40)	/* ms */
#define LARGE	(16 << 20)	/* bytes: more than sockets hold */
#define SOON	1000		/* ms */

static struct net_sock	 sock;
static int		 ours;		/* the other end */
static struct wait	 w;
static char		 room[8], large[LARGE];
static struct iovec	 iov[2];

/* Makes two ends of a TCP connection. */
static void
begin(void)
{
	struct sockaddr_in	sin = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t		len = sizeof(sin);
	int			door = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	ck_assert_int_eq(bind(door, (struct sockaddr *)&sin, len), 0);
	ck_assert_int_eq(listen(door, 1), 0);
	ck_assert_int_eq(getsockname(door, (struct sockaddr *)&sin, &len), 0);
	ours = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(ours, (struct sockaddr *)&sin, len), 0);
	sock = (struct net_sock){ .fd = accept(door, NULL, NULL) };
	ck_assert_int_ge(sock.fd, 0);
	ck_assert_int_eq(ioctl(sock.fd, FIONBIO, &on), 0);
	close(door);
}

static void
end(void)
{
	if (sock.fd != -1)
		net_close(&sock, 0);
	close(ours);
}

static enum net_state
ask(enum wait_kind kind, unsigned flags)
{
	w.kind = (uint8_t)kind;
	w.flags = (uint8_t)flags;
	w.outcome = OUTCOME_PENDING;
	w.error = 0;
	w.n = -2;
	return net_perform(&sock, &w);
}

static enum net_state
ask_input(unsigned flags)
{
	w = (struct wait){ .room = room, .size = sizeof(room),
	    .deadline = FAR };
	return ask(WAIT_READ, flags);
}

static enum net_state
write_bytes(char *at, size_t n, unsigned flags)
{
	iov[0] = (struct iovec){ at, n };
	w = (struct wait){ .iov = iov, .niov = 1, .size = n };
	return ask(WAIT_WRITE, flags);
}

static enum net_state
write_text(const char *text, unsigned flags)
{
	size_t	n = strlen(text);

	memcpy(large, text, n);
	return write_bytes(large, n, flags);
}

/* Waits until the socket is ready, or so many ms. */
static bool
is_ready(int fd, int ms)
{
	struct pollfd	p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

static void
say(const char *text)
{
	ck_assert_int_eq(write(ours, text, strlen(text)),
	    (ssize_t)strlen(text));
	ck_assert(is_ready(sock.fd, SOON));
}

static void
expect_done(ssize_t n)
{
	ck_assert_int_eq(w.outcome, OUTCOME_READY);
	ck_assert_int_eq(w.n, n);
}

/* The other end gets this next, or the end. */
static void
expect_heard(const char *text)
{
	char	bytes[20];
	size_t	n = 0, want = strlen(text);
	ssize_t	k = 1;

	while (n < want && k > 0 && is_ready(ours, SOON)) {
		k = read(ours, bytes + n, want - n);
		n += k > 0 ? (size_t)k : 0;
	}
	ck_assert_uint_eq(n, want);
	ck_assert_mem_eq(bytes, text, n);
}

static void
expect_end(void)
{
	char	byte;

	ck_assert(is_ready(ours, SOON));
	ck_assert_int_eq(read(ours, &byte, 1), 0);
}

static void
take_all(void)
{
	while (is_ready(ours, 0))
		if (read(ours, large, sizeof(large)) <= 0)
			break;
}

static bool
is_corked(void)
{
	int		value = 0;
	socklen_t	len = sizeof(value);

	getsockopt(sock.fd, IPPROTO_TCP, TCP_CORK, &value, &len);
	return value != 0;
}

/* A READ takes what there is, at most its room. */
START_TEST(reads)
{
	say("0123456789");
	ck_assert_int_eq(ask_input(0), NET_DONE);
	expect_done(8);
	ck_assert_mem_eq(room, "01234567", 8);
	ck_assert(!sock.drained);
	ck_assert_int_eq(ask_input(0), NET_DONE);
	expect_done(2);
	ck_assert_mem_eq(room, "89", 2);
	ck_assert(sock.drained);
}
END_TEST

/* A socket that is drained is not tried again, unless the READ says so. */
START_TEST(drained)
{
	say("0");
	ck_assert_int_eq(ask_input(0), NET_DONE);
	say("1");
	ck_assert_int_eq(ask_input(0), NET_READ);
	ck_assert_int_eq(w.outcome, OUTCOME_PENDING);
	ck_assert_int_eq(ask_input(WAIT_AGAIN), NET_DONE);
	expect_done(1);
	ck_assert_int_eq(ask_input(WAIT_AGAIN), NET_READ);
	ck_assert(sock.drained);
}
END_TEST

/* The end is reported once, and stands behind the unread input. */
START_TEST(end_of_input)
{
	say("0");
	shutdown(ours, SHUT_WR);
	sock.saw_eof = true;
	ck_assert_int_eq(ask_input(0), NET_DONE);
	expect_done(1);
	ck_assert(!sock.drained);
	ck_assert_int_eq(ask_input(0), NET_DONE);
	expect_done(0);
}
END_TEST

/* LATER waits for a new report though there is input. */
START_TEST(read_later)
{
	say("0");
	sock.drained = true;
	ck_assert_int_eq(ask_input(WAIT_LATER), NET_READ);
	ck_assert(!sock.drained);
	ck_assert_int_eq(ask_input(0), NET_DONE);
}
END_TEST

/* A READ that does not wait times out; with input it does not. */
START_TEST(no_wait)
{
	w = (struct wait){ .room = room, .size = sizeof(room) };
	ck_assert_int_eq(ask(WAIT_READ, WAIT_AGAIN), NET_DONE);
	ck_assert_int_eq(w.outcome, OUTCOME_TIMED_OUT);
	say("0");
	ck_assert_int_eq(ask(WAIT_READ, WAIT_AGAIN), NET_DONE);
	expect_done(1);
}
END_TEST

START_TEST(writes)
{
	char	one[] = "one ", two[] = "two";

	iov[0] = (struct iovec){ one, 4 };
	iov[1] = (struct iovec){ two, 3 };
	w = (struct wait){ .iov = iov, .niov = 2, .size = 7 };
	ck_assert_int_eq(ask(WAIT_WRITE, 0), NET_DONE);
	expect_done(7);
	ck_assert(!sock.full);
	expect_heard("one two");
}
END_TEST

/* A socket that took not all is not tried again before it is ready. */
START_TEST(full)
{
	ck_assert_int_eq(write_bytes(large, sizeof(large), 0), NET_DONE);
	ck_assert_int_gt(w.n, 0);
	ck_assert_int_lt(w.n, LARGE);
	ck_assert(sock.full);
	take_all();
	ck_assert_int_eq(write_text("0", 0), NET_WRITE);
	ck_assert_int_eq(w.outcome, OUTCOME_PENDING);
	sock.full = false;
	ck_assert_int_eq(write_text("0", 0), NET_DONE);
}
END_TEST

START_TEST(write_later)
{
	ck_assert_int_eq(write_text("0", WAIT_LATER), NET_WRITE);
	ck_assert(!is_ready(ours, 0));
}
END_TEST

START_TEST(sends_a_file)
{
	FILE	*f = tmpfile();

	ck_assert_ptr_nonnull(f);
	fputs("0123456789", f);
	fflush(f);
	w = (struct wait){ .file = fileno(f), .offset = 2, .size = 5 };
	ck_assert_int_eq(ask(WAIT_SEND, WAIT_AT_ONCE), NET_DONE);
	expect_done(5);
	expect_heard("23456");
	fclose(f);
}
END_TEST

/* An error is a result. */
START_TEST(broken)
{
	struct linger	at_once = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(ours, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(ours);
	ours = -1;
	ck_assert(is_ready(sock.fd, SOON));
	ck_assert_int_eq(ask_input(0), NET_DONE);
	expect_done(-1);
	ck_assert_int_eq(w.error, ECONNRESET);
	ck_assert_int_eq(write_text("0", 0), NET_DONE);
	expect_done(-1);
	ck_assert_int_eq(w.error, EPIPE);
}
END_TEST

/* Corked bytes leave with the next wait of any kind that is not. */
START_TEST(cork)
{
	static const int	kinds[] = { WAIT_READ, WAIT_DISK, WAIT_TIME,
				    WAIT_STAGE };

	ck_assert_int_eq(write_text("one", WAIT_CORK), NET_DONE);
	ck_assert(is_corked());
	ck_assert_int_eq(write_text("two", WAIT_CORK), NET_DONE);
	ck_assert(!is_ready(ours, 0));
	w = (struct wait){ .room = room, .size = sizeof(room),
	    .deadline = FAR };
	sock.drained = true;
	ck_assert_int_eq(ask((enum wait_kind)kinds[_i], 0),
	    kinds[_i] == WAIT_READ ? NET_READ : NET_NONE);
	ck_assert(!is_corked());
	expect_heard("onetwo");
}
END_TEST

#ifdef __linux__
static int
get_option(int level, int option)
{
	int		value = -1;
	socklen_t	len = sizeof(value);

	ck_assert_int_eq(getsockopt(sock.fd, level, option, &value, &len), 0);
	return value;
}

static int
get_priority(void)
{
	return get_option(SOL_SOCKET, SO_PRIORITY);
}

/* Sends a file until the socket is full, and returns what the socket holds. */
static size_t
fill_from_file(FILE *f, unsigned flags)
{
	int	size = LARGE / 64;

	ck_assert_int_eq(setsockopt(sock.fd, SOL_SOCKET, SO_SNDBUF, &size,
	    sizeof(size)), 0);
	ck_assert_int_eq(ftruncate(fileno(f), LARGE), 0);
	w = (struct wait){ .file = fileno(f), .size = LARGE };
	ck_assert_int_eq(ask(WAIT_SEND, WAIT_AT_ONCE | flags), NET_DONE);
	ck_assert(sock.full);
	return net_unacked(&sock);
}

static bool
reports_room(void)
{
	struct pollfd	p = { .fd = sock.fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1;
}

/* Takes bytes until the socket holds no more than these, or reports room. */
static void
take_until(size_t held, bool report)
{
	while (net_unacked(&sock) > held && !(report && reports_room())) {
		ck_assert(is_ready(ours, SOON));
		ck_assert_int_gt(read(ours, large, LARGE / 1024), 0);
	}
}

/* A socket that sends a file reports room when most of what it held has gone,
 * and takes as much as any other. */
START_TEST(reports_late)
{
	FILE	*f = tmpfile();
	int	 any = get_option(IPPROTO_TCP, TCP_NOTSENT_LOWAT);
	size_t	 held = fill_from_file(f, 0);

	ck_assert(sock.late);
	take_until(0, true);
	ck_assert_uint_lt(net_unacked(&sock), held / 2);
	sock.full = false;
	ck_assert_int_eq(write_text("0", 0), NET_DONE);
	ck_assert(!sock.late);
	ck_assert_int_eq(get_option(IPPROTO_TCP, TCP_NOTSENT_LOWAT), any);
	fclose(f);
}
END_TEST

/* If there is no time to wait for that, it says whether it has some room. */
START_TEST(has_room)
{
	FILE	*f = tmpfile();
	size_t	 held = fill_from_file(f, 0);
	int	 later = 2;		/* bytes: when nothing is unsent */

	ck_assert_int_eq(setsockopt(sock.fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT,
	    &later, sizeof(later)), 0);
	take_until(held / 2, false);
	ck_assert(!reports_room());
	ck_assert(net_has_room(&sock));
	ck_assert(!sock.full);
	ck_assert(reports_room());
	fill_from_file(f, 0);
	ck_assert(!net_has_room(&sock));
	ck_assert(sock.full);
	ck_assert(!net_has_room(&sock));
	fclose(f);
}
END_TEST

/* A socket that holds few unsent bytes reports by that bound. */
START_TEST(large_is_not_late)
{
	FILE	*f = tmpfile();

	fill_from_file(f, WAIT_LARGE);
	ck_assert(!sock.late);
	fclose(f);
}
END_TEST

/* The priority is that of the last WRITE; other waits leave it, since the socket
 * holds bytes still.  Those of a socket that once was large are few. */
START_TEST(priority)
{
	static const struct {
		unsigned	flags;
		int		priority;
	} cases[] = {
		{ 0, 0 }, { WAIT_LARGE, 2 }, { WAIT_LARGE | WAIT_CORK, 2 },
		{ WAIT_CORK, 0 }, { WAIT_LARGE | WAIT_LATER, 2 },
		{ WAIT_LATER, 0 }, { 0, 0 },
	};
	int	any = get_option(IPPROTO_TCP, TCP_NOTSENT_LOWAT);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(write_text("0", cases[i].flags),
		    (cases[i].flags & WAIT_LATER) != 0 ? NET_WRITE : NET_DONE);
		ck_assert_int_eq(get_priority(), cases[i].priority);
		ck_assert_int_eq(get_option(IPPROTO_TCP, TCP_NOTSENT_LOWAT) ==
		    any, i == 0);
		sock.drained = true;
		ck_assert_int_eq(ask_input(0), NET_READ);
		ck_assert_int_eq(ask(WAIT_BACKEND, WAIT_INPUT), NET_NONE);
		ck_assert_int_eq(get_priority(), cases[i].priority);
	}
}
END_TEST

/* A socket that holds much may get another priority. */
START_TEST(priority_of_full)
{
	while (write_bytes(large, LARGE, WAIT_LARGE) == NET_DONE)
		ck_assert_int_eq(w.outcome, OUTCOME_READY);
	ck_assert(sock.full);
	ck_assert_int_eq(write_bytes(large, LARGE, 0), NET_WRITE);
	ck_assert_int_eq(get_priority(), 0);
}
END_TEST
#endif

/* The end pushes what is held back, once. */
START_TEST(end_of_output)
{
	ck_assert_int_eq(write_text("one", WAIT_MORE), NET_DONE);
	ck_assert(!is_ready(ours, 0));
	sock.drained = true;
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(ask_input(WAIT_END), NET_READ);
	ck_assert(sock.ended);
	expect_heard("one");
	expect_end();
	ck_assert_int_eq(write(ours, "0", 1), 1);
	ck_assert(is_ready(sock.fd, SOON));
	ck_assert_int_eq(ask_input(WAIT_AGAIN), NET_DONE);
	expect_done(1);
}
END_TEST

START_TEST(closes)
{
	ck_assert_int_eq(write_text("one", WAIT_CORK), NET_DONE);
	ck_assert_int_eq(ask(WAIT_CLOSE, WAIT_END), NET_NONE);
	net_close(&sock, WAIT_END);
	sock.fd = -1;
	expect_heard("one");
	expect_end();
}
END_TEST

START_TEST(resets)
{
	char	byte;

	net_close(&sock, WAIT_RESET);
	sock.fd = -1;
	ck_assert(is_ready(ours, SOON));
	ck_assert_int_eq(read(ours, &byte, 1), -1);
	ck_assert_int_eq(errno, ECONNRESET);
}
END_TEST

/* A client that has said all is there until it is reset. */
START_TEST(gone)
{
	const struct linger	at_once = { .l_onoff = 1, .l_linger = 0 };
	struct pollfd		p = { .fd = sock.fd };

	ck_assert(!net_is_gone(&sock));
	ck_assert_int_eq(write(ours, "x", 1), 1);
	ck_assert_int_eq(shutdown(ours, SHUT_WR), 0);
	ck_assert(is_ready(sock.fd, SOON));
	ck_assert(!net_is_gone(&sock));
	ck_assert_int_eq(setsockopt(ours, SOL_SOCKET, SO_LINGER, &at_once,
	    sizeof(at_once)), 0);
	close(ours);
	ours = -1;
	ck_assert_int_eq(poll(&p, 1, SOON), 1);
	ck_assert(net_is_gone(&sock));
}
END_TEST

static in_port_t
get_port(int fd)
{
	struct sockaddr_in	sin = { 0 };
	socklen_t		len = sizeof(sin);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	return ntohs(sin.sin_port);
}

/* Both ends, whatever layer there is; none of what is no socket. */
START_TEST(addresses)
{
	struct net		 none = { NULL, NULL };
	struct wait_addresses	 a;
	int			 ends[2];

	for (int i = 0; i < 2; i++) {
		memset(&a, 0xff, sizeof(a));
		sock.net = i == 0 ? NULL : &none;
		w = (struct wait){ .addresses = &a };
		ck_assert_int_eq(ask(WAIT_ADDRESSES, 0), NET_DONE);
		expect_done(0);
		ck_assert_int_eq(sockaddr_port(&a.own), get_port(sock.fd));
		ck_assert_int_eq(sockaddr_port(&a.peer), get_port(ours));
	}
	sock.net = NULL;
	close(sock.fd);
	ck_assert_int_eq(pipe(ends), 0);
	sock.fd = ends[0];
	ck_assert_int_eq(ask(WAIT_ADDRESSES, 0), NET_DONE);
	ck_assert_int_eq(a.own.ss_family, AF_UNSPEC);
	ck_assert_int_eq(a.peer.ss_family, AF_UNSPEC);
	close(ends[1]);
}
END_TEST

/* A layer. */

static enum net_state	 answer;
static int		 performed, closed;

static enum net_state
perform(struct net *net, struct net_sock *s, struct wait *wait)
{
	ck_assert_ptr_eq(net, s->net);
	ck_assert_ptr_eq(wait, &w);
	performed++;
	return answer;
}

static void
end_layer(struct net *net, struct net_sock *s, unsigned flags)
{
	(void)net;
	closed++;
	net_close_sock(s, flags);
}

/* A layer sees each wait, even of a socket that is drained, and says what it
 * would block on. */
START_TEST(layer)
{
	struct net	net = { perform, end_layer };

	sock.net = &net;
	sock.drained = true;
	performed = closed = 0;
	for (int i = NET_DONE; i <= NET_WRITE; i++) {
		answer = (enum net_state)i;
		ck_assert_int_eq(ask_input(0), answer);
		ck_assert_int_eq(w.outcome, OUTCOME_PENDING);
		ck_assert_int_eq(write_text("0", 0), answer);
	}
	answer = NET_NONE;
	ck_assert_int_eq(ask(WAIT_DISK, 0), NET_NONE);
	ck_assert_int_eq(performed, 7);
	net_close(&sock, 0);
	sock.fd = -1;
	ck_assert_int_eq(closed, 1);
}
END_TEST

/* A READ that does not wait times out, whatever a layer would block on. */
START_TEST(layer_without_wait)
{
	struct net	net = { perform, end_layer };

	sock.net = &net;
	answer = (enum net_state)_i;
	w = (struct wait){ .room = room, .size = sizeof(room) };
	ck_assert_int_eq(ask(WAIT_READ, WAIT_AGAIN), NET_DONE);
	ck_assert_int_eq(w.outcome, OUTCOME_TIMED_OUT);
	sock.net = NULL;
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, reads);
	tcase_add_test(t, drained);
	tcase_add_test(t, end_of_input);
	tcase_add_test(t, read_later);
	tcase_add_test(t, no_wait);
	tcase_add_test(t, writes);
	tcase_add_test(t, full);
	tcase_add_test(t, write_later);
#ifdef __linux__
	tcase_add_test(t, sends_a_file);
	tcase_add_loop_test(t, cork, 0, 4);
	tcase_add_test(t, reports_late);
	tcase_add_test(t, has_room);
	tcase_add_test(t, large_is_not_late);
	tcase_add_test(t, priority);
	tcase_add_test(t, priority_of_full);
#endif
	tcase_add_test(t, broken);
	tcase_add_test(t, end_of_output);
	tcase_add_test(t, closes);
	tcase_add_test(t, resets);
	tcase_add_test(t, gone);
	tcase_add_test(t, addresses);
	tcase_add_test(t, layer);
	tcase_add_loop_test(t, layer_without_wait, NET_READ, NET_WRITE + 1);
}
