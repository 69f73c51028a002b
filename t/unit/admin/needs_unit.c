/*
 * Tests of admin/needs_unit: the directives of a unit and its drop-ins, in a
 * root of their own, and what they forbid.
 */
#include "admin/needs.h"
#include "lib/log.h"
#include "t/unit/conf/confs.h"

#define SHIPPED		"[Service]\nExecStart=/usr/sbin/amped -D\n"	\
			"User=www-data\nNoNewPrivileges=yes\n"		\
			"ReadWritePaths=-/var/log/amped -/var/cache/amped\n" \
			"ProtectSystem=strict\nProtectHome=read-only\n"	\
			"PrivateTmp=yes\nMemoryDenyWriteExecute=yes\n"	\
			"RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX\n" \
			"SystemCallFilter=@system-service\n"		\
			"SystemCallFilter=~@privileged @resources\n"
#define CALLS		"SystemCallFilter=\nSystemCallFilter=@system-service\n"
#define NO_CALLS	"have no effect in the unit amped.service "	\
			"(SystemCallFilter=~@resources)"

static struct buf	logged;

static void
keep_line(void *context, const char *line, size_t len)
{
	(void)context;
	buf_add(&logged, line, len);
}

static void
begin(void)
{
	setup();
	make_directory("etc");
	make_directory("etc/systemd");
	make_directory("etc/systemd/system");
	make_directory("etc/systemd/system/amped.service.d");
	make_directory("run");
	make_directory("run/systemd");
	make_directory("run/systemd/system");
	make_directory("usr");
	make_directory("usr/lib");
	make_directory("usr/lib/systemd");
	make_directory("usr/lib/systemd/system");
	make_directory("usr/lib/systemd/system/amped.service.d");
}

static void
end(void)
{
	buf_free(&logged);
	teardown();
}

static const char *
check(const struct conf *conf, const char *file)
{
	logged.len = 0;
	log_set_output(keep_line, NULL);
	needs_unit_check(conf, file, dir);
	log_set_output(NULL, NULL);
	return buf_string(&logged);
}

/* What one program is told; each word is one. */
enum what { WRITES, COMMAND, DIRECTORY, SERVER, USER };

static const char *
check_program(enum what what, char *word)
{
	static char		name[] = "p";
	struct conf_program	p = { .name = name };
	struct conf		conf = { .programs = &p, .nprograms = 1 };
	struct conf_words	words = { .at = &word, .n = 1 };

	if (what == WRITES)
		p.writes = words;
	else if (what == COMMAND)
		p.command = words;
	else if (what == SERVER)
		p.servers = words;
	else if (what == DIRECTORY)
		p.directory = word;
	else
		p.user = word;
	return check(&conf, AMPED_CONF);
}

static const struct {
	const char	*dropin;
	enum what	 what;
	const char	*word, *want;		/* "": nothing */
} cases[] = {
	{ CALLS, WRITES, "/srv/git", "program p: writes /srv/git: the unit "
	    "amped.service lets nobody write there (ProtectSystem=strict): a "
	    "drop-in needs ReadWritePaths=/srv/git\n" },
	{ CALLS "ReadWritePaths=-/srv/git\n", WRITES, "/srv/git/a", "" },
	{ CALLS "ReadWritePaths=/srv/gi\n", WRITES, "/srv/git", "(Protect" },
	{ CALLS, WRITES, "/var/cache/amped/x", "" },
	{ CALLS "ReadWritePaths=\n", WRITES, "/var/cache/amped/x", "(Protect" },
	{ CALLS "ReadWritePaths=/s\n", WRITES, "/srv", "(Protect" },
	{ CALLS "ReadWritePaths=/\n", WRITES, "/srv", "" },
	{ CALLS "BindPaths=/a:/b -/srv/git /c:/srv/x:rbind\n", WRITES,
	    "/srv/git", "" },
	{ CALLS "BindPaths=/c:/srv/x:rbind\n", WRITES, "/srv/x/y", "" },
	{ CALLS "BindPaths=/c:/srv/x\n", WRITES, "/c", "(Protect" },
	{ CALLS "StateDirectory=a php/sessions\n", WRITES,
	    "/var/lib/php/sessions", "" },
	{ CALLS "StateDirectory=php\n", WRITES, "/var/lib", "(Protect" },
	{ CALLS "CacheDirectory=x:y\n", WRITES, "/var/cache/x/z", "" },
	{ CALLS "LogsDirectory=x\n", WRITES, "/var/log/x", "" },
	{ CALLS "RuntimeDirectory=x\n", WRITES, "/run/x", "" },
	{ CALLS, WRITES, "/run/x", "(ProtectSystem=strict)" },
	{ CALLS, WRITES, "/tmp", "" },
	{ CALLS "PrivateTmp=no\n", WRITES, "/tmp", "(ProtectSystem=strict)" },
	{ CALLS, WRITES, "/home/a/x", "(ProtectHome=read-only)" },
	{ CALLS "ProtectSystem=full\n", WRITES, "/srv/git", "" },
	{ CALLS "ProtectSystem=full\n", WRITES, "/etc/x", "(ProtectSystem)" },
	{ CALLS "ProtectSystem=yes\n", WRITES, "/etc/x", "" },
	{ CALLS, COMMAND, "/home/a/run", "" },
	{ CALLS "ProtectHome=yes\n", COMMAND, "/home/a/run", "program p: "
	    "/home/a/run is not there in the unit amped.service (ProtectHome)" },
	{ CALLS "ProtectHome=tmpfs\n", DIRECTORY, "/root/cgi", "(ProtectHome)" },
	{ CALLS, DIRECTORY, "/tmp/cgi", "(PrivateTmp)" },
	{ CALLS, DIRECTORY, "/tmpfiles", "" },
	{ CALLS, DIRECTORY, "/tmp", "" },
	{ CALLS, DIRECTORY, "/var/tmp/x", "(PrivateTmp)" },
	{ CALLS "BindPaths=/tmp/cgi\n", DIRECTORY, "/tmp/cgi", "" },
	{ CALLS, SERVER, "unix:/tmp/s", "(PrivateTmp)" },
	{ CALLS, SERVER, "unix:/run/s", "" },
	{ CALLS "RestrictAddressFamilies=\nRestrictAddressFamilies=AF_UNIX\n",
	    SERVER, "127.0.0.1:9", "keeps 127.0.0.1:9 from being reached "
	    "(RestrictAddressFamilies): a drop-in needs "
	    "RestrictAddressFamilies=AF_INET\n" },
	{ CALLS "RestrictAddressFamilies=\nRestrictAddressFamilies=AF_UNIX\n",
	    SERVER, "[::1]:9", "=AF_INET6\n" },
	{ CALLS "RestrictAddressFamilies=\nRestrictAddressFamilies=AF_INET\n",
	    SERVER, "unix:/run/s", "=AF_UNIX\n" },
	{ CALLS, USER, "git", "program p: user git: the unit amped.service "
	    "starts amped as www-data, who cannot become another user" },
	{ CALLS, USER, "www-data", "" },
	{ CALLS "User=root\n", USER, "git", "" },
	{ CALLS, COMMAND, "/usr/bin/php-cgi8.2", "(MemoryDenyWriteExecute)" },
	{ CALLS "MemoryDenyWriteExecute=no\n", COMMAND, "/usr/bin/php-cgi", "" },
	{ CALLS, COMMAND, "/usr/bin/perl", "" },
	{ "", COMMAND, "/usr/bin/perl", NO_CALLS },
	{ "SystemCallFilter=@resources\n", COMMAND, "/a", "" },
	{ "SystemCallFilter=@resources\nSystemCallFilter=~@resources\n",
	    COMMAND, "/a", NO_CALLS },
	{ "SystemCallFilter=@system-service\n", COMMAND, "/a", "" },
	{ "", SERVER, "unix:/run/s", "" },
	{ "[Service] \n# ProtectSystem=no\n;x\nSystemCallFilter=\\\n\n"
	    "ProtectSystem = \\\n no\n", WRITES, "/srv", "" },
};

START_TEST(one_of_each)
{
	const char	*got;
	char		 word[64];

	write_file("usr/lib/systemd/system/amped.service", SHIPPED);
	write_file("etc/systemd/system/amped.service.d/a.conf",
	    cases[_i].dropin);
	snprintf(word, sizeof(word), "%s", cases[_i].word);
	got = check_program(cases[_i].what, word);
	ck_assert_msg(*cases[_i].want == '\0' ? *got == '\0' :
	    strstr(got, cases[_i].want) != NULL, "%s", got);
	if (*got != '\0')
		ck_assert_ptr_eq(strchr(got, '\n'), got + strlen(got) - 1);
}
END_TEST

/* A file that gains privileges. */
START_TEST(privileges)
{
	char	word[PATH_MAX + 8];

	write_file("usr/lib/systemd/system/amped.service", SHIPPED CALLS
	    "PrivateTmp=no\n");
	write_file("mail", "");
	snprintf(word, sizeof(word), "%s/mail", dir);
	ck_assert_str_eq(check_program(COMMAND, word), "");
	ck_assert_int_eq(chmod(word, 04755), 0);
	ck_assert_ptr_nonnull(strstr(check_program(COMMAND, word),
	    "gains no privileges in the unit amped.service "
	    "(NoNewPrivileges)"));
}
END_TEST

/* What a filter of amped's replaces is no file, and a module is one. */
START_TEST(own_filter)
{
	static char	name[] = "p", helper[] = "/helper", a[] = "filter",
			b[] = "replace", c[] = "/home/a", d[] = "/home/b",
			module[] = "module";
	char		*words[] = { helper, a, b, c, d };
	struct conf_program	p = { .name = name, .is_own = true,
			    .command = { .at = words, .n = COUNT(words) } };
	struct conf	conf = { .programs = &p, .nprograms = 1 };

	write_file("usr/lib/systemd/system/amped.service", SHIPPED
	    "ProtectHome=yes\n");
	ck_assert_str_eq(check(&conf, AMPED_CONF), "");
	words[2] = module;
	ck_assert_ptr_nonnull(strstr(check(&conf, AMPED_CONF), "/home/a is"));
	ck_assert_ptr_null(strstr(check(&conf, AMPED_CONF), "/home/b is"));
	p.is_own = false;
	ck_assert_ptr_nonnull(strstr(check(&conf, AMPED_CONF), "/home/b is"));
}
END_TEST

START_TEST(directories)
{
	static char	text[] = "/srv/x/y", error[] = "/srv/error";
	static char	home[] = "/home/a", tmp[] = "/tmp/a";
	const char	*targets[] = { text, "stdout", "|/srv/log" };
	struct conf_path	path = { .rules.alias = tmp };
	struct conf_site	site = { .rules.root = home, .paths = &path,
			    .npaths = 1 };
	struct conf	conf = { .cache = { .variants = text,
			    .results = text, .hotlist = text },
			    .limits.spool = text, .pid = text,
			    .control.file = text, .log = { .error.to = error,
			    .all = { .targets = targets,
			    .ntargets = COUNT(targets) } }, .sites = &site,
			    .nsites = 1 };
	static const char *const	want[] = {
		"cache variants /srv/x/y: the unit amped.service lets nobody "
		    "write there (ProtectSystem=strict): a drop-in needs "
		    "ReadWritePaths=/srv/x/y\n",
		"cache results /srv/x/y: the unit",
		"limits spool /srv/x/y: the unit",
		"cache hotlist /srv/x/y: the unit amped.service lets nobody "
		    "write there (ProtectSystem=strict): a drop-in needs "
		    "ReadWritePaths=/srv/x\n",
		"pid /srv/x/y: the unit", "control /srv/x/y: the unit",
		"log error /srv/error: the unit",
		"log access /srv/x/y: the unit",
		"root: /home/a is not there in the unit",
		"alias: /tmp/a is not there in the unit"
	};
	const char	*got;
	size_t		 lines = 0;

	write_file("usr/lib/systemd/system/amped.service", SHIPPED
	    "ProtectHome=yes\n");
	got = check(&conf, AMPED_CONF);
	for (size_t i = 0; i < COUNT(want); i++)
		ck_assert_msg(strstr(got, want[i]) != NULL, "%s", want[i]);
	for (const char *p = got; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	ck_assert_uint_eq(lines, COUNT(want));
}
END_TEST

/* The first unit and the first drop-in of a name count; drop-ins go by name. */
START_TEST(precedence)
{
	static char	git[] = "git";

	write_file("usr/lib/systemd/system/amped.service", SHIPPED CALLS);
	write_file("usr/lib/systemd/system/amped.service.d/b.conf",
	    "User=bee\n");
	write_file("etc/systemd/system/amped.service.d/a.conf", "User=aye\n");
	ck_assert_ptr_nonnull(strstr(check_program(USER, git), " as bee,"));
	write_file("etc/systemd/system/amped.service.d/b.conf", "User=bay\n");
	ck_assert_ptr_nonnull(strstr(check_program(USER, git), " as bay,"));
	write_file("etc/systemd/system/amped.service.d/c.other", "User=c\n");
	ck_assert_ptr_nonnull(strstr(check_program(USER, git), " as bay,"));
	write_file("etc/systemd/system/amped.service", "ExecStart=amped\n");
	write_file("etc/systemd/system/amped.service.d/b.conf", "User=root\n");
	ck_assert_str_eq(check_program(USER, git), "");
}
END_TEST

/* A unit is of no concern where another init has started amped. */
START_TEST(no_systemd)
{
	static char	git[] = "git";
	char		name[PATH_MAX + 32];

	write_file("usr/lib/systemd/system/amped.service", SHIPPED);
	ck_assert_str_ne(check_program(USER, git), "");
	snprintf(name, sizeof(name), "%s/run/systemd/system", dir);
	ck_assert_int_eq(rmdir(name), 0);
	ck_assert_str_eq(check_program(USER, git), "");
	write_file("run/systemd/system", "");
	ck_assert_str_eq(check_program(USER, git), "");
}
END_TEST

/* Only the conf that the unit starts amped with is looked at. */
START_TEST(other_conf)
{
	static char	git[] = "git", name[] = "p";
	struct conf_program	p = { .name = name, .user = git };
	struct conf	conf = { .programs = &p, .nprograms = 1 };

	ck_assert_str_eq(check(&conf, AMPED_CONF), "");
	write_file("usr/lib/systemd/system/amped.service", SHIPPED);
	ck_assert_str_ne(check(&conf, AMPED_CONF), "");
	ck_assert_str_eq(check(&conf, "/etc/x.conf"), "");
	write_file("etc/systemd/system/amped.service.d/a.conf",
	    "ExecStart=\nExecStart=/usr/sbin/amped -D -f /etc/x.conf\n");
	ck_assert_str_eq(check(&conf, AMPED_CONF), "");
	ck_assert_str_ne(check(&conf, "/etc/x.conf"), "");
	write_file("etc/systemd/system/amped.service.d/a.conf",
	    "ExecStart=\nExecStart=/usr/sbin/amped -f/etc/x.conf -D\n");
	ck_assert_str_eq(check(&conf, AMPED_CONF), "");
	ck_assert_str_ne(check(&conf, "/etc/x.conf"), "");
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_loop_test(t, one_of_each, 0, COUNT(cases));
	tcase_add_test(t, privileges);
	tcase_add_test(t, own_filter);
	tcase_add_test(t, directories);
	tcase_add_test(t, precedence);
	tcase_add_test(t, no_systemd);
	tcase_add_test(t, other_conf);
}
