/*
 * Tests of the listening sockets: what the system is told of them, and of those
 * that are accepted from them, as the system tells it.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "shared/listener.h"
#include "t/unit/conf/confs.h"

#define WHERE	"site a.org {\nlisten 127.0.0.1:0\nroot /\n}\n"

static struct conf	*conf;
static struct listener	*listeners;
static size_t		 n;

static int
start(const char *text)
{
	conf = good(text);
	listeners = listener_open(conf, NULL, &n);
	ck_assert_ptr_nonnull(listeners);
	ck_assert_uint_eq(n, 1);
	return listeners[0].fd;
}

static void
stop(void)
{
	listener_close(&listeners, n);
	conf_free(&conf);
}

static int
option(int fd, int level, int name)
{
	int		value = -1;
	socklen_t	len = sizeof(value);

	ck_assert_int_eq(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

/* A client's socket. */
static int
knock(int listener)
{
	struct sockaddr_storage	 addr;
	socklen_t		 len = sizeof(addr);
	int			 fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&addr, &len),
	    0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, len), 0);
	return fd;
}

static int
accepted(int listener)
{
	struct pollfd	p = { .fd = listener, .events = POLLIN };
	int		fd;

	ck_assert_int_eq(poll(&p, 1, 30000), 1);
	fd = accept(listener, NULL, NULL);
	ck_assert_int_ne(fd, -1);
	return fd;
}

#ifdef __linux__
static struct tcp_info
tcp(int fd)
{
	struct tcp_info	info;
	socklen_t	len = sizeof(info);

	ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
	return info;
}

/* Of a listening socket this is its queue's limit. */
static unsigned
backlog(int fd)
{
	return tcp(fd).tcpi_sacked;
}

static unsigned
somaxconn(void)
{
	FILE		*f = fopen("/proc/sys/net/core/somaxconn", "r");
	unsigned	 most = 0;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%u", &most), 1);
	fclose(f);
	return most;
}

START_TEST(queue)
{
	unsigned	most = somaxconn();

	ck_assert_uint_eq(backlog(start(WHERE)), most < 4096 ? most : 4096);
	stop();
	ck_assert_uint_eq(backlog(start("transport { backlog 7 }\n" WHERE)), 7);
	stop();
}
END_TEST

/* A client's socket that has begun to connect. */
static int
approach(int listener)
{
	struct sockaddr_storage	 addr;
	socklen_t		 len = sizeof(addr);
	int			 fd = socket(AF_INET, SOCK_STREAM |
				    SOCK_NONBLOCK, 0);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&addr, &len),
	    0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, len), -1);
	ck_assert_int_eq(errno, EINPROGRESS);
	return fd;
}

/* A client that has connected is served, a later one does not get in. */
START_TEST(bolted)
{
	int	listener = start(WHERE), early = knock(listener);
	int	late, fd;
	char	got;

	ck_assert(!listener_is_blocked(&listeners[0]));
	listener_block_new(&listeners[0]);
	if (geteuid() != 0 && !listener_is_blocked(&listeners[0])) {
		stop();		/* some systems keep that for root */
		close(early);
		return;
	}
	ck_assert(listener_is_blocked(&listeners[0]));
	late = approach(listener);
	ck_assert_int_eq(tcp(late).tcpi_state, TCP_SYN_SENT);
	fd = accepted(listener);
	ck_assert_int_eq(accept(listener, NULL, NULL), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(write(early, "x", 1), 1);
	ck_assert_int_eq(read(fd, &got, 1), 1);
	stop();
	ck_assert_int_eq(write(fd, "y", 1), 1);
	ck_assert_int_eq(read(early, &got, 1), 1);
	ck_assert_int_eq(got, 'y');
	close(fd);
	close(early);
	close(late);
}
END_TEST

/* A connection is not accepted before its first byte. */
START_TEST(defer)
{
	int		listener = start("transport { defer 20s }\n" WHERE);
	int		client = knock(listener), fd;
	struct pollfd	p = { .fd = listener, .events = POLLIN };

	ck_assert_int_ge(option(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT), 20);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	ck_assert_int_eq(write(client, "x", 1), 1);
	fd = accepted(listener);
	close(fd);
	close(client);
	stop();
	listener = start(WHERE);
	ck_assert_int_eq(option(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT), 1);
	stop();
	listener = start("transport { defer 0s }\n" WHERE);
	ck_assert_int_eq(option(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT), 0);
	client = knock(listener);
	fd = accepted(listener);
	close(fd);
	close(client);
	stop();
}
END_TEST
#endif

START_TEST(inherited)
{
	int	listener = start("transport { buffer 64K; nodelay off }\n"
		    WHERE);
	int	client = knock(listener), fd = accepted(listener);

	ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
	/* Linux says twice as much: it counts what it needs itself. */
	ck_assert_int_ge(option(fd, SOL_SOCKET, SO_SNDBUF), 64 << 10);
	ck_assert_int_le(option(fd, SOL_SOCKET, SO_SNDBUF), 128 << 10);
	close(fd);
	close(client);
	stop();
	listener = start(WHERE);
	client = knock(listener);
	fd = accepted(listener);
	ck_assert_int_ne(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
	close(fd);
	close(client);
	stop();
}
END_TEST

/* An address in use: an error, and no sockets. */
START_TEST(taken)
{
	char	url[100], text[200];
	int	port;

	start(WHERE);
	listener_url(&listeners[0], url, sizeof(url));
	ck_assert_int_eq(sscanf(url, "http://127.0.0.1:%d/", &port), 1);
	snprintf(text, sizeof(text),
	    "site a.org {\nlisten 127.0.0.1:%d\nroot /\n}\n", port);
	{
		struct conf	*again = good(text);
		size_t		 none;

		ck_assert_ptr_null(listener_open(again, NULL, &none));
		conf_free(&again);
	}
	stop();
}
END_TEST

/* A socket that stays is as the new conf wants it. */
START_TEST(kept)
{
	struct listeners	 before;
	struct listener		*more;
	struct conf		*again;
	size_t			 nmore;
	int			 fd = start(WHERE);

	ck_assert_int_ne(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
	before = (struct listeners){ .conf = conf, .at = listeners, .n = n };
	again = good("transport {\nnodelay off\n}\n" WHERE);
	more = listener_open(again, &before, &nmore);
	ck_assert_ptr_nonnull(more);
	ck_assert_uint_eq(nmore, 1);
	ck_assert_int_ne(more[0].fd, fd);
	ck_assert_int_eq(option(more[0].fd, IPPROTO_TCP, TCP_NODELAY), 0);
	ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
	listener_close(&more, nmore);
	conf_free(&again);
	stop();
}
END_TEST

/* A socket that somebody else has bound, at any port; IPv6 ones as they are by
 * default, for IPv4 as well, or not. */
static int
foreign(int family, bool only, int *port)
{
	struct sockaddr_in	 v4 = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_ANY) };
	struct sockaddr_in6	 v6 = { .sin6_family = AF_INET6 };
	int			 fd = socket(family, SOCK_STREAM, 0), v = only;
	socklen_t		 len = family == AF_INET ? sizeof(v4) :
				    sizeof(v6);
	void			*at = family == AF_INET ? (void *)&v4 :
				    (void *)&v6;

	if (fd == -1)
		return -1;
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v, sizeof(v));
	ck_assert_int_eq(bind(fd, at, len), 0);
	ck_assert_int_eq(listen(fd, 5), 0);
	ck_assert_int_eq(getsockname(fd, at, &len), 0);
	*port = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	return fd;
}

/* How many listeners a conf has with that one socket; same: which of them is
 * it, as a bit each. */
static size_t
with_passed(int fd, const char *format, int port, unsigned *same)
{
	struct listeners	 passed = { .passed = &fd, .npassed = 1 };
	struct listener		*l;
	struct stat		 a, b;
	char			 text[200];
	size_t			 nl;

	snprintf(text, sizeof(text), format, port);
	conf = good(text);
	l = listener_open(conf, &passed, &nl);
	ck_assert_ptr_nonnull(l);
	ck_assert_int_eq(fstat(fd, &a), 0);
	*same = 0;
	for (size_t i = 0; i < nl; i++) {
		ck_assert_int_eq(fstat(l[i].fd, &b), 0);
		ck_assert_int_ne(l[i].fd, fd);
		*same |= (unsigned)(a.st_ino == b.st_ino) << l[i].number;
	}
	listener_close(&l, nl);
	conf_free(&conf);
	return nl;
}

#define AT(address)	"site a.org {\nlisten " address "\nroot /\n}\n"

START_TEST(passed)
{
	unsigned	same;
	int		port, fd = foreign(AF_INET, false, &port);

	ck_assert(listener_is_fit(fd));
	ck_assert_uint_eq(with_passed(fd, AT("0.0.0.0:%d"), port, &same), 1);
	ck_assert_uint_eq(same, 1);
	/* Any will do, unless it is somebody else's. */
	ck_assert_uint_eq(with_passed(fd, AT("0.0.0.0:0"), port, &same), 1);
	ck_assert_uint_eq(same, 1);
	ck_assert_uint_eq(with_passed(fd, "site a.org {\nlisten 0.0.0.0:0\n"
	    "listen 0.0.0.0:%d\nroot /\n}\n", port, &same), 2);
	ck_assert_uint_eq(same, 2);
	/* Another address: it is left alone. */
	ck_assert_uint_eq(with_passed(fd, AT("127.0.0.1:0"), port, &same), 1);
	ck_assert_uint_eq(same, 0);
	close(fd);
}
END_TEST

/* One for IPv6 only, at a port that is free for IPv4: others use some. */
static int
foreign_beside(int *port)
{
	struct sockaddr_in	v4 = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_ANY) };
	int			fd, probe;
	bool			is_free;

	for (;;) {
		fd = foreign(AF_INET6, true, port);
		probe = socket(AF_INET, SOCK_STREAM, 0);
		v4.sin_port = htons((in_port_t)*port);
		is_free = bind(probe, (struct sockaddr *)&v4,
		    sizeof(v4)) == 0 && listen(probe, 5) == 0;
		close(probe);
		if (is_free)
			return fd;
		close(fd);
	}
}

START_TEST(passed_for_both)
{
	unsigned	same;
	int		port, fd = foreign(AF_INET6, false, &port);

	if (fd == -1)
		return;			/* no IPv6 here */
	/* Both of * are served by it, which is bound once. */
	ck_assert_uint_eq(with_passed(fd, AT("*:%d"), port, &same), 1);
	ck_assert_uint_ne(same, 0);
	ck_assert_uint_eq(with_passed(fd, AT("0.0.0.0:%d"), port, &same), 1);
	ck_assert_uint_eq(same, 1);
	close(fd);
	fd = foreign_beside(&port);
	ck_assert_uint_eq(with_passed(fd, AT("*:%d"), port, &same), 2);
	ck_assert(same == 1 || same == 2);
	close(fd);
}
END_TEST

START_TEST(unfit)
{
	struct listener	 l = { .number = 0 };
	int		 fd = socket(AF_INET, SOCK_STREAM, 0), port, pair[2];

	ck_assert(!listener_is_fit(fd));		/* it does not listen */
	close(fd);
	ck_assert(!listener_is_fit(-1));
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert(!listener_is_fit(pair[0]));
	l.fd = foreign(AF_INET, false, &port);
	fd = foreign(AF_INET, false, &port);
	ck_assert(listener_has(&l, 1, l.fd));
	ck_assert(!listener_has(&l, 1, fd));
	ck_assert(!listener_has(&l, 1, pair[0]));
}
END_TEST

/* A socket in the file system that somebody else has bound. */
START_TEST(passed_file)
{
	struct sockaddr_un	 sun;
	struct listeners	 before = { .npassed = 1 };
	char			 path[PATH_MAX + 10];
	struct stat		 st;
	int			 fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(path, sizeof(path), "%s/s", dir);
	unix_socket_address(&sun, path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	ck_assert(!listener_is_fit(fd));
	ck_assert_int_eq(listen(fd, 5), 0);
	ck_assert(listener_is_fit(fd));
	before.passed = &fd;
	conf = good("site a.org { listen unix:$/s; root / }\n");
	listeners = listener_open(conf, &before, &n);
	ck_assert_ptr_nonnull(listeners);
	ck_assert(listener_has(listeners, n, fd));
	ck_assert(!listeners[0].made);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert(listeners[0].file.ino == st.st_ino);
	stop();
	/* One at another name stays alone. */
	conf = good("site a.org { listen unix:$/t mode 0604; root / }\n");
	listeners = listener_open(conf, &before, &n);
	ck_assert_ptr_nonnull(listeners);
	ck_assert(!listener_has(listeners, n, fd));
	ck_assert(listeners[0].made);
	ck_assert_str_eq(strrchr(listener_file(conf, listeners), '/'), "/t");
	ck_assert_int_eq(stat(listener_file(conf, listeners), &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFSOCK | 0604);
	stop();
	close(fd);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, kept);
	tcase_add_test(tests, passed);
	tcase_add_test(tests, passed_file);
	tcase_add_test(tests, passed_for_both);
	tcase_add_test(tests, unfit);
#ifdef __linux__
	tcase_add_test(tests, queue);
	tcase_add_test(tests, defer);
	tcase_add_test(tests, bolted);
#endif
	tcase_add_test(tests, inherited);
	tcase_add_test(tests, taken);
}
