/*
 * Unit test of proto/multipart.
 */
#include <string.h>

#include "proto/multipart.h"
#include "t/unit/unit.h"

/* The part headers, in order. */
static const char *const headers[] = {
	"--00000000000000ab\r\nContent-Type: text/plain\r\n"
	    "Content-Range: bytes 5-9/100\r\n\r\n",
	"\r\n--00000000000000ab\r\nContent-Type: text/plain\r\n"
	    "Content-Range: bytes 0-0/100\r\n\r\n",
	"\r\n--00000000000000ab--\r\n",
};

static const struct cond_result	two = {
	206, 2, { { 5, 5 }, { 0, 1 } }
};

START_TEST(walk)
{
	struct multipart *p =
	    multipart_new(&two, "Content-Type: text/plain\r\n", 100, 0xab);
	struct str	 lead;
	size_t		 total = 5 + 1;

	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(p->current, i);
		ck_assert(multipart_header(p, &lead));
		ck_assert_msg(str_same(lead, str_of(headers[i])), "%s",
		    unit_show(lead.at, lead.len));
		ck_assert(!multipart_header(p, &lead));
		total += strlen(headers[i]);
		ck_assert(i == 2 || multipart_next(p) == (i == 0));
	}
	ck_assert_int_eq(p->length, (int64_t)total);
	multipart_free(&p);
	ck_assert_ptr_null(p);
	multipart_free(&p);
}
END_TEST

/* The maximum of ranges, at the largest offsets. */
START_TEST(most)
{
	struct cond_result	 a = { .status = 206, .n = COND_RANGES_MAX };
	struct multipart		*p;
	struct str		 lead;
	int64_t			 total = 0;
	unsigned		 n = 0;

	for (unsigned i = 0; i < a.n; i++)
		a.range[i] = (struct byte_range){ INT64_MAX - 3, 2 };
	p = multipart_new(&a, "Content-Type: a/b\r\n", INT64_MAX, UINT64_MAX);
	ck_assert_str_eq(p->boundary, "ffffffffffffffff");
	do {
		ck_assert(multipart_header(p, &lead));
		total += (int64_t)lead.len + 2;
		n++;
	} while (multipart_next(p));
	ck_assert(multipart_header(p, &lead));
	ck_assert_uint_eq(n, COND_RANGES_MAX);
	ck_assert_int_eq(p->length, total + (int64_t)lead.len);
	multipart_free(&p);
}
END_TEST

/* Reads the rest of the body, bytes of the file as dots. */
static size_t
read_rest(struct multipart *p, int64_t next, int64_t end, char *to)
{
	struct str	lead;
	size_t		n = 0;

	for (;;) {
		if (multipart_header(p, &lead)) {
			memcpy(to + n, lead.at, lead.len);
			n += lead.len;
		}
		if (p->current == p->n)
			return n;
		for (; next < end; next++)
			to[n++] = (char)('0' + next);
		if (multipart_next(p)) {
			next = p->range[p->current].first;
			end = next + p->range[p->current].length;
		}
	}
}

/* Sending goes on at any place of the body. */
START_TEST(seek)
{
	struct multipart *p =
	    multipart_new(&two, "Content-Type: text/plain\r\n", 100, 0xab);
	char		 all[500], again[500];
	size_t		 len = read_rest(p, 5, 10, all);
	int64_t		 next, end;

	ck_assert_int_eq(p->length, (int64_t)len);
	for (size_t at = 0; at <= len; at++) {
		end = multipart_seek(p, (int64_t)at, &next);
		ck_assert_uint_eq(read_rest(p, next, end, again), len - at);
		ck_assert_mem_eq(again, all + at, len - at);
	}
	multipart_free(&p);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_test(t, walk);
	tcase_add_test(t, most);
	tcase_add_test(t, seek);
}
