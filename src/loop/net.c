/*
 * net: the system's calls for sockets of clients; no other file makes them.
 */
#ifdef __linux__
#include <sys/sendfile.h>
#endif
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#ifdef __linux__
#include <linux/pkt_sched.h>
#include <linux/sockios.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/compiler.h"
#include "loop/net.h"

/* Bytes that the socket of a large response holds and has not sent. */
#define UNSENT_MAX	(128 * 1024)
/* Bytes held by a socket that reports room late.  One that holds more than MAX
 * has a fast client. */
#define LATE_MIN	(32 * 1024)
#define LATE_MAX	(1024 * 1024)
#define PART_MAX	(64 * 1024)	/* bytes of a sendfile(2) that waits */

/* Whether the system says one of these of the socket. */
static bool
is_reported(const struct net_sock *s, short events)
{
	struct pollfd	p = { .fd = s->fd, .events = events };

	return poll(&p, 1, 0) == 1 && (p.revents & events) != 0;
}

/* A failure only costs more packets. */
static NOINLINE void
set_cork(struct net_sock *s, bool on)
{
#ifdef TCP_CORK
	int	value = on;

	setsockopt(s->fd, IPPROTO_TCP, TCP_CORK, &value, sizeof(value));
#endif
	s->corked = on;
}

/* The socket takes output while it holds fewer unsent bytes than these, and
 * reports room when it holds less than half of them; 0: no bound. */
static bool
bound_unsent(const struct net_sock *s, int bytes)
{
#ifdef TCP_NOTSENT_LOWAT
	return setsockopt(s->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes,
	    sizeof(bytes)) == 0;
#else
	(void)s, (void)bytes;
	return false;
#endif
}

static void
report_soon(struct net_sock *s)
{
	bound_unsent(s, 0);
	s->late = false;
}

/* The queue of a device sends what has a higher priority first, if it has
 * bands.  A failure only costs the order. */
static void
set_large(struct net_sock *s, bool large)
{
#ifdef SO_PRIORITY
	int	priority = large ? TC_PRIO_BULK : TC_PRIO_BESTEFFORT;

	setsockopt(s->fd, SOL_SOCKET, SO_PRIORITY, &priority,
	    sizeof(priority));
#endif
	/* With a bound, the end of a large response that gets a higher priority
	 * is short: what the socket holds goes before what is small. */
	if (!s->bounded)
		bound_unsent(s, UNSENT_MAX);
	s->bounded = true;
	s->late = false;
	s->large = large;
}

static void
end_output(struct net_sock *s)
{
	if (!s->ended)
		shutdown(s->fd, SHUT_WR);
	s->ended = true;
}

static inline bool
would_block(ssize_t n)
{
	return n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* Notes the result of a call. */
static ALWAYS_INLINE enum net_state
note_result(struct wait *w, ssize_t n)
{
	w->n = n;
	if (n == -1)
		w->error = errno;
	w->outcome = OUTCOME_READY;
	return NET_DONE;
}

/* A READ would block; one that does not wait has timed out. */
static NOINLINE enum net_state
block_read(struct wait *w, enum net_state state)
{
	if (w->deadline != 0)
		return state;
	w->outcome = OUTCOME_TIMED_OUT;
	return NET_DONE;
}

static ALWAYS_INLINE enum net_state
perform_read(struct net_sock *s, struct wait *w, int flags)
{
	ssize_t	n;

	if ((w->flags & WAIT_LATER) != 0) {
		s->drained = false;	/* a new watch is to report input */
		return NET_READ;
	}
	if (s->drained && (w->flags & WAIT_AGAIN) == 0)
		return NET_READ;
	do
		n = recv(s->fd, w->room, w->size, flags);
	while (n == -1 && errno == EINTR);
	if (would_block(n)) {
		s->drained = true;
		return block_read(w, NET_READ);
	}
	s->drained = (size_t)n < w->size && !s->saw_eof;
	return note_result(w, n);
}

static NOINLINE ssize_t
send_several(const struct net_sock *s, const struct wait *w, int flags)
{
	struct msghdr	msg = { 0 };

	msg.msg_iov = (struct iovec *)(uintptr_t)w->iov;
	msg.msg_iovlen = (size_t)w->niov;
	return sendmsg(s->fd, &msg, flags);
}

#ifdef __linux__

static ssize_t
send_part(const struct net_sock *s, const struct wait *w, size_t from,
    size_t n)
{
	off_t	offset = w->offset + (off_t)from;

	return sendfile(s->fd, w->file, &offset, n);
}

/* sendfile(2) has no flag by which it does not wait. */
static ssize_t
try_file(const struct net_sock *s, const struct wait *w)
{
	ssize_t	n;
	int	error;

	fcntl(s->fd, F_SETFL, O_NONBLOCK);
	n = send_part(s, w, 0, w->size);
	error = errno;
	fcntl(s->fd, F_SETFL, 0);
	errno = error;
	return n;
}

/* sendfile(2) waits anew each time that a slow client has taken some bytes, so
 * a call for all bytes could last for seconds. */
static ssize_t
send_file_waiting(const struct net_sock *s, const struct wait *w)
{
	int64_t	end = clock_us() + NET_WAIT_MS * 1000;
	size_t	sent = 0, most;
	ssize_t	n;

	do {
		most = w->size - sent < PART_MAX ? w->size - sent : PART_MAX;
		n = send_part(s, w, sent, most);
		if (n > 0)
			sent += (size_t)n;
	} while (n == (ssize_t)most && sent < w->size && clock_us() < end);
	return sent > 0 ? (ssize_t)sent : n;
}

/* Has a full socket report room when a third of its bytes are left.  The system
 * does so when two thirds are left, but to be woken costs more than to send.
 * Where the system bounds unsent bytes by itself, few of them are unsent: then
 * there would be room at once. */
static void
report_late(struct net_sock *s)
{
	size_t	held = s->bounded ? 0 : net_unacked(s);

	s->late = held >= LATE_MIN && held <= LATE_MAX &&
	    bound_unsent(s, (int)(held / 3 * 2));
	if (s->late && is_reported(s, POLLOUT))
		report_soon(s);
}

static ssize_t
send_file_at_once(struct net_sock *s, const struct wait *w)
{
	ssize_t	n = send_part(s, w, 0, w->size);

	if (n > 0 && (size_t)n < w->size)
		report_late(s);
	return n;
}

static NOINLINE ssize_t
send_file(struct net_sock *s, const struct wait *w, int flags)
{
	if (!s->can_block)
		return send_file_at_once(s, w);
	return (flags & MSG_DONTWAIT) != 0 ? try_file(s, w) :
	    send_file_waiting(s, w);
}

#else

static ssize_t
send_file(struct net_sock *s, const struct wait *w, int flags)
{
	(void)s, (void)w, (void)flags;
	errno = ENOSYS;
	return -1;
}

#endif

static ALWAYS_INLINE ssize_t
send_bytes(struct net_sock *s, const struct wait *w, int flags)
{
	if (w->kind == WAIT_SEND)
		return send_file(s, w, flags);
#ifdef MSG_MORE
	if ((w->flags & WAIT_MORE) != 0)
		flags |= MSG_MORE;
#endif
	if (w->niov > 1)
		return send_several(s, w, flags);
	/* send(2) checks less than sendmsg(2). */
	return send(s->fd, w->iov->iov_base, w->iov->iov_len, flags);
}

static ALWAYS_INLINE enum net_state
perform_write(struct net_sock *s, struct wait *w, int flags)
{
	ssize_t	n;

	if (s->full || (w->flags & WAIT_LATER) != 0)
		return NET_WRITE;
	do
		n = send_bytes(s, w, flags | MSG_NOSIGNAL);
	while (n == -1 && errno == EINTR);
	if (would_block(n)) {
		s->full = true;
		return NET_WRITE;
	}
	s->full = (size_t)n < w->size;
	return note_result(w, n);
}

static NOINLINE enum net_state
take_addresses(const struct net_sock *s, struct wait *w)
{
	struct wait_addresses	*a = w->addresses;
	socklen_t		 own = sizeof(a->own), peer = sizeof(a->peer);

	*a = (struct wait_addresses){ 0 };
	if (getsockname(s->fd, (struct sockaddr *)&a->own, &own) == -1)
		a->own.ss_family = AF_UNSPEC;
	if (getpeername(s->fd, (struct sockaddr *)&a->peer, &peer) == -1)
		a->peer.ss_family = AF_UNSPEC;
	return note_result(w, 0);
}

static bool
is_output(const struct wait *w)
{
	return w->kind == WAIT_WRITE || w->kind == WAIT_SEND;
}

/* The end of the output pushes the last bytes, in the same packet.  A socket
 * that reports late takes less until it is told to report soon. */
NOINLINE void
net_shape(struct net_sock *s, const struct wait *w)
{
	bool	cork = (w->flags & WAIT_CORK) != 0;
	bool	large = (w->flags & WAIT_LARGE) != 0;

	if (w->kind == WAIT_CLOSE)
		return;
	if ((w->flags & WAIT_END) != 0)
		end_output(s);
	if (s->corked != cork)
		set_cork(s, cork);
	if (s->late && !s->full && is_output(w))
		report_soon(s);
	if (s->large != large && is_output(w))
		set_large(s, large);
}

static ALWAYS_INLINE enum net_state
perform_operation(struct net_sock *s, struct wait *w, int flags)
{
	if (w->kind == WAIT_READ)
		return perform_read(s, w, flags);
	if (w->kind == WAIT_WRITE || w->kind == WAIT_SEND)
		return perform_write(s, w, flags);
	return w->kind == WAIT_ADDRESSES ? take_addresses(s, w) : NET_NONE;
}

enum net_state
net_perform_sock(struct net_sock *s, struct wait *w)
{
	if (s->corked || s->large || s->late ||
	    (w->flags & (WAIT_CORK | WAIT_END | WAIT_LARGE)) != 0)
		net_shape(s, w);
	return perform_operation(s, w, MSG_DONTWAIT);
}

/* A READ without a deadline does not wait. */
enum net_state
net_perform_waiting(struct net_sock *s, struct wait *w)
{
	net_shape(s, w);
	return perform_operation(s, w,
	    w->kind == WAIT_READ && w->deadline == 0 ? MSG_DONTWAIT : 0);
}

enum net_state
net_perform_layer(struct net_sock *s, struct wait *w)
{
	enum net_state	state;

	if (w->kind == WAIT_ADDRESSES)
		return net_perform_sock(s, w);
	state = s->net->perform(s->net, s, w);
	return state != NET_DONE && w->kind == WAIT_READ ?
	    block_read(w, state) : state;
}

void
net_limit(int fd)
{
	struct timeval	tv = { .tv_usec = NET_WAIT_MS * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

void
net_unblock(struct net_sock *s)
{
	s->can_block = false;
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
}

void
net_close_sock(struct net_sock *s, unsigned flags)
{
	struct linger	at_once = { .l_onoff = 1, .l_linger = 0 };

	if ((flags & WAIT_RESET) != 0)
		setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once,
		    sizeof(at_once));
	if ((flags & WAIT_END) != 0)
		end_output(s);
	close(s->fd);
}

void
net_close(struct net_sock *s, unsigned flags)
{
	if (s->net != NULL)
		s->net->close(s->net, s, flags);
	else
		net_close_sock(s, flags);
}

bool
net_is_gone(const struct net_sock *s)
{
	return is_reported(s, POLLERR | POLLHUP);
}

/* A layer may have some of its own. */
bool
net_has_input(const struct net_sock *s)
{
	return s->net != NULL || is_reported(s, POLLIN | POLLERR | POLLHUP);
}

/* Told to report soon, the socket reports what it would have reported before
 * now. */
bool
net_has_room(struct net_sock *s)
{
	if (!s->late)
		return false;
	report_soon(s);
	s->full = !is_reported(s, POLLOUT);
	return !s->full;
}

size_t
net_unacked(const struct net_sock *s)
{
	int	n = 0;

#ifdef SIOCOUTQ
	if (ioctl(s->fd, SIOCOUTQ, &n) == -1 || n < 0)
		return 0;
#else
	(void)s;
#endif
	return (size_t)n;
}
