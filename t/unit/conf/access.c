/*
 * Unit test of conf/access: networks and the clients that they admit, what a
 * path takes over from its site, and errors.
 */
#include <arpa/inet.h>

#include "t/unit/conf/confs.h"

#define BEGIN	"site a.org { listen *:80; root /\n"

/* Directives of a site and of a path in it; a client, and whether it passes. */
static const struct {
	const char	*site, *path, *peer;
	bool		 in;
} asks[] = {
	{ "", "", "192.0.2.1", true },
	{ "deny all", "", "192.0.2.1", false },
	{ "deny all", "", "2001:db8::1", false },
	{ "deny 192.0.2.0/24", "", "192.0.2.255", false },
	{ "deny 192.0.2.0/24", "", "192.0.3.0", true },
	{ "deny 192.0.2.0/24", "", "2001:db8::1", true },
	{ "deny 192.0.2.128/25", "", "192.0.2.127", true },
	{ "deny 192.0.2.128/25", "", "192.0.2.128", false },
	{ "deny 192.0.2.1", "", "192.0.2.1", false },
	{ "deny 192.0.2.1", "", "192.0.2.2", true },
	{ "deny 0.0.0.0/0", "", "192.0.2.1", false },
	{ "deny 0.0.0.0/0", "", "2001:db8::1", true },
	{ "deny ::/1", "", "192.0.2.1", true },
	{ "deny ::/0", "", "2001:db8::1", false },
	{ "deny ::/0", "", "192.0.2.1", true },
	{ "deny ::ffff:192.0.2.0/120", "", "192.0.2.1", false },
	{ "deny ::ffff:192.0.2.0/120", "", "192.0.3.1", true },
	{ "deny 2001:db8::/33", "", "2001:db8:7fff::1", false },
	{ "deny 2001:db8::/33", "", "2001:db8:8000::1", true },
	/* "allow" denies all other networks. */
	{ "allow 192.0.2.0/24", "", "192.0.2.1", true },
	{ "allow 192.0.2.0/24", "", "192.0.3.1", false },
	{ "allow 192.0.2.0/24", "", "2001:db8::1", false },
	/* The most specific network applies, wherever it stands. */
	{ "deny all; allow 192.0.2.1", "", "192.0.2.1", true },
	{ "allow 192.0.2.1; deny all", "", "192.0.2.1", true },
	{ "allow 192.0.2.0/24; deny 192.0.2.1", "", "192.0.2.1", false },
	{ "deny 192.0.2.1; allow 192.0.2.0/24", "", "192.0.2.1", false },
	{ "deny 192.0.2.0/24; allow all", "", "192.0.2.1", false },
	{ "deny 192.0.2.0/24; allow all", "", "192.0.3.1", true },
	/* Paths: lists add up; of equal networks the path's applies. */
	{ "deny all", "allow all", "192.0.2.1", true },
	{ "allow all", "deny all", "192.0.2.1", false },
	{ "deny all", "allow 192.0.2.0/24", "192.0.2.1", true },
	{ "deny all", "allow 192.0.2.0/24", "192.0.3.1", false },
	{ "deny 192.0.2.0/24", "allow all", "192.0.2.1", false },
	{ "deny 192.0.2.0/24", "allow 192.0.2.0/24", "192.0.2.1", true },
	{ "allow 192.0.2.0/24", "deny 192.0.2.1", "192.0.2.1", false },
	{ "allow 192.0.2.0/24", "deny 192.0.2.1", "192.0.2.2", true },
	{ "allow 192.0.2.0/24", "deny 192.0.2.1", "192.0.3.1", false },
	{ "deny 192.0.2.1", "index i", "192.0.2.1", false },
	/* A status page: only this host, unless there is an allow or auth. */
	{ "", "status on", "127.0.0.1", true },
	{ "", "status on", "127.255.0.1", true },
	{ "", "status on", "::1", true },
	{ "", "status on", "192.0.2.1", false },
	{ "", "status on", "2001:db8::1", false },
	{ "", "status off", "192.0.2.1", true },
	{ "", "status on; allow all", "192.0.2.1", true },
	{ "", "status on; allow 192.0.2.0/24", "192.0.2.1", true },
	{ "", "status on; allow 192.0.2.0/24", "127.0.0.1", false },
	{ "allow 192.0.2.0/24", "status on", "192.0.2.1", true },
	{ "allow 192.0.2.0/24", "status on", "127.0.0.1", false },
	{ "", "status on; deny 192.0.2.1", "192.0.3.1", false },
	{ "", "status on; deny 192.0.2.1", "127.0.0.1", true },
	{ "", "status on; deny 127.0.0.1", "127.0.0.1", false },
	{ "", "status on; deny 127.0.0.1", "127.0.0.2", true },
	{ "", "status on; deny 127.0.0.1", "192.0.2.1", false },
	{ "", "status on; deny all", "127.0.0.1", false },
	{ "deny all", "status on", "::1", false },
	{ "", "status on; deny 0.0.0.0/0", "127.0.0.1", false },
	{ "", "status on; deny 0.0.0.0/0", "::1", true },
	{ "", "status on; deny 0.0.0.0/0", "2001:db8::1", false },
	{ "", "status on; deny ::/0", "::1", false },
	{ "", "status on; auth off", "192.0.2.1", false },
	{ "", "status on; auth A /etc/passwd", "192.0.2.1", true },
};

static bool
admits(const struct conf *conf, const char *peer)
{
	const struct conf_rules	*rules;
	uint8_t			 bytes[16] = { 0 };
	int			 family;

	family = strchr(peer, ':') != NULL ? AF_INET6 : AF_INET;
	ck_assert_int_eq(inet_pton(family, peer, bytes), 1);
	rules = conf_find_rules(&conf->sites[0], "/p/x", 4);
	return conf_access_admits(&rules->guard, family, bytes);
}

START_TEST(networks)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_addf(&text, BEGIN "%s\npath /p { %s\n} }\n", asks[_i].site,
	    asks[_i].path);
	conf = good(buf_string(&text));
	ck_assert(admits(conf, asks[_i].peer) == asks[_i].in);
	ck_assert(conf->sites[0].rules.guard.active ==
	    (asks[_i].site[0] != '\0'));
	conf_free(&conf);
	buf_free(&text);
}
END_TEST

/* A path within an internal one is none. */
START_TEST(internal)
{
	const struct conf_guard	*guard;
	struct conf		*conf;

	conf = good(BEGIN "path /p { internal on; allow 192.0.2.0/24 }\n"
	    "path /p/q { internal off }\npath /p/r { }\n}\n");
	guard = &conf_find_rules(&conf->sites[0], "/p/x", 4)->guard;
	ck_assert(guard->internal != 0 && guard->active);
	guard = &conf_find_rules(&conf->sites[0], "/p/q", 4)->guard;
	ck_assert(guard->internal == 0 && !guard->active);
	guard = &conf_find_rules(&conf->sites[0], "/p/r", 4)->guard;
	ck_assert(guard->internal == 0 && !guard->active);
	conf_free(&conf);
	conf = good(BEGIN "path /p { internal on }\n}\n");
	ck_assert(conf_find_rules(&conf->sites[0], "/p", 2)->guard.active);
	ck_assert(!conf->sites[0].rules.guard.active);
	conf_free(&conf);
}
END_TEST

/* Directives of the site and the path; the realm and the file at the path. */
static const struct {
	const char	*site, *path, *realm, *file;
} realms[] = {
	{ "", "", NULL, NULL },
	{ "auth A $/a", "", "A", "a" },
	{ "", "auth \"B c\" $/b", "B c", "b" },
	{ "auth A $/a", "auth \"\" $/b", "", "b" },
	{ "auth A $/a", "auth off", NULL, NULL },
	{ "auth off", "auth \"off\" $/b", "off", "b" },
};

START_TEST(passwords)
{
	struct buf		 text = { 0 };
	struct conf		*conf;
	const struct conf_guard	*guard;

	write_file("a", "");
	write_file("b", "");
	buf_addf(&text, BEGIN "%s\npath /p { %s\n} }\n", realms[_i].site,
	    realms[_i].path);
	conf = good(buf_string(&text));
	guard = &conf->sites[0].paths[0].rules.guard;
	ck_assert(guard->active == (realms[_i].realm != NULL));
	if (guard->active) {
		ck_assert_str_eq(guard->realm, realms[_i].realm);
		ck_assert_str_eq(guard->file + strlen(dir) + 1,
		    realms[_i].file);
	} else
		ck_assert_ptr_null(guard->realm);
	conf_free(&conf);
	buf_free(&text);
}
END_TEST

START_TEST(either)
{
	struct conf		*conf;
	const struct conf_site	*site;

	write_file("a", "");
	conf = good(BEGIN "auth X $/a; deny 192.0.2.1; satisfy any\n"
	    "path /p { allow ::1 }\npath /q { satisfy all }\n"
	    "path /r { auth off }\nfiles *.a { deny all } }\n");
	site = &conf->sites[0];
	ck_assert_int_eq(site->rules.guard.satisfy, SATISFY_ANY);
	ck_assert_int_eq(conf_find_rules(site, "/p", 2)->guard.satisfy,
	    SATISFY_ANY);
	ck_assert_int_eq(conf_find_rules(site, "/q", 2)->guard.satisfy,
	    SATISFY_ALL);
	ck_assert_ptr_null(conf_find_rules(site, "/r", 2)->guard.realm);
	ck_assert_int_eq(site->files[0].guard.satisfy, SATISFY_ALL);
	conf_free(&conf);
}
END_TEST

/* Directives of the site and the path, which let in these users and no
 * others. */
static const struct {
	const char	*site, *path, *users, *others;
} limits[] = {
	{ "auth X $/a", "", "ann bob eve", "" },
	{ "auth X $/a; require user ann", "", "ann", "an anna bob eve" },
	{ "auth X $/a; require user ann bob user eve", "", "ann bob eve",
	    "max" },
	{ "auth X $/a groups $/g; require group staff", "", "ann bob",
	    "eve max staff" },
	{ "auth X $/a groups $/g; require group staff more user max", "",
	    "ann bob eve max zoe", "mat" },
	{ "auth X $/a groups $/g; require group none", "", "", "ann bob" },
	/* A path takes over what it lacks, but with an auth of its own. */
	{ "auth X $/a groups $/g; require user ann", "index i", "ann", "bob" },
	{ "auth X $/a groups $/g; require user ann", "require group more",
	    "eve zoe", "ann" },
	{ "auth X $/a; require user ann", "auth Y $/a", "ann bob", "" },
	{ "auth X $/a; require user ann", "auth off", "ann bob", "" },
};

static void
check_users(const struct conf_guard *guard, const char *names, bool in)
{
	char	*copy = strdup(names), *rest = copy, *name;

	while ((name = strsep(&rest, " ")) != NULL)
		if (name[0] != '\0')
			ck_assert_msg(conf_groups_admit(guard, name,
			    strlen(name)) == in, "%s", name);
	free(copy);
}

START_TEST(users)
{
	struct buf		 text = { 0 };
	struct conf		*conf;
	const struct conf_guard	*guard;

	write_file("a", "");
	write_file("g", "# groups\nstaff: ann  bob\r\n\nmore:zoe\nx: max\n"
	    " more : eve\nnone:\nnocolon\n");
	buf_addf(&text, BEGIN "%s\npath /p { %s\n} }\n", limits[_i].site,
	    limits[_i].path);
	conf = good(buf_string(&text));
	guard = &conf->sites[0].paths[0].rules.guard;
	check_users(guard, limits[_i].users, true);
	check_users(guard, limits[_i].others, false);
	ck_assert(conf_groups_admit(guard, "", 0) == !guard->limited);
	ck_assert(conf_groups_admit(guard, "ann\0x", 5) == !guard->limited);
	conf_free(&conf);
	buf_free(&text);
}
END_TEST

START_TEST(patterns)
{
	struct conf	*conf;

	write_file("a", "");
	conf = good(BEGIN "files *.a \"b c\" { deny all }\n"
	    "files d { auth X $/a; allow 192.0.2.1 } }\n");
	ck_assert_uint_eq(conf->sites[0].nfiles, 2);
	ck_assert_str_eq(conf->sites[0].files[0].patterns.at[1], "b c");
	ck_assert(!conf->sites[0].files[0].guard.default_deny);
	ck_assert(conf->sites[0].files[1].guard.default_deny);
	ck_assert_str_eq(conf->sites[0].files[1].guard.realm, "X");
	conf_free(&conf);
}
END_TEST

/* Lines in a site, and a part of the error. */
static const struct {
	const char	*lines, *error;
} wrong[] = {
	{ "allow", "needs a value" },
	{ "allow x", "is written as" }, { "allow 192.0.2", "is written as" },
	{ "allow a.org", "is written as" },
	{ "deny 192.0.2.1/24", "bits set behind" },
	{ "deny 2001:db8::1/64", "bits set behind" },
	{ "deny 192.0.2.0/33", "number of bits" },
	{ "deny 192.0.2.0/", "number of bits" },
	{ "deny 192.0.2.0/-1", "number of bits" },
	{ "deny ::/129", "number of bits" },
	{ "deny 192.0.2.0/255.255.255.0", "number of bits" },
	{ "deny ::ffff:0:0/95", "bits set behind" },
	{ "deny all/0", "is written as" },
	{ "allow all; deny all", "both allowed and denied" },
	{ "deny ::ffff:192.0.2.1; allow 192.0.2.1", "both allowed and denied" },
	{ "auth X", "needs a password file" },
	{ "auth X $/none", "No such file" },
	{ "auth off $/a", "behind \"off\"" },
	{ "auth \"a\\\"b\" $/a", "printable" },
	{ "auth \"\xc3\xa4\" $/a", "printable" },
	{ "auth X $/a; auth Y $/a", "given twice" },
	{ "require user ann", "\"require\" needs \"auth\"" },
	{ "require group g", "\"require\" needs \"auth\"" },
	{ "auth X $/a; require user", "needs a value" },
	{ "auth X $/a; require user a:b", "is not a name" },
	{ "auth X $/a; require group g", "needs a file of groups" },
	{ "auth X $/a groups $/none; require group g", "No such file" },
	{ "auth X $/a groups $/a; require group g", "no group \"g\" in" },
	{ "satisfy both", "is not one of all, any" },
	{ "satisfy any", "needs \"auth\", and" },
	{ "satisfy any; auth X $/a", "needs \"auth\", and" },
	{ "satisfy any; deny 192.0.2.1", "needs \"auth\", and" },
	{ "auth X $/a; deny all; path /p { satisfy any; auth off }",
	    "needs \"auth\", and" },
	{ "files *.a { deny all; satisfy any }", "needs \"auth\", and" },
	{ "files { deny all }", "needs a pattern" },
	{ "files a/b { deny all }", "without their directory" },
	{ "files *.a { }", "needs allow, deny, auth" },
	{ "files *.a { root / }", "cannot stand here" },
	{ "path /p { files *.a { deny all } }", "cannot stand here" },
};

START_TEST(error)
{
	struct buf	text = { 0 };

	write_file("a", "");
	buf_addf(&text, BEGIN "%s }\n", wrong[_i].lines);
	ck_assert_ptr_null(read_conf(buf_string(&text)));
	ck_assert_msg(strstr(buf_string(&errors), wrong[_i].error) !=
	    NULL, "%s", buf_string(&errors));
	buf_free(&text);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, networks, 0, COUNT(asks));
	tcase_add_loop_test(t, passwords, 0, COUNT(realms));
	tcase_add_test(t, internal);
	tcase_add_test(t, either);
	tcase_add_loop_test(t, users, 0, COUNT(limits));
	tcase_add_test(t, patterns);
	tcase_add_loop_test(t, error, 0, COUNT(wrong));
}
