/*
 * Tests of helpers/syslog: datagrams, and errors without a daemon or without
 * room.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>

#include "helpers/log_sink.h"
#include "helpers/syslog.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static int
listen_at(const char *path)
{
	struct sockaddr_un	sa = { .sun_family = AF_UNIX };
	int			fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	strcpy(sa.sun_path, path);
	unlink(path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* The last datagram, without the time. */
static const char *
heard(int fd)
{
	static char	 text[3000];
	char		 all[3000];
	ssize_t		 n = recv(fd, all, sizeof(all) - 1, MSG_DONTWAIT);
	char		*time;

	if (n == -1)
		return "nothing";
	all[n] = '\0';
	time = strchr(all, '>') + 1;
	ck_assert_msg(time[3] == ' ' && time[6] == ' ' && time[9] == ':' &&
	    time[12] == ':' && time[15] == ' ', "%s", all);
	snprintf(text, sizeof(text), "%.*s%s", (int)(time - all), all,
	    time + 16);
	return text;
}

static const char *
set_up(struct syslog *s, const char *what)
{
	char	text[300];

	snprintf(text, sizeof(text), "%s,%s", what, tree_path("log"));
	ck_assert(syslog_init(s, text));
	return s->path;
}

START_TEST(words)
{
	static const char *const	bad[] = { "", "daemon", "daemon,tag",
					    "daemon,tag,", "daemon,,/x",
					    "none,tag,/x", ",tag,/x" };
	struct syslog			s;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!syslog_init(&s, bad[i]), "%s", bad[i]);
	ck_assert(syslog_init(&s, "local7,my-tag,/a,b"));
	ck_assert_int_eq(s.facility, 23);
	ck_assert_str_eq(s.tag, "my-tag");
	ck_assert_str_eq(s.path, "/a,b");
}
END_TEST

START_TEST(lines)
{
	struct syslog	 s;
	const char	*path = set_up(&s, "daemon,amped");
	int		 fd = listen_at(path);
	struct log_sink	 o = { .fd = -1, .syslog = &s };
	size_t		 done = 0;

	ck_assert_int_eq(log_sink_write(&o, "one\n\ntwo", 8, &done), 0);
	ck_assert_uint_eq(done, 8);
	ck_assert_str_eq(heard(fd), "<30>amped: one");
	ck_assert_str_eq(heard(fd), "<30>amped: ");
	ck_assert_str_eq(heard(fd), "<30>amped: two");
	ck_assert_str_eq(heard(fd), "nothing");
}
END_TEST

START_TEST(grades)
{
	static const struct {
		const char	*line, *is;
	} cases[] = {
		{ "2026-01-01T00:00:01+0000 main[7] error: x y",
		    "<131>web: main[7] error: x y" },
		{ "2026-01-01T00:00:01+0000 access logger[7] warn: x",
		    "<132>web: access logger[7] warn: x" },
		{ "2026-01-01T00:00:01+0000 monitor[7] notice: x",
		    "<133>web: monitor[7] notice: x" },
		{ "2026-01-01T00:00:01+0000 main[7] debug: error: x",
		    "<135>web: main[7] debug: error: x" },
		{ "2026-01-01 no such thing as error: x",
		    "<134>web: no such thing as error: x" },
		{ "main: error: x", "<134>web: main: error: x" },
		{ "", "<134>web: " },
	};
	struct syslog	s;
	const char	*path = set_up(&s, "local0,web");
	int		 fd = listen_at(path);

	s.has_levels = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(syslog_send(&s, cases[i].line,
		    strlen(cases[i].line)), 0);
		ck_assert_str_eq(heard(fd), cases[i].is);
	}
}
END_TEST

/* The daemon starts, ends and starts again; lines meanwhile fail. */
START_TEST(comes_and_goes)
{
	struct syslog	 s;
	const char	*path = set_up(&s, "daemon,amped");
	int		 fd;

	unlink(path);
	ck_assert_int_eq(syslog_send(&s, "a", 1), -1);
	ck_assert_int_eq(errno, ENOENT);
	fd = listen_at(path);
	ck_assert_int_eq(syslog_send(&s, "b", 1), 0);
	ck_assert_str_eq(heard(fd), "<30>amped: b");
	close(fd);
	ck_assert_int_eq(syslog_send(&s, "c", 1), -1);
	ck_assert_int_eq(errno, ECONNREFUSED);
	fd = listen_at(path);
	ck_assert_int_eq(syslog_send(&s, "d", 1), 0);
	ck_assert_str_eq(heard(fd), "<30>amped: d");
	close(fd);
	/* Another daemon at the same path, without a line in between. */
	fd = listen_at(path);
	ck_assert_int_eq(syslog_send(&s, "e", 1), 0);
	ck_assert_str_eq(heard(fd), "<30>amped: e");
}
END_TEST

/* A daemon that does not read: EAGAIN when the socket is full. */
START_TEST(does_not_read)
{
	struct syslog	 s;
	const char	*path = set_up(&s, "daemon,amped");
	int		 fd = listen_at(path), n = 0;
	struct log_sink	 o = { .fd = -1, .syslog = &s };

	while (syslog_send(&s, "x", 1) == 0)
		ck_assert_int_lt(n++, 1000000);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert(!log_sink_wait(&o, 1));
	for (; n > 0; n--)
		ck_assert_str_eq(heard(fd), "<30>amped: x");
	ck_assert(log_sink_wait(&o, 1000));
	ck_assert_int_eq(syslog_send(&s, "y", 1), 0);
	ck_assert_str_eq(heard(fd), "<30>amped: y");
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, tree_begin, tree_end);
	tcase_add_test(tests, words);
	tcase_add_test(tests, lines);
	tcase_add_test(tests, grades);
	tcase_add_test(tests, comes_and_goes);
	tcase_add_test(tests, does_not_read);
}
