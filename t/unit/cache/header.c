/*
 * Tests of the header cache: alignment, Date, holds.
 */
#include <stdint.h>
#include <string.h>

#include "cache/header.h"
#include "t/unit/unit.h"

#define BYTES	"Date: one.  padded to two lines of the cache: sixty-four bytes."
#define DATE_AT	6
#define KIND	0

static struct header_cache	heads;
static struct header_date	date;

static void
init_cache(void)
{
	header_init(&heads, 1024);
	date = (struct header_date){ "one.", 4, 1 };
	ck_assert_uint_eq(sizeof(BYTES), 64);
}

static void
set_second(void)
{
	date = (struct header_date){ "two!", 4, 2 };
}

START_TEST(aligned)
{
	struct head	*owned = NULL, *h;

	h = header_put(&heads, &owned, KIND, BYTES, sizeof(BYTES), DATE_AT,
	    &date);
	ck_assert_uint_eq((uintptr_t)header_bytes(h) % HEADER_ALIGNMENT, 0);
	ck_assert_uint_eq(header_len(h) % HEADER_ALIGNMENT, 0);
	ck_assert_mem_eq(header_bytes(h), BYTES, sizeof(BYTES));
	header_release(&heads, &h);
	ck_assert_ptr_null(h);
	ck_assert_ptr_nonnull(owned);
	header_drop_all(&heads, &owned);
	ck_assert_ptr_null(owned);
	header_free(&heads);
}
END_TEST

START_TEST(date_in_place)
{
	struct head	*owned = NULL, *h, *same;

	h = same = header_put(&heads, &owned, KIND, BYTES, sizeof(BYTES),
	    DATE_AT, &date);
	header_release(&heads, &h);
	set_second();
	h = header_hold(&heads, &owned, KIND, &date);
	ck_assert_ptr_eq(h, same);
	ck_assert_mem_eq(header_bytes(h), "Date: two!", 10);
	header_release(&heads, &h);
	header_drop_all(&heads, &owned);
	header_free(&heads);
}
END_TEST

START_TEST(date_not_under_a_holder)
{
	struct head	*owned = NULL, *sending, *h;

	sending = header_put(&heads, &owned, KIND, BYTES, sizeof(BYTES),
	    DATE_AT, &date);
	set_second();
	h = header_hold(&heads, &owned, KIND, &date);
	ck_assert_ptr_ne(h, sending);
	ck_assert_mem_eq(header_bytes(h), "Date: two!", 10);
	ck_assert_mem_eq(header_bytes(sending), "Date: one.", 10);
	ck_assert_uint_eq((uintptr_t)header_bytes(h) % HEADER_ALIGNMENT, 0);
	header_release(&heads, &sending);
	header_release(&heads, &h);
	ck_assert_uint_eq(heads.cache.entries, 1);
	header_drop_all(&heads, &owned);
	header_free(&heads);
}
END_TEST

START_TEST(cleared_while_held)
{
	struct head	*owned = NULL, *h;

	h = header_put(&heads, &owned, KIND, BYTES, sizeof(BYTES), DATE_AT,
	    &date);
	header_drop_all(&heads, &owned);
	ck_assert_ptr_null(owned);
	ck_assert_uint_eq(heads.cache.entries, 0);
	ck_assert_mem_eq(header_bytes(h), BYTES, sizeof(BYTES));
	header_release(&heads, &h);
	header_drop_all(&heads, &owned);	/* an empty list is fine */
	ck_assert_ptr_null(header_hold(&heads, &owned, KIND, &date));
	header_free(&heads);
}
END_TEST

/* One head of each kind; they come and go independently. */
START_TEST(kinds)
{
	struct head	*owned = NULL, *h[3], *again;

	for (unsigned out = 0; out < 3; out++) {
		for (unsigned kind = 0; kind < 3; kind++)
			h[kind] = header_put(&heads, &owned, kind, BYTES,
			    sizeof(BYTES), DATE_AT, &date);
		for (unsigned kind = 0; kind < 3; kind++)
			ck_assert_uint_eq(h[kind]->kind, kind);
		/* One head of several gets a fresh copy. */
		date.wall++;
		again = header_hold(&heads, &owned, out, &date);
		ck_assert_ptr_ne(again, h[out]);
		ck_assert_uint_eq(again->kind, out);
		ck_assert_uint_eq(heads.cache.entries, 3);
		header_release(&heads, &again);
		date.wall--;
		for (unsigned kind = 0; kind < 3; kind++)
			header_release(&heads, &h[kind]);
		header_drop_all(&heads, &owned);
		ck_assert_ptr_null(owned);
		ck_assert_uint_eq(heads.cache.entries, 0);
	}
	header_free(&heads);
}
END_TEST

/* A held head stays, a used one has a chance while there are any, and all stay
 * within the limit. */
START_TEST(evicted)
{
	struct head	*owned[20] = { NULL }, *h, *held;
	unsigned	 chances = 1;

	for (int i = 0; i < 20; i++) {
		h = header_put(&heads, &owned[i], KIND, BYTES,
		    sizeof(BYTES), DATE_AT, &date);
		header_release(&heads, &h);
	}
	held = header_hold(&heads, &owned[0], KIND, &date);
	for (int i = 0; i < 2; i++) {
		header_evict(&heads, &owned[i], &chances);
		ck_assert_ptr_nonnull(owned[i]);
	}
	ck_assert_uint_eq(chances, 0);
	header_evict(&heads, &owned[2], &chances);
	ck_assert_ptr_null(owned[2]);
	chances = 1;
	header_evict(&heads, &owned[1], &chances);
	ck_assert_ptr_null(owned[1]);
	ck_assert_uint_eq(chances, 1);
	ck_assert_uint_eq(heads.cache.evictions, 2);
	chances = 0;
	for (int i = 3; i < 20; i++)
		header_evict(&heads, &owned[i], &chances);
	ck_assert_uint_le(heads.cache.bytes, 1024);
	ck_assert_ptr_nonnull(owned[19]);
	header_release(&heads, &held);
	for (int i = 0; i < 20; i++)
		header_drop_all(&heads, &owned[i]);
	header_free(&heads);
}
END_TEST

/* With a disabled cache no head stays, and a held head is good until its
 * release. */
START_TEST(off)
{
	struct head	*owned = NULL, *h, *other;

	cache_disable(&heads.cache);
	h = header_put(&heads, &owned, KIND, BYTES, sizeof(BYTES), DATE_AT,
	    &date);
	ck_assert_ptr_null(owned);
	ck_assert_ptr_null(header_hold(&heads, &owned, KIND, &date));
	other = header_put(&heads, &owned, KIND, BYTES, sizeof(BYTES), DATE_AT,
	    &date);
	ck_assert_ptr_ne(h, other);
	header_release(&heads, &other);
	ck_assert_mem_eq(header_bytes(h), BYTES, sizeof(BYTES));
	header_release(&heads, &h);
	ck_assert_uint_eq(heads.cache.entries, 0);
	ck_assert_uint_eq(heads.cache.bytes, 0);
}
END_TEST

/* Any length, at an odd address; all else as with aligned heads. */
START_TEST(unaligned)
{
	struct head	*owned = NULL, *h;

	heads.unaligned = true;
	for (size_t len = 10; len <= sizeof(BYTES); len++) {
		h = header_put(&heads, &owned, KIND, BYTES, len, DATE_AT,
		    &date);
		ck_assert_uint_eq((uintptr_t)header_bytes(h) % 2, 1);
		ck_assert_uint_eq(header_len(h), len);
		ck_assert_mem_eq(header_bytes(h), BYTES, len);
		header_release(&heads, &h);
		set_second();
		h = header_hold(&heads, &owned, KIND, &date);
		ck_assert_mem_eq(header_bytes(h), "Date: two!", 10);
		ck_assert_mem_eq(header_bytes(h) + 10, &BYTES[10], len - 10);
		header_release(&heads, &h);
		header_drop_all(&heads, &owned);
		header_free(&heads);
		init_cache();
		heads.unaligned = true;
	}
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, init_cache, NULL);
	tcase_add_test(tests, aligned);
	tcase_add_test(tests, date_in_place);
	tcase_add_test(tests, date_not_under_a_holder);
	tcase_add_test(tests, cleared_while_held);
	tcase_add_test(tests, kinds);
	tcase_add_test(tests, evicted);
	tcase_add_test(tests, off);
	tcase_add_test(tests, unaligned);
}
