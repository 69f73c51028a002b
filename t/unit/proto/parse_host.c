/* Unit test of proto/parse: valid hosts, and the name in them. */
#include <stdio.h>
#include <string.h>

#include "proto/parse.h"
#include "t/unit/unit.h"

#define COUNT(array)	(int)(sizeof(array) / sizeof((array)[0]))

static const struct parse_limits limits = { 64, 300, 8 };

static const struct {
	const char	*text, *name;	/* name NULL: not valid */
} hosts[] = {
	{ "example.org", "example.org" },
	{ "Example.ORG", "Example.ORG" },
	{ "example.org.", "example.org" },
	{ "example.org.:80", "example.org" },
	{ "example.org:80", "example.org" },
	{ "example.org:", "example.org" },
	{ "example.org:65535", "example.org" },
	{ "example.org:00080", "example.org" },
	{ "127.0.0.1:8080", "127.0.0.1" },
	{ "a%20b", "a%20b" },
	{ "a_b~c!$&'()*+,;=", "a_b~c!$&'()*+,;=" },
	{ "[::1]", "[::1]" },
	{ "[::1]:80", "[::1]" },
	{ "[2001:db8::ff00:42:8329]:443", "[2001:db8::ff00:42:8329]" },
	{ "[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]" },
	{ "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]",
	    "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]" },
	{ "", NULL },
	{ ":80", NULL },
	{ ":", NULL },
	{ "example.org:65536", NULL },
	{ "example.org:99999999999999999999", NULL },
	{ "example.org:8 0", NULL },
	{ "example.org:-1", NULL },
	{ "example.org:http", NULL },
	{ "example.org:80:80", NULL },
	{ "example.org/", NULL },
	{ "example.org?", NULL },
	{ "user@example.org", NULL },
	{ "a b", NULL },
	{ "a\tb", NULL },
	{ "a\\b", NULL },
	{ "a<b", NULL },
	{ "a\"b", NULL },
	{ "\xc3\xa4.example", NULL },
	{ "a%2", NULL },
	{ "a%", NULL },
	{ "a%g0", NULL },
	{ "a%0g", NULL },
	{ "::1", NULL },
	{ "[", NULL },
	{ "[]", NULL },
	{ "[::1", NULL },
	{ "[::1]x", NULL },
	{ "[::1]80", NULL },
	{ "[::1%25eth0]", NULL },
	{ "[127.0.0.1]", NULL },
	{ "[v1.x]", NULL },
	{ "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]", NULL },
	{ "x[::1]", NULL },
};

START_TEST(host)
{
	struct str	s = str_of(hosts[_i].text), name;
	struct parse	p;
	char		head[200];

	ck_assert_msg(parse_host_valid(s) == (hosts[_i].name != NULL),
	    "%s", hosts[_i].text);
	if (hosts[_i].name == NULL)
		return;
	snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n",
	    s.at);
	parse_init(&p);
	ck_assert(parse_feed(&p, &limits, head, strlen(head)) == PARSE_DONE);
	name = parse_host_name(&p, head);
	ck_assert_msg(str_same(name, str_of(hosts[_i].name)), "%s gives %s",
	    hosts[_i].text, unit_show(name.at, name.len));
}
END_TEST

START_TEST(host_with_nul)
{
	ck_assert(!parse_host_valid((struct str){ "a\0b", 3 }));
	ck_assert(!parse_host_valid((struct str){ "[::1\0]", 6 }));
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, host, 0, COUNT(hosts));
	tcase_add_test(t, host_with_nul);
}
