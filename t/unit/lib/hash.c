/*
 * Tests of lib/hash: deterministic under a key, different under another, every
 * bit of the input counts, buckets fill evenly.
 */
#include <stdio.h>
#include <string.h>

#include "lib/hash.h"
#include "t/unit/unit.h"

static const struct hash_key	key = { 1, 2 };

START_TEST(depends_on_all)
{
	char		text[40];
	uint64_t	h;

	memset(text, 'x', sizeof(text));
	for (size_t len = 1; len < sizeof(text); len++) {
		h = hash_bytes(&key, 0, text, len);
		ck_assert(h == hash_bytes(&key, 0, text, len));
		ck_assert(h != hash_bytes(&key, 1, text, len));
		ck_assert(h != hash_bytes(&(struct hash_key){ 1, 3 }, 0, text,
		    len));
		ck_assert(h != hash_bytes(&key, 0, text, len - 1));
		for (size_t i = 0; i < len; i++) {
			text[i] ^= 1;
			ck_assert(h != hash_bytes(&key, 0, text, len));
			text[i] ^= 1;
		}
	}
}
END_TEST

/* A tag must be the same on another machine, and after an upgrade.  The value
 * is SipHash-1-3's of eight zero bytes and "amped", by another implementation.
 */
START_TEST(stays)
{
	ck_assert(hash_bytes(&(struct hash_key){ 0, 0 }, 0, "amped", 5) ==
	    0xd7d85bfe1dde3b8bULL);
}
END_TEST

/* All numbers of bytes behind the last eight; by the same implementation. */
START_TEST(of_every_length)
{
	static const char	text[] = "0123456789abcdefghijklm";
	uint64_t		all = 0;

	for (size_t len = 0; len < sizeof(text); len++)
		all = (all << 1 | all >> 63) ^ hash_bytes(&key, 3, text, len);
	ck_assert(all == 0xda8d4ec37cb89ff0ULL);
}
END_TEST

START_TEST(spreads)
{
	unsigned	fill[256] = { 0 };
	char		name[32];
	int		n;

	for (int i = 0; i < 25600; i++) {
		n = snprintf(name, sizeof(name), "/images/%d.png", i);
		fill[hash_bytes(&key, 3, name, (size_t)n) & 255]++;
	}
	for (int i = 0; i < 256; i++) {
		ck_assert_uint_gt(fill[i], 50);
		ck_assert_uint_lt(fill[i], 160);
	}
}
END_TEST

START_TEST(keys_differ)
{
	struct hash_key	a, b;

	hash_key_random(&a);
	hash_key_random(&b);
	ck_assert(a.k0 != b.k0 || a.k1 != b.k1);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, depends_on_all);
	tcase_add_test(tests, stays);
	tcase_add_test(tests, of_every_length);
	tcase_add_test(tests, spreads);
	tcase_add_test(tests, keys_differ);
}
