/*
 * Unit test of http/hot.
 */
#include <stdlib.h>
#include <string.h>

#include "http/hot.h"
#include "t/unit/unit.h"

#define BYTES	"Date: one.  padded to two lines of the cache: sixty-four bytes."
#define DATE_AT	6

static struct header_cache	heads;
static struct head		*owned;
static struct header_date	date;
static struct hot_responses		w;
static char			body[HOT_BYTES_MAX + 1];

static void
init_heads(void)
{
	header_init(&heads, 1024 * 1024);
	date = (struct header_date){ "one.", 4, 1 };
	memset(body, 'b', sizeof(body));
}

/* Makes a request that finds this head and has so much body; returns the hot
 * response that it found. */
static const struct hot_response *
ask_for(struct head **owner, size_t len)
{
	const struct hot_response	*found;
	struct head	*h = header_hold(&heads, owner, 0, &date);

	if (h == NULL)
		h = header_put(&heads, owner, 0, BYTES, sizeof(BYTES), DATE_AT,
		    &date);
	found = hot_find(&w, h);
	if (found == NULL)
		hot_count(&w, h, body, len);
	header_release(&heads, &h);
	return found;
}

/* The number of requests before one finds a hot response. */
static int
count_needed(struct head **owner, size_t len)
{
	int	n = 0;

	while (ask_for(owner, len) == NULL && n < 100)
		n++;
	return n;
}

static void
end_test(struct head **owner)
{
	header_drop_all(&heads, owner);
	hot_clear(&w, &heads);
	free(w.buffer);
	memset(&w, 0, sizeof(w));
	header_free(&heads);
}

START_TEST(one_piece)
{
	const struct hot_response	*found;

	ck_assert_int_eq(count_needed(&owned, 500), HOT_AFTER + 1);
	found = ask_for(&owned, 500);
	ck_assert_uint_eq(found->bytes.len, sizeof(BYTES) + 500);
	ck_assert_uint_eq((uintptr_t)found->bytes.at % HEADER_ALIGNMENT, 0);
	ck_assert_mem_eq(found->bytes.at, BYTES, sizeof(BYTES));
	ck_assert_mem_eq(found->bytes.at + sizeof(BYTES), body, 500);
	end_test(&owned);
}
END_TEST

START_TEST(a_second)
{
	count_needed(&owned, 500);
	date = (struct header_date){ "two!", 4, 2 };
	hot_clear(&w, &heads);
	ck_assert_int_eq(count_needed(&owned, 500), HOT_AFTER + 1);
	ck_assert_mem_eq(ask_for(&owned, 500)->bytes.at, "Date: two!", 10);
	end_test(&owned);
}
END_TEST

/* Too few requests within a second, and again within the next. */
START_TEST(too_few)
{
	for (int i = 0; i < HOT_AFTER; i++)
		ck_assert_ptr_null(ask_for(&owned, 500));
	date = (struct header_date){ "two!", 4, 2 };
	for (int i = 0; i <= HOT_AFTER; i++)
		ck_assert_ptr_null(ask_for(&owned, 500));
	ck_assert_ptr_nonnull(ask_for(&owned, 500));
	end_test(&owned);
}
END_TEST

/* The head was evicted: no request finds the response, and it does no harm. */
START_TEST(head_gone)
{
	count_needed(&owned, 500);
	header_drop_all(&heads, &owned);
	ck_assert_int_eq(count_needed(&owned, 400), HOT_AFTER + 1);
	ck_assert_uint_eq(ask_for(&owned, 400)->bytes.len, sizeof(BYTES) + 400);
	end_test(&owned);
}
END_TEST

START_TEST(no_room)
{
	struct head	*others[HOT_RESPONSES_MAX] = { NULL };
	int		 n;

	ck_assert_int_eq(count_needed(&owned, HOT_BYTES_MAX), 100);
	ck_assert_ptr_null(w.buffer);
	for (n = 0; n < HOT_RESPONSES_MAX; n++)
		if (count_needed(&others[n], HOT_BYTES_MAX / 10) == 100)
			break;
	ck_assert_int_eq(n, 9);
	ck_assert_int_eq(count_needed(&others[n], 100), 0 + 1);
	/* The next second makes room. */
	hot_clear(&w, &heads);
	ck_assert_int_eq(count_needed(&others[8], HOT_BYTES_MAX / 10),
	    HOT_AFTER + 1);
	for (int i = 0; i <= n; i++)
		header_drop_all(&heads, &others[i]);
	end_test(&owned);
}
END_TEST

START_TEST(no_more)
{
	struct head	*others[HOT_RESPONSES_MAX + 1] = { NULL };

	for (int i = 0; i < HOT_RESPONSES_MAX; i++)
		ck_assert_int_eq(count_needed(&others[i], 1), HOT_AFTER + 1);
	ck_assert_int_eq(count_needed(&others[HOT_RESPONSES_MAX], 1), 100);
	ck_assert_ptr_eq(ask_for(&others[HOT_RESPONSES_MAX - 1], 1),
	    &w.entries[HOT_RESPONSES_MAX - 1]);
	for (int i = 0; i <= HOT_RESPONSES_MAX; i++)
		header_drop_all(&heads, &others[i]);
	end_test(&owned);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, init_heads, NULL);
	tcase_add_test(t, one_piece);
	tcase_add_test(t, a_second);
	tcase_add_test(t, too_few);
	tcase_add_test(t, head_gone);
	tcase_add_test(t, no_room);
	tcase_add_test(t, no_more);
}
