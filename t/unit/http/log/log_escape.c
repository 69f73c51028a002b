/*
 * Tests of text in lines of a log: every byte there is.
 */
#include <sys/socket.h>

#include <stdio.h>
#include <string.h>

#include "http/log/log_escape.h"
#include "t/unit/unit.h"

static bool
is_plain(int byte, bool spaces)
{
	return byte >= ' ' && byte < 0x7f && byte != '\\' && byte != '"' &&
	    (byte != ' ' || !spaces);
}

START_TEST(every_byte)
{
	char	byte, is[8], expected[8], *end;

	for (int spaces = 0; spaces < 2; spaces++)
		for (int b = 0; b < 256; b++) {
			byte = (char)b;
			end = log_escape_text((struct str){ &byte, 1 }, spaces,
			    is, is + sizeof(is));
			*end = '\0';
			snprintf(expected, sizeof(expected),
			    is_plain(b, spaces) ? "%c" : "\\x%02x", b);
			ck_assert_str_eq(is, expected);
		}
}
END_TEST

static void
json_is(const char *text, size_t len, const char *expected)
{
	char	is[200], *end;

	end = log_escape_json((struct str){ text, len }, is, is + sizeof(is));
	*end = '\0';
	ck_assert_str_eq(is, expected);
}

#define JSON(text, expected)	json_is(text, sizeof(text) - 1, expected)

/* Bytes that are no character are escaped one by one (RFC 3629 has the
 * bounds). */
START_TEST(json)
{
	JSON("plain text, long enough", "plain text, long enough");
	JSON("a \"quote\" and more of it", "a \\\"quote\\\" and more of it");
	JSON("back\\slash", "back\\\\x5cslash");
	JSON("\0\t\x7f", "\\\\x00\\\\x09\\\\x7f");
	JSON("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	    "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	JSON("caf\xe9", "caf\\\\xe9");
	JSON("\xc3", "\\\\xc3");
	JSON("\xe2\x82", "\\\\xe2\\\\x82");
	JSON("\xc0\xaf", "\\\\xc0\\\\xaf");
	JSON("\xe0\x9f\xbf", "\\\\xe0\\\\x9f\\\\xbf");
	JSON("\xe0\xa0\x80", "\xe0\xa0\x80");
	JSON("\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80");
	JSON("\xed\x9f\xbf", "\xed\x9f\xbf");
	JSON("\xf0\x8f\xbf\xbf", "\\\\xf0\\\\x8f\\\\xbf\\\\xbf");
	JSON("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf");
	JSON("\xf4\x90\x80\x80", "\\\\xf4\\\\x90\\\\x80\\\\x80");
	/* Characters that a terminal obeys. */
	JSON("\xc2\x9b" "31m", "\\\\xc2\\\\x9b31m");
	JSON("\xe2\x80\xae", "\\\\xe2\\\\x80\\\\xae");
	JSON("\xf5\x80\x80\x80\xff", "\\\\xf5\\\\x80\\\\x80\\\\x80\\\\xff");
}
END_TEST

/* A character or escape is never cut: without room for all of it, it is left
 * out. */
START_TEST(json_cut)
{
	static const char	text[] = "a\"\xc3\xa9\xff\xf0\x9f\x98\x80\\z";
	char			is[40], *end;

	for (size_t room = 0; room < sizeof(is); room++) {
		memset(is, '#', sizeof(is));
		end = log_escape_json((struct str){ text, sizeof(text) - 1 },
		    is, is + room);
		ck_assert(end <= is + room);
		ck_assert_int_eq(*end, '#');
		ck_assert_int_ne(end > is && end[-1] == '\\' ? 1 : 0, 1);
	}
}
END_TEST

/* Every byte at every place of texts of every length, some words of them. */
START_TEST(every_place)
{
	char	text[20], is[80], expected[80], *end, *to;

	for (size_t len = 1; len <= sizeof(text); len++)
		for (size_t at = 0; at < len; at++)
			for (int b = 0; b < 256; b++) {
				memset(text, 'a', len);
				text[at] = (char)b;
				end = log_escape_text((struct str){ text, len },
				    false, is, is + sizeof(is));
				*end = '\0';
				memset(expected, 'a', at);
				to = expected + at;
				to += sprintf(to, is_plain(b, false) ? "%c" :
				    "\\x%02x", b);
				memset(to, 'a', len - at - 1);
				to[len - at - 1] = '\0';
				ck_assert_str_eq(is, expected);
			}
}
END_TEST

/* Text without escapes may fill all the room, and no more. */
START_TEST(all_room)
{
	char	is[17] = "................";

	ck_assert_ptr_eq(log_escape_text(STR("0123456789ab"), false, is,
	    is + 12), is + 12);
	ck_assert_str_eq(is, "0123456789ab....");
	ck_assert_ptr_eq(log_escape_text(STR("0123456789ab"), false, is,
	    is + 11), is + 8);
}
END_TEST

START_TEST(numbers)
{
	static const struct {
		uint64_t	 n;
		const char	*text;
	} cases[] = {
		{ 0, "0" }, { 9, "9" }, { 10, "10" }, { 99, "99" },
		{ 100, "100" }, { 206, "206" }, { 12345, "12345" },
		{ UINT32_MAX, "4294967295" }, { INT64_MAX,
		"9223372036854775807" }, { UINT64_MAX, "18446744073709551615" },
		{ UINT64_MAX / 10 * 10, "18446744073709551610" },
	};
	char	text[LOG_NUMBER_MAX + 1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(text, 'x', sizeof(text));
		*log_escape_number(cases[i].n, text) = '\0';
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

START_TEST(peers)
{
	static const struct {
		uint8_t		 bytes[4];
		const char	*text;
	} cases[] = {
		{ { 0, 0, 0, 0 }, "0.0.0.0" },
		{ { 9, 10, 99, 100 }, "9.10.99.100" },
		{ { 255, 255, 255, 255 }, "255.255.255.255" },
		{ { 192, 0, 2, 1 }, "192.0.2.1" },
	};
	char		text[LOG_ADDR_MAX];
	struct session	peer = { .family = AF_INET };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(peer.addr, cases[i].bytes, 4);
		log_escape_keep_addr(&peer);
		ck_assert_ptr_eq(log_escape_addr(&peer, text),
		    text + strlen(cases[i].text));
		ck_assert_str_eq(text, cases[i].text);
	}
	peer = (struct session){ .family = AF_INET6, .addr = { [15] = 1 } };
	log_escape_addr(&peer, text);
	ck_assert_str_eq(text, "::1");
	peer.family = AF_UNIX;
	log_escape_addr(&peer, text);
	ck_assert_str_eq(text, "unix:");
	peer.family = AF_UNSPEC;
	ck_assert_ptr_eq(log_escape_addr(&peer, text), text + 1);
	ck_assert_str_eq(text, "-");
}
END_TEST

START_TEST(no_room)
{
	char	is[9] = "........";

	/* Four bytes must be left: the next byte may become an escape. */
	ck_assert_ptr_eq(log_escape_text(STR("a\nbcd"), false, is, is + 8),
	    is + 5);
	ck_assert_mem_eq(is, "a\\x0a...", 8);
	ck_assert_ptr_eq(log_escape_text(STR("abc"), false, is, is + 3), is);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, every_byte);
	tcase_add_test(tests, json);
	tcase_add_test(tests, json_cut);
	tcase_add_test(tests, every_place);
	tcase_add_test(tests, all_room);
	tcase_add_test(tests, numbers);
	tcase_add_test(tests, peers);
	tcase_add_test(tests, no_room);
}
