/*
 * Unit test of lib/base64: valid and invalid texts.
 */
#include <string.h>

#include "lib/base64.h"
#include "t/unit/unit.h"

/* The examples of RFC 4648, section 10, and others. */
static const struct {
	const char	*text, *bytes;
	size_t		 len;
} good_texts[] = {
	{ "", "", 0 }, { "Zg==", "f", 1 }, { "Zm8=", "fo", 2 },
	{ "Zm9v", "foo", 3 }, { "Zm9vYg==", "foob", 4 },
	{ "Zm9vYmE=", "fooba", 5 }, { "Zm9vYmFy", "foobar", 6 },
	{ "AA==", "\0", 1 }, { "+/+/", "\xfb\xff\xbf", 3 },
	{ "////", "\xff\xff\xff", 3 },
};

START_TEST(decodes)
{
	char	out[8];
	size_t	len;

	ck_assert(base64_decode(str_of(good_texts[_i].text), out, sizeof(out),
	    &len));
	ck_assert_uint_eq(len, good_texts[_i].len);
	ck_assert_mem_eq(out, good_texts[_i].bytes, len);
	/* len is set even if the bytes do not fit. */
	ck_assert(base64_decode(str_of(good_texts[_i].text), out, len, &len));
	if (len > 0)
		ck_assert(!base64_decode(str_of(good_texts[_i].text), out,
		    len - 1, &len));
}
END_TEST

START_TEST(encodes)
{
	struct buf	out = { 0 };

	base64_add(&out, (struct str){ good_texts[_i].bytes,
	    good_texts[_i].len });
	ck_assert_str_eq(buf_string(&out), good_texts[_i].text);
	buf_free(&out);
}
END_TEST

static const char *const bad_texts[] = {
	"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "=", "Zg==Zg==",
	"Zm9v\n", "Zm 9", "Zm9-", "Zm9_", "Zm9vYg=", "Zg==\n", "Zm9v====",
	"Z=m8", " Zm8", "Zm\xc3\xa9",
};

START_TEST(refuses)
{
	char	out[16];
	size_t	len;

	ck_assert(!base64_decode(str_of(bad_texts[_i]), out, sizeof(out),
	    &len));
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, decodes, 0,
	    sizeof(good_texts) / sizeof(good_texts[0]));
	tcase_add_loop_test(t, encodes, 0,
	    sizeof(good_texts) / sizeof(good_texts[0]));
	tcase_add_loop_test(t, refuses, 0,
	    sizeof(bad_texts) / sizeof(bad_texts[0]));
}
