/* Unit test of proto/forwarded: who the client is, by lists of hops; 10.x and
 * fd00: are trusted. */
#include <sys/socket.h>

#include <arpa/inet.h>

#include <string.h>

#include "proto/forwarded.h"
#include "t/unit/unit.h"

static bool
trusts(const void *context, const struct forwarded_hop *hop)
{
	(void)context;
	return (hop->family == AF_INET && hop->addr[0] == 10) ||
	    (hop->family == AF_INET6 && hop->addr[0] == 0xfd);
}

/* The client as text: an address, "unix:", "?" for unknown, "" for none. */
static const char *
client_text(const struct forwarded *f)
{
	static char	text[INET6_ADDRSTRLEN];

	if (f->behind == 0)
		return "";
	if (f->client.family == 0)
		return "?";
	return f->client.family == AF_UNIX ? "unix:" :
	    inet_ntop(f->client.family, f->client.addr, text, sizeof(text));
}

static const struct {
	const char	*line, *client;	/* client NULL: not valid */
	size_t		 behind;
	const char	*scheme, *host;
} fields[] = {
	{ "for=192.0.2.1", "192.0.2.1", 1, "", "" },
	{ "For=\"[2001:db8::1]:4711\"", "2001:db8::1", 1, "", "" },
	{ "for=192.0.2.1:80;proto=https;host=example.org:8443;by=10.1.1.1",
	    "192.0.2.1", 1, "https", "example.org:8443" },
	{ "for=\"192.0.2.1\" ; PROTO=\"HTTP\" ; host=\"a.example\"",
	    "192.0.2.1", 1, "http", "a.example" },
	/* The last hop that is not trusted; the first, if all are. */
	{ "for=192.0.2.9, for=192.0.2.1", "192.0.2.1", 1, "", "" },
	{ "for=192.0.2.9, for=192.0.2.1,for=10.0.0.1", "192.0.2.1", 2, "", "" },
	{ "for=10.0.0.2, for=\"[fd00::1]\"", "10.0.0.2", 2, "", "" },
	{ "for=10.0.0.2, for=192.0.2.7, for=10.0.0.1", "192.0.2.7", 2, "", "" },
	/* Scheme and host are those of the client's request. */
	{ "for=192.0.2.1;proto=https;host=a, for=10.0.0.1;proto=http;host=b",
	    "192.0.2.1", 2, "https", "a" },
	{ "for=192.0.2.9;host=evil, for=192.0.2.1", "192.0.2.1", 1, "", "" },
	/* Hidden hops, and those that are not understood. */
	{ "for=unknown", "?", 1, "", "" }, { "for=_secret", "?", 1, "", "" },
	{ "for=10.0.0.1, for=unknown, for=10.0.0.2", "?", 2, "", "" },
	{ "proto=https", "?", 1, "https", "" },
	{ "for=192.0.2.256", "?", 1, "", "" },
	{ "for=192.0.2.1:99999", "?", 1, "", "" },
	{ "for=192.0.2.1:_port", "192.0.2.1", 1, "", "" },
	{ "for=\"192.0.2.1\\:1\"", "?", 1, "", "" },
	{ "for=\"[::ffff:10.0.0.1]\"", "10.0.0.1", 1, "", "" },
	{ "for=\"unix:\"", "unix:", 1, "", "" },
	/* A value that is neither scheme nor host is none. */
	{ "for=192.0.2.1;proto=ftp;host=\"a b\"", "192.0.2.1", 1, "", "" },
	{ "for=192.0.2.1;host=\"\"", "192.0.2.1", 1, "", "" },
	/* Empty elements and pairs, and names of others. */
	{ ", for=192.0.2.1;;x=\"a,b\" ,, ", "192.0.2.1", 1, "", "" },
	{ "", "", 0, "", "" }, { " , ;", "", 0, "", "" },
	/* Not valid. */
	{ "for", NULL, 0, NULL, NULL }, { "for=", NULL, 0, NULL, NULL },
	{ "=192.0.2.1", NULL, 0, NULL, NULL },
	{ "for=192.0.2.1 x", NULL, 0, NULL, NULL },
	{ "for=192.0.2.1;for=192.0.2.2", NULL, 0, NULL, NULL },
	{ "for = 192.0.2.1", NULL, 0, NULL, NULL },
	/* A client's quote does not hide what a proxy adds. */
	{ "for=\"x, for=192.0.2.1", NULL, 0, NULL, NULL },
	{ "for=\"x, for=192.0.2.1;host=\"a\"", NULL, 0, NULL, NULL },
	{ "for=\"x\\\"", NULL, 0, NULL, NULL },
};

START_TEST(forwarded)
{
	struct forwarded	f = { .trusts = trusts };
	bool			good;

	good = forwarded_add(&f, str_of(fields[_i].line));
	ck_assert_msg(good == (fields[_i].client != NULL), "%s",
	    fields[_i].line);
	if (!good)
		return;
	ck_assert_str_eq(client_text(&f), fields[_i].client);
	ck_assert_uint_eq(f.behind, fields[_i].behind);
	ck_assert(str_same(f.scheme, str_of(fields[_i].scheme)));
	ck_assert(str_same(f.host, str_of(fields[_i].host)));
}
END_TEST

static const struct {
	const char	*line, *client;
	size_t		 behind;
} lists[] = {
	{ "192.0.2.1", "192.0.2.1", 1 },
	{ "192.0.2.9, 192.0.2.1 , 10.0.0.1", "192.0.2.1", 2 },
	{ "2001:db8::1", "2001:db8::1", 1 },
	{ "[2001:db8::1]", "2001:db8::1", 1 },
	{ "[2001:db8::1]:80,fd00::1", "2001:db8::1", 2 },
	{ "192.0.2.1:4711", "192.0.2.1", 1 },
	{ "::ffff:192.0.2.1", "192.0.2.1", 1 },
	{ "10.0.0.2,10.0.0.1", "10.0.0.2", 2 },
	{ "unix:", "unix:", 1 },
	{ "\", 192.0.2.1", "192.0.2.1", 1 },
	{ "192.0.2.1, bad", "?", 1 }, { "fe80::1%eth0", "?", 1 },
	{ "[2001:db8::1", "?", 1 }, { "[2001:db8::1]80", "?", 1 },
	{ "192.0.2.1:", "?", 1 }, { "192.0.2", "?", 1 },
	{ ", ,", "", 0 }, { "", "", 0 },
};

START_TEST(forwarded_for)
{
	struct forwarded	f = { .trusts = trusts };

	ck_assert(forwarded_add_for(&f, str_of(lists[_i].line)));
	ck_assert_str_eq(client_text(&f), lists[_i].client);
	ck_assert_uint_eq(f.behind, lists[_i].behind);
}
END_TEST

/* Several lines are one list. */
START_TEST(lines)
{
	struct forwarded	f = { .trusts = trusts }, g = f;

	ck_assert(forwarded_add(&f, STR("for=192.0.2.1;host=a")));
	ck_assert(forwarded_add(&f, STR("for=10.0.0.1;host=b")));
	ck_assert_str_eq(client_text(&f), "192.0.2.1");
	ck_assert_uint_eq(f.behind, 2);
	ck_assert(str_same(f.host, STR("a")));
	ck_assert(forwarded_add_for(&g, STR("192.0.2.9")));
	ck_assert(forwarded_add_for(&g, STR("192.0.2.1")));
	ck_assert_str_eq(client_text(&g), "192.0.2.1");
}
END_TEST

/* The number of elements has a limit, over all lines. */
START_TEST(limit)
{
	struct forwarded	f = { .trusts = trusts }, g = f;

	for (int i = 0; i < FORWARDED_HOPS_MAX; i++) {
		ck_assert(forwarded_add(&f, STR("for=192.0.2.1")));
		ck_assert(forwarded_add_for(&g, STR("192.0.2.1,")));
	}
	ck_assert(forwarded_add(&f, STR(",")));
	ck_assert(!forwarded_add(&f, STR("for=192.0.2.1")));
	ck_assert(!forwarded_add_for(&g, STR("192.0.2.1")));
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, forwarded, 0,
	    sizeof(fields) / sizeof(fields[0]));
	tcase_add_loop_test(t, forwarded_for, 0,
	    sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(t, lines);
	tcase_add_test(t, limit);
}
