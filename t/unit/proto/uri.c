/*
 * Unit test of proto/uri.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/uri.h"
#include "t/unit/unit.h"

#define CASE(raw, want)		{ raw, sizeof(raw) - 1, want, 0 }
#define REFUSED(raw, why)	{ raw, sizeof(raw) - 1, NULL, why }

static const struct {
	const char	*raw;
	size_t		 len;
	const char	*want;
	enum why	 why;
} cases[] = {
	CASE("/", "/"),
	CASE("/a", "/a"),
	CASE("/a/", "/a/"),
	CASE("/a/b.c", "/a/b.c"),

	/* Escapes, once. */
	CASE("/%41", "/A"),
	CASE("/%c3%A4", "/\xc3\xa4"),
	CASE("/\xc3\xa4", "/\xc3\xa4"),
	CASE("/%20", "/ "),
	CASE("/a+b", "/a+b"),
	CASE("/%2541", "/%41"),
	CASE("/%252e%252e/x", "/%2e%2e/x"),
	CASE("/%3f%23", "/?#"),
	CASE("/a%5cb", "/a\\b"),
	CASE("/..%5c..%5cx/../y", "/y"),
	REFUSED("/%", WHY_BAD_ESCAPE),
	REFUSED("/%4", WHY_BAD_ESCAPE),
	REFUSED("/%g1", WHY_BAD_ESCAPE),
	REFUSED("/%1g", WHY_BAD_ESCAPE),
	REFUSED("/%%41", WHY_BAD_ESCAPE),
	REFUSED("/%u0041", WHY_BAD_ESCAPE),
	REFUSED("/%-1", WHY_BAD_ESCAPE),
	REFUSED("/a%/b", WHY_BAD_ESCAPE),
	REFUSED("/a%4/b", WHY_BAD_ESCAPE),

	/* Bytes that no name may have. */
	REFUSED("/a%00", WHY_BAD_BYTE),
	REFUSED("/a\0b", WHY_BAD_BYTE),
	REFUSED("/a%0a", WHY_BAD_BYTE),
	REFUSED("/a%1f", WHY_BAD_BYTE),
	REFUSED("/a\x01", WHY_BAD_BYTE),
	REFUSED("/a%7F", WHY_BAD_BYTE),
	REFUSED("/a%2fb", WHY_BAD_BYTE),
	REFUSED("/a%2Fb", WHY_BAD_BYTE),
	REFUSED("/..%2fx", WHY_BAD_BYTE),

	/* No slash first. */
	REFUSED("", WHY_BAD_ESCAPE),
	REFUSED("a", WHY_BAD_ESCAPE),
	REFUSED("*", WHY_BAD_ESCAPE),
	REFUSED("%2f", WHY_BAD_ESCAPE),

	/* Slashes. */
	CASE("//", "/"),
	CASE("//a", "/a"),
	CASE("/a//b///c//", "/a/b/c/"),

	/* Dot segments, RFC 3986, section 5.2.4. */
	CASE("/.", "/"),
	CASE("/./", "/"),
	CASE("/a/.", "/a/"),
	CASE("/a/./b", "/a/b"),
	CASE("/a/..", "/"),
	CASE("/a/../", "/"),
	CASE("/a/../b", "/b"),
	CASE("/a/b/..", "/a/"),
	CASE("/a/b/c/./../../g", "/a/g"),
	CASE("/a/b/../../c", "/c"),
	CASE("/a//../b", "/b"),
	CASE("/a/./../b", "/b"),
	CASE("/%2e/a", "/a"),
	CASE("/a/%2e%2e/b", "/b"),
	CASE("/a/%2E./b", "/b"),
	CASE("/a/.%2e/b", "/b"),
	CASE("/a../b", "/a../b"),
	CASE("/a./b", "/a./b"),
	REFUSED("/..", WHY_ABOVE_ROOT),
	REFUSED("/../", WHY_ABOVE_ROOT),
	REFUSED("//..", WHY_ABOVE_ROOT),
	REFUSED("/./..", WHY_ABOVE_ROOT),
	REFUSED("/../a", WHY_ABOVE_ROOT),
	REFUSED("/a/../..", WHY_ABOVE_ROOT),
	REFUSED("/a/../../b/c", WHY_ABOVE_ROOT),
	REFUSED("/%2e%2e", WHY_ABOVE_ROOT),
	REFUSED("/%2e%2e/a", WHY_ABOVE_ROOT),
	REFUSED("/a/%2e%2e/.%2E/b", WHY_ABOVE_ROOT),

	/* Hidden names, in the final path. */
	REFUSED("/.htaccess", WHY_HIDDEN),
	{ "/a%20b//.git/../.c", 18, "/a b/.c", WHY_HIDDEN },
	REFUSED("/a/.git/config", WHY_HIDDEN),
	REFUSED("/a/.git/", WHY_HIDDEN),
	REFUSED("/%2egit", WHY_HIDDEN),
	REFUSED("/...", WHY_HIDDEN),
	REFUSED("/..a", WHY_HIDDEN),
	REFUSED("/a/..%5cb", WHY_HIDDEN),
	CASE("/.git/../a", "/a"),
	CASE("/.well-known", "/.well-known"),
	CASE("/.well-known/", "/.well-known/"),
	CASE("/.well-known/acme-challenge/x", "/.well-known/acme-challenge/x"),
	CASE("/%2ewell-known/x", "/.well-known/x"),
	CASE("/a/../.well-known/x", "/.well-known/x"),
	REFUSED("/.well-knownx", WHY_HIDDEN),
	REFUSED("/.well-know", WHY_HIDDEN),
	REFUSED("/.Well-Known/x", WHY_HIDDEN),
	REFUSED("/a/.well-known/x", WHY_HIDDEN),
	REFUSED("/.well-known/.x", WHY_HIDDEN),
	REFUSED("/.well-known/a/.x", WHY_HIDDEN),
	REFUSED("/.well-known/.well-known", WHY_HIDDEN),
};

/* From and to memory of exactly the promised sizes. */
static void
check_case(const char *bytes, size_t n, const char *want, enum why why)
{
	char		*raw = malloc(n > 0 ? n : 1);
	char		*out = malloc(n + 1);
	size_t		 len = 0;
	enum why		 got;

	ck_assert(raw != NULL && out != NULL);
	memcpy(raw, bytes, n);
	got = uri_resolve((struct str){ raw, n }, out, n + 1, &len);
	ck_assert_msg(got == why, "%s gives %d", unit_show(bytes, n), got);
	if (want != NULL) {
		ck_assert_msg(strcmp(out, want) == 0, "%s gives %s",
		    unit_show(bytes, n), unit_show(out, strlen(out)));
		ck_assert_uint_eq(len, strlen(want));
	}
	free(raw);
	free(out);
}

START_TEST(resolve)
{
	check_case(cases[_i].raw, cases[_i].len, cases[_i].want, cases[_i].why);
}
END_TEST

/* Every byte, raw and escaped. */
START_TEST(every_byte)
{
	char	raw[] = "/x@", escaped[] = "/x%@@", want[] = "/x@";

	for (int c = 0; c < 256; c++) {
		bool	fine = c >= ' ' && c != 0x7f && c != '/';

		want[2] = raw[2] = (char)c;
		escaped[3] = "0123456789abcdef"[c >> 4];
		escaped[4] = "0123456789ABCDEF"[c & 15];
		check_case(escaped, 5, fine ? want : NULL,
		    fine ? 0 : WHY_BAD_BYTE);
		if (c != '%' && c != '/')
			check_case(raw, 3, fine ? want : NULL,
			    fine ? 0 : WHY_BAD_BYTE);
	}
}
END_TEST

static const struct {
	struct str	 raw;
	const char	*want;
} rooms[] = {
	{ { "/%41%41///%62/", 14 }, "/AA/b/" },
	{ { "/%41///%62%62", 13 }, "/A/bb" },
	{ { "///", 3 }, "/" },
};

/* A path needs its length and a NUL; escapes count once. */
START_TEST(room)
{
	size_t	enough = strlen(rooms[_i].want) + 1, len = 0;

	for (size_t size = 0; size < enough + 3; size++) {
		char	*out = malloc(size > 0 ? size : 1);
		enum why why;

		ck_assert_ptr_nonnull(out);
		why = uri_resolve(rooms[_i].raw, out, size, &len);
		ck_assert_int_eq(why, size < enough ? WHY_PATH_LONG : 0);
		if (why == WHY_NONE) {
			ck_assert_str_eq(out, rooms[_i].want);
			ck_assert_uint_eq(len, enough - 1);
		}
		free(out);
	}
}
END_TEST

static const struct {
	const char	*path, *want;
} encodings[] = {
	{ "", "" },
	{ "/", "/" },
	{ "/a/b.html", "/a/b.html" },
	{ "/azAZ09-._~!$&'()*+,;=:@", "/azAZ09-._~!$&'()*+,;=:@" },
	{ "/a b", "/a%20b" },
	{ "/a%b", "/a%25b" },
	{ "/a?b#c", "/a%3Fb%23c" },
	{ "/<\">", "/%3C%22%3E" },
	{ "/a\\b[]^`{|}", "/a%5Cb%5B%5D%5E%60%7B%7C%7D" },
	{ "/\xc3\xa4", "/%C3%A4" },
	{ "/\r\n\x7f", "/%0D%0A%7F" },
};

START_TEST(encode)
{
	char	out[100];
	size_t	len;

	len = uri_encode(str_of(encodings[_i].path), out);
	ck_assert_str_eq(out, encodings[_i].want);
	ck_assert_uint_eq(len, strlen(encodings[_i].want));
}
END_TEST

START_TEST(encode_nul)
{
	char	out[10];

	ck_assert_uint_eq(uri_encode((struct str){ "/\0/", 3 }, out), 5);
	ck_assert_str_eq(out, "/%00/");
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, resolve, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(t, every_byte);
	tcase_add_loop_test(t, room, 0,
	    (int)(sizeof(rooms) / sizeof(rooms[0])));
	tcase_add_loop_test(t, encode, 0,
	    (int)(sizeof(encodings) / sizeof(encodings[0])));
	tcase_add_test(t, encode_nul);
}
