/*
 * Tests of programs/servers: the test is main, and the servers as well.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/unit/programs/mains.h"

/* Indices in programs. */
enum { UNIX, INTERNET, TWO, SHORT, ONE, SILENT, NOWHERE, PROGRAMS };
enum { FIRST, SECOND, PORT, SERVERS };

static char		 texts[SERVERS][80];	/* of the conf */
static int		 sockets[SERVERS];
static char		*first[] = { texts[FIRST] };
static char		*both[] = { texts[FIRST], texts[SECOND] };
static char		*port[] = { texts[PORT] };
static char		*nowhere[] = { (char []){ "[fe80::1%nowhere]:1" } };
static char		*silent[] = { texts[PORT], texts[SECOND] };

#define PROGRAM(NAME, how, n) .name = (char []){ NAME },		\
	.protocol = (how), .queue = (n)

static struct conf_program programs[PROGRAMS] = {
	[UNIX] = { PROGRAM("unix", CONF_FASTCGI, 10),
	    .servers = { first, 1 }, .most = 10, .within = WAIT_MS },
	[INTERNET] = { PROGRAM("internet", CONF_SCGI, 10),
	    .servers = { port, 1 }, .most = 10, .within = WAIT_MS },
	[TWO] = { PROGRAM("two", CONF_FASTCGI, 10), .servers = { both, 2 },
	    .most = 10, .within = WAIT_MS },
	[SHORT] = { PROGRAM("short", CONF_FASTCGI, 10),
	    .servers = { both, 2 }, .most = 1, .within = 250 },
	[ONE] = { PROGRAM("one", CONF_SCGI, 1), .servers = { first, 1 },
	    .most = 1, .within = WAIT_MS },
	[NOWHERE] = { PROGRAM("nowhere", CONF_FASTCGI, 10),
	    .servers = { nowhere, 1 }, .most = 1, .within = 250 },
	[SILENT] = { PROGRAM("silent", CONF_FASTCGI, 10),
	    .servers = { silent, 2 }, .most = 10, .within = WAIT_MS },
};
static const struct conf conf = { .programs = programs,
    .nprograms = PROGRAMS };

/* A bound socket that does not listen refuses connections. */
static void
bind_port(void)
{
	struct sockaddr_in	address = { .sin_family = AF_INET };
	socklen_t		len = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sockets[PORT] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(sockets[PORT], (struct sockaddr *)&address,
	    len), 0);
	ck_assert_int_eq(getsockname(sockets[PORT],
	    (struct sockaddr *)&address, &len), 0);
	snprintf(texts[PORT], sizeof(texts[PORT]), "127.0.0.1:%d",
	    ntohs(address.sin_port));
}

static void
bind_file(int server)
{
	struct sockaddr_un	address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, texts[server] + strlen("unix:"));
	sockets[server] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(sockets[server], (struct sockaddr *)&address,
	    sizeof(address)), 0);
}

static void
listen_at(int server)
{
	if (sockets[server] == -1)
		bind_file(server);
	ck_assert_int_eq(listen(sockets[server], 10), 0);
}

static void
set_up(void)
{
	ck_assert_ptr_ne(mkdtemp(directory), NULL);
	for (int i = 0; i < SERVERS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "unix:%s/%d", directory,
		    i);
		sockets[i] = -1;
	}
	bind_port();
	start_manager(&conf);
}

static void
tear_down(void)
{
	for (int i = 0; i < SERVERS; i++)
		io_close(&sockets[i]);
	end_manager();
}

/*
 * Requests
 */

struct exchange {
	int	request, connection, server;
};

static int
ask(uint32_t program)
{
	return start_texts(program, "", "", -1);
}

/* Waits for a connection, which must be to that server. */
static struct exchange
await_exchange(int request, int server)
{
	struct exchange	x = { .request = request };
	char		text[3] = "";

	x.connection = await_start(request);
	await_input(sockets[server]);
	x.server = accept(sockets[server], NULL, NULL);
	ck_assert_int_ne(x.server, -1);
	ck_assert_int_eq(io_write_all(x.connection, "hi", 2), 0);
	ck_assert_int_eq(read(x.server, text, 2), 2);
	ck_assert_str_eq(text, "hi");
	return x;
}

/* Neither main nor the manager has the connection any more. */
static void
await_closed(struct exchange *x)
{
	io_close(&x->connection);
	await_no_process(&x->server);
}

static void
finish(struct exchange *x)
{
	ck_assert_int_eq(program_message_send_done(x->request,
	    &(struct program_done){ .nanswered = 1 }), 0);
	await_end(&x->request);
	await_closed(x);
}

START_TEST(connects)
{
	const uint32_t	program[] = { UNIX, INTERNET };
	const int	server[] = { FIRST, PORT };
	struct exchange	x;

	listen_at(server[_i]);
	for (int i = 0; i < 3; i++) {
		x = await_exchange(ask(program[_i]), server[_i]);
		finish(&x);
	}
	/* A main that goes away. */
	x = await_exchange(ask(program[_i]), server[_i]);
	io_close(&x.request);
	await_closed(&x);
}
END_TEST

START_TEST(takes_the_least_busy)
{
	struct exchange	a, b, c, d;

	listen_at(FIRST);
	listen_at(SECOND);
	a = await_exchange(ask(TWO), FIRST);
	b = await_exchange(ask(TWO), SECOND);
	c = await_exchange(ask(TWO), FIRST);
	d = await_exchange(ask(TWO), SECOND);
	finish(&b);
	b = await_exchange(ask(TWO), SECOND);
	io_close(&a.request);
	await_closed(&a);
	finish(&c);
	c = await_exchange(ask(TWO), FIRST);
	finish(&b);
	finish(&c);
	finish(&d);
}
END_TEST

/* A server that has not read a request is not asked again at once, though it is
 * the least busy. */
START_TEST(avoids_one_that_went)
{
	struct exchange	a, b;

	listen_at(FIRST);
	listen_at(SECOND);
	a = await_exchange(ask(TWO), FIRST);
	ck_assert_int_eq(program_message_send_done(a.request,
	    &(struct program_done){ .nanswered = 1, .unread = true }), 0);
	await_end(&a.request);
	await_closed(&a);
	a = await_exchange(ask(TWO), SECOND);
	b = await_exchange(ask(TWO), SECOND);
	finish(&a);
	finish(&b);
}
END_TEST

START_TEST(takes_the_next_one)
{
	struct exchange	a, b;

	listen_at(SECOND);
	a = await_exchange(ask(TWO), SECOND);
	await_line("warn: two: cannot connect to unix:/");
	await_line(": No such file or directory; requests go to another "
	    "server, or wait for up to ");
	await_line(" ms (within); look whether it runs, and listens there\n");
	/* The first one is the last to be tried for some time. */
	listen_at(FIRST);
	b = await_exchange(ask(TWO), SECOND);
	finish(&a);
	finish(&b);
	/* A server that ends. */
	io_close(&sockets[SECOND]);
	a = await_exchange(ask(TWO), FIRST);
	finish(&a);
}
END_TEST

START_TEST(waits_for_a_server)
{
	const uint32_t	program[] = { UNIX, INTERNET };
	const int	server[] = { FIRST, PORT };
	int		requests[3];
	struct exchange	x;

	for (int i = 0; i < 3; i++)
		requests[i] = ask(program[_i]);
	await_line("cannot connect to ");
	await_line("; requests wait for up to ");
	/* One that has no time. */
	io_close(&requests[1]);
	listen_at(server[_i]);
	x = await_exchange(requests[0], server[_i]);
	finish(&x);
	x = await_exchange(requests[2], server[_i]);
	finish(&x);
}
END_TEST

START_TEST(tells_that_there_is_none)
{
	int	request = ask(SHORT);

	ck_assert_int_eq(await_error(request), ENOENT);
	await_end(&request);
	bind_file(SECOND);
	bind_file(FIRST);
	request = ask(SHORT);
	ck_assert_int_eq(await_error(request), ECONNREFUSED);
	await_end(&request);
}
END_TEST

/* Its interface is not there. */
START_TEST(tells_that_there_is_no_address)
{
	int	request = ask(NOWHERE);

	ck_assert_int_eq(await_error(request), EADDRNOTAVAIL);
	await_end(&request);
	await_line("cannot connect to [fe80::1%nowhere]:1: ");
}
END_TEST

/* Main takes no report, as its socket is full: the request ends, and another one
 * has its place. */
START_TEST(ends_what_cannot_be_told)
{
	struct program_start	start = { .program = ONE };
	struct program_report	report = { .kind = PROGRAM_BUSY };
	struct exchange		x;
	int			fds[2], output, n;

	listen_at(FIRST);
	ck_assert_int_eq(io_record_pipe(fds), 0);
	ck_assert_int_eq(io_nonblock(fds[1]), 0);
	while (program_message_send_report(fds[1], &report, -1) == 0)
		continue;
	ck_assert_int_eq(program_message_send_start(mains, &start, fds[1]), 0);
	close(fds[1]);
	/* The first connection is closed. */
	await_input(sockets[FIRST]);
	close(accept(sockets[FIRST], NULL, NULL));
	x = await_exchange(ask(ONE), FIRST);
	finish(&x);
	while ((n = program_message_recv_report(fds[0], &report, &output)) ==
	    1)
		continue;
	ck_assert_int_eq(n, 0);
	close(fds[0]);
}
END_TEST

START_TEST(limits_connections)
{
	struct program_report	report;
	struct exchange		x;
	struct pollfd		fd = { .events = POLLIN };
	int			second, third;

	listen_at(FIRST);
	x = await_exchange(ask(ONE), FIRST);
	second = ask(ONE);
	third = ask(ONE);
	await_report(third, PROGRAM_BUSY, &report);
	await_end(&third);
	fd.fd = second;
	ck_assert_int_eq(poll(&fd, 1, 0), 0);
	finish(&x);
	x = await_exchange(second, FIRST);
	finish(&x);
	x = await_exchange(ask(SHORT), FIRST);
	second = ask(SHORT);
	await_report(second, PROGRAM_BUSY, &report);
	await_end(&second);
	finish(&x);
}
END_TEST

/* A backlog that is full refuses, too: EAGAIN. */
START_TEST(waits_for_a_busy_server)
{
	struct exchange	x;
	int		waiting[5], n = 0;

	bind_file(FIRST);
	ck_assert_int_eq(listen(sockets[FIRST], 0), 0);
	while (n < 5)
		waiting[n++] = ask(UNIX);
	await_line(": Resource temporarily unavailable; ");
	for (int i = 0; i < n; i++) {
		x = await_exchange(waiting[i], FIRST);
		finish(&x);
	}
}
END_TEST

/* A port with a full backlog does not answer.  After some time one request alone
 * tries it again. */
START_TEST(tries_one_at_a_time)
{
	struct exchange		x[4];
	struct sockaddr_in	address;
	socklen_t		len = sizeof(address);
	int			full = socket(AF_INET, SOCK_STREAM |
				    SOCK_CLOEXEC, 0), request, probe;

	listen_at(SECOND);
	ck_assert_int_eq(listen(sockets[PORT], 0), 0);
	ck_assert_int_eq(getsockname(sockets[PORT],
	    (struct sockaddr *)&address, &len), 0);
	ck_assert_int_eq(connect(full, (struct sockaddr *)&address, len), 0);
	request = ask(SILENT);
	await_line(": Connection timed out; requests go to another");
	x[0] = await_exchange(request, SECOND);
	sleep(6);		/* more than it is avoided for */
	probe = ask(SILENT);
	for (int i = 1; i < 4; i++) {
		request = ask(SILENT);
		ck_assert_int_eq(poll(&(struct pollfd){ .fd = request,
		    .events = POLLIN }, 1, 1000), 1);
		x[i] = await_exchange(request, SECOND);
	}
	ck_assert_int_eq(poll(&(struct pollfd){ .fd = probe,
	    .events = POLLIN }, 1, 0), 0);
	io_close(&probe);
	for (int i = 0; i < 4; i++)
		finish(&x[i]);
	close(full);
}
END_TEST

START_TEST(ends_with_main)
{
	struct exchange	x;

	listen_at(FIRST);
	x = await_exchange(ask(UNIX), FIRST);
	io_close(&mains);
	finish(&x);
	ck_assert_int_eq(await_manager(), 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, connects, 0, 2);
	tcase_add_test(tests, takes_the_least_busy);
	tcase_add_test(tests, avoids_one_that_went);
	tcase_add_test(tests, takes_the_next_one);
	tcase_add_loop_test(tests, waits_for_a_server, 0, 2);
	tcase_add_test(tests, tells_that_there_is_none);
	tcase_add_test(tests, tells_that_there_is_no_address);
	tcase_add_test(tests, ends_what_cannot_be_told);
	tcase_add_test(tests, limits_connections);
	tcase_add_test(tests, waits_for_a_busy_server);
	tcase_add_test(tests, tries_one_at_a_time);
	tcase_add_test(tests, ends_with_main);
}
