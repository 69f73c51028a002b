/*
 * Tests of the listening sockets: what the system is told of them, and of those
 * that are accepted from them, as the system tells it.
 */
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "arch/listener.h"
#include "t/unit/confs.h"

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
/* Of a listening socket these two are its queue's limit and its length. */
static unsigned
backlog(int fd)
{
	struct tcp_info	info;
	socklen_t	len = sizeof(info);

	ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
	return info.tcpi_sacked;
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

/* It is there, but not for us before it has said something. */
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

/* What the system refuses is said, and no more comes of it. */
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
	before = (struct listeners){ conf, listeners, n };
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

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, kept);
#ifdef __linux__
	tcase_add_test(tests, queue);
	tcase_add_test(tests, defer);
#endif
	tcase_add_test(tests, inherited);
	tcase_add_test(tests, taken);
}
