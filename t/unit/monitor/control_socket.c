/*
 * Unit test of monitor/control_socket.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fcntl.h>
#include <string.h>

#include "t/unit/conf/confs.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "monitor/control_socket.h"

static struct conf	*conf;
static char		 file[PATH_MAX + 10], hidden[PATH_MAX + 20];

static void
make_conf(const char *control)
{
	struct buf	text = { 0 };

	conf_free(&conf);
	buf_addf(&text, "control %s\n" SITE, control);
	conf = read_conf(buf_string(&text));
	ck_assert_msg(conf != NULL, "%s", buf_string(&errors));
	buf_free(&text);
}

static void
prepare(void)
{
	setup();
	snprintf(file, sizeof(file), "%s/s", dir);
	snprintf(hidden, sizeof(hidden), "%s/s.new", dir);
	make_conf("$/s");
}

static void
clear(void)
{
	conf_free(&conf);
	teardown();
}

static mode_t
mode_of(const char *name)
{
	struct stat	st;

	return lstat(name, &st) == 0 ? st.st_mode : 0;
}

static int
knock(const char *name)
{
	struct sockaddr_un	sun = { .sun_family = AF_UNIX };
	int			fd, done;

	ck_assert_uint_lt(strlen(name), sizeof(sun.sun_path));
	strcpy(sun.sun_path, name);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	done = connect(fd, (struct sockaddr *)&sun, sizeof(sun));
	close(fd);
	return done;
}

START_TEST(comes_and_goes)
{
	struct control_socket	s;

	make_conf("$/s mode 0640");
	ck_assert_int_eq(control_socket_open(&s, conf, NULL, false), 0);
	ck_assert_msg(mode_of(file) == 0, "it has its name already");
	ck_assert_uint_eq(mode_of(hidden), S_IFSOCK | 0640);
	control_socket_publish(&s);
	ck_assert_uint_eq(mode_of(file), S_IFSOCK | 0640);
	ck_assert_uint_eq(mode_of(hidden), 0);
	ck_assert_int_eq(knock(file), 0);
	control_socket_remove(&s);
	ck_assert_uint_eq(mode_of(file), 0);
	ck_assert_int_eq(s.fd, -1);
}
END_TEST

START_TEST(without)
{
	struct control_socket	s;

	make_conf("off");
	ck_assert_int_eq(control_socket_open(&s, conf, NULL, false), 0);
	ck_assert_int_eq(s.fd, -1);
	control_socket_publish(&s);
	control_socket_remove(&s);
}
END_TEST

START_TEST(replaces_stale)
{
	struct control_socket	dead, s;

	ck_assert_int_eq(control_socket_open(&dead, conf, NULL, false), 0);
	control_socket_publish(&dead);
	io_close(&dead.fd);	/* as if it had been killed */
	ck_assert_int_ne(knock(file), 0);
	ck_assert_int_eq(control_socket_open(&s, conf, NULL, false), 0);
	control_socket_publish(&s);
	ck_assert_int_eq(knock(file), 0);
	mem_drop(&dead.file);
	control_socket_remove(&s);
}
END_TEST

/* The socket of a server that died before the rename. */
START_TEST(replaces_hidden)
{
	struct control_socket	dead, s;

	ck_assert_int_eq(control_socket_open(&dead, conf, NULL, false), 0);
	io_close(&dead.fd);
	ck_assert_int_eq(control_socket_open(&s, conf, NULL, false), 0);
	mem_drop(&dead.file);
	control_socket_remove(&s);
	ck_assert_uint_eq(mode_of(hidden), 0);
}
END_TEST

START_TEST(leaves_others)
{
	struct control_socket	other, s, heir;

	ck_assert_int_eq(control_socket_open(&other, conf, NULL, false), 0);
	control_socket_publish(&other);
	ck_assert_int_eq(control_socket_open(&s, conf, NULL, false), -1);
	ck_assert_int_eq(s.fd, -1);
	ck_assert_int_eq(knock(file), 0);
	/* But its own, or that of who wants it to. */
	ck_assert_int_eq(control_socket_open(&s, conf, &other, false), 0);
	control_socket_publish(&s);
	control_socket_remove(&other);
	ck_assert_msg(knock(file) == 0, "the one before took it along");
	ck_assert_int_eq(control_socket_open(&heir, conf, NULL, true), 0);
	control_socket_publish(&heir);
	control_socket_remove(&s);
	ck_assert_int_eq(knock(file), 0);
	control_socket_remove(&heir);
}
END_TEST

START_TEST(leaves_files)
{
	struct control_socket	s;
	int			fd;

	fd = open(file, O_WRONLY | O_CREAT, 0600);
	close(fd);
	ck_assert_int_eq(control_socket_open(&s, conf, NULL, false), -1);
	ck_assert_int_eq(control_socket_open(&s, conf, NULL, true), -1);
	ck_assert_uint_eq(mode_of(file), S_IFREG | 0600);
	unlink(file);
	/* Nor what stands under the other name. */
	fd = open(hidden, O_WRONLY | O_CREAT, 0600);
	close(fd);
	ck_assert_int_eq(control_socket_open(&s, conf, NULL, false), -1);
	ck_assert_uint_eq(mode_of(hidden), S_IFREG | 0600);
}
END_TEST

START_TEST(stays)
{
	struct control_socket	s;
	struct conf		*other;

	ck_assert_int_eq(control_socket_open(&s, conf, NULL, false), 0);
	control_socket_publish(&s);
	other = read_conf("control $/s\nhelpers 3\n" SITE);
	ck_assert(control_socket_is_unchanged(&s, conf, other));
	conf_free(&other);
	other = read_conf("control $/s mode 0600\n" SITE);
	ck_assert(!control_socket_is_unchanged(&s, conf, other));
	conf_free(&other);
	other = read_conf(SITE);
	ck_assert(!control_socket_is_unchanged(&s, conf, other));
	conf_free(&other);
	unlink(file);		/* somebody cleans up: it is made again */
	ck_assert(!control_socket_is_unchanged(&s, conf, conf));
	control_socket_remove(&s);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, prepare, clear);
	tcase_add_test(tests, comes_and_goes);
	tcase_add_test(tests, without);
	tcase_add_test(tests, replaces_stale);
	tcase_add_test(tests, replaces_hidden);
	tcase_add_test(tests, leaves_others);
	tcase_add_test(tests, leaves_files);
	tcase_add_test(tests, stays);
}
