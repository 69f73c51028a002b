/*
 * Unit test of http/parts.
 */
#include <string.h>

#include "http/parts.h"
#include "t/unit/unit.h"

/* In the order in which they are sent. */
static const char *const leads[] = {
	"--00000000000000ab\r\nContent-Type: text/plain\r\n"
	    "Content-Range: bytes 5-9/100\r\n\r\n",
	"\r\n--00000000000000ab\r\nContent-Type: text/plain\r\n"
	    "Content-Range: bytes 0-0/100\r\n\r\n",
	"\r\n--00000000000000ab--\r\n",
};

static const struct decide_answer	two = {
	206, 2, { { 5, 5 }, { 0, 1 } }
};

START_TEST(walk)
{
	struct parts	*p = parts_new(&two, "Content-Type: text/plain\r\n", 100, 0xab);
	struct str	 lead;
	size_t		 total = 5 + 1;

	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(p->at, i);
		ck_assert(parts_lead(p, &lead));
		ck_assert_msg(str_same(lead, str_of(leads[i])), "%s",
		    unit_show(lead.at, lead.len));
		ck_assert(!parts_lead(p, &lead));
		total += strlen(leads[i]);
		ck_assert(i == 2 || parts_next(p) == (i == 0));
	}
	ck_assert_int_eq(p->length, (int64_t)total);
	parts_free(&p);
	ck_assert_ptr_null(p);
	parts_free(&p);
}
END_TEST

/* As many as there may be, as far away as they may be. */
START_TEST(most)
{
	struct decide_answer	 a = { .status = 206, .n = DECIDE_RANGES };
	struct parts		*p;
	struct str		 lead;
	int64_t			 total = 0;
	unsigned		 n = 0;

	for (unsigned i = 0; i < a.n; i++)
		a.part[i] = (struct decide_range){ INT64_MAX - 3, 2 };
	p = parts_new(&a, "Content-Type: a/b\r\n", INT64_MAX, UINT64_MAX);
	ck_assert_str_eq(p->boundary, "ffffffffffffffff");
	do {
		ck_assert(parts_lead(p, &lead));
		total += (int64_t)lead.len + 2;
		n++;
	} while (parts_next(p));
	ck_assert(parts_lead(p, &lead));
	ck_assert_uint_eq(n, DECIDE_RANGES);
	ck_assert_int_eq(p->length, total + (int64_t)lead.len);
	parts_free(&p);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_test(t, walk);
	tcase_add_test(t, most);
}
