/*
 * Unit test of http/variant: which variant a client gets.
 */
#include "http/variants/variant.h"
#include "t/unit/unit.h"

/* In the order of the list of kinds. */
enum { BR = 1, ZSTD = 2, GZIP = 4, MADE_BR = 8, MADE_ZSTD = 16, MADE = 32,
	MADE_ALL = 56, ALL = 63 };

/* The value, the variants offered, the one that is used; 0: the file itself,
 * -1: 406. */
static const struct {
	const char	*value;
	unsigned	 offered;
	int		 taken;
} cases[] = {
	{ "gzip", GZIP, GZIP },
	{ "gzip", MADE, MADE },
	{ "gzip", GZIP | MADE, GZIP },
	{ "gzip", BR | ZSTD, 0 },
	{ "GZip", MADE, MADE },
	{ "x-gzip", MADE, MADE },
	{ "X-GZIP;q=0.1", MADE, MADE },
	{ "x-br", ALL, 0 },
	{ "", ALL, 0 },
	{ " , ,", ALL, 0 },
	{ "deflate", ALL, 0 },
	{ "gzi, gzipp, g zip", ALL, 0 },
	{ "gzip, deflate, br, zstd", ALL, BR },
	{ "gzip, deflate, br, zstd", ZSTD | GZIP | MADE, ZSTD },
	{ "gzip, deflate, br, zstd", GZIP | MADE, GZIP },
	{ "gzip, deflate, br, zstd", MADE, MADE },
	{ "gzip, deflate", ALL, GZIP },
	{ "gzip, deflate, br, zstd", MADE_ALL, MADE_BR },
	{ "gzip, zstd", MADE_ALL, MADE_ZSTD },
	{ "gzip", MADE_ALL, MADE },
	/* What is there goes before what would have to be made. */
	{ "gzip, br", GZIP | MADE_ALL, GZIP },
	{ "gzip, br", BR | MADE_ALL, BR },
	{ "gzip;q=0.9, br", GZIP | MADE_ALL, MADE_BR },
	/* Weights. */
	{ "gzip;q=1, br;q=0.9", ALL, GZIP },
	{ "gzip;q=0.9, br;q=1.0", ALL, BR },
	{ "gzip;q=0.001, br;q=0", ALL, GZIP },
	{ "gzip;q=0", ALL, 0 },
	{ "gzip;q=0.000", ALL, 0 },
	{ "gzip ; q=0.5 , zstd ; Q=0.6", ALL, ZSTD },
	{ "br;q=0.5, zstd;q=0.5, gzip;q=0.5", ALL, BR },
	{ "gzip;x=y;q=0", ALL, 0 },
	/* identity: wanted as much, less, more, not at all. */
	{ "gzip, identity", ALL, GZIP },
	{ "identity, gzip", ALL, GZIP },
	{ "identity", ALL, 0 },
	{ "identity;q=0.5, gzip;q=0.4", ALL, 0 },
	{ "identity;q=0.5, gzip;q=0.501", ALL, GZIP },
	{ "identity;q=0.5, gzip;q=0.4, br", GZIP, 0 },
	{ "identity;q=0", MADE, -1 },
	{ "identity;q=0, gzip", MADE, MADE },
	{ "identity;q=0, gzip", BR, -1 },
	{ "identity;q=0, gzip;q=0", ALL, -1 },
	{ "identity;q=0, *", MADE, MADE },
	{ "IDENTITY;q=0.0, br", GZIP, -1 },
	/* All the others. */
	{ "*", ALL, BR },
	{ "*", MADE, MADE },
	{ "*;q=0", ALL, -1 },
	{ "*;q=0, identity", ALL, 0 },
	{ "*;q=0, identity;q=0.1", ALL, 0 },
	{ "*;q=0, gzip", ALL, GZIP },
	{ "*;q=0, gzip", BR, -1 },
	{ "gzip, *;q=0", ALL, GZIP },
	{ "br;q=0, *", ALL, ZSTD },
	{ "*, br;q=0, zstd;q=0", ALL, GZIP },
	{ "*;q=0.5, gzip;q=0.1", MADE, 0 },
	{ "*;q=0.5, gzip", ALL, GZIP },
	/* Twice the same coding: the greater weight counts. */
	{ "gzip;q=0, gzip", MADE, MADE },
	{ "gzip, gzip;q=0", MADE, MADE },
	/* A broken weight says nothing. */
	{ "gzip;q=2", MADE, 0 },
	{ "gzip;q=", MADE, 0 },
	{ "gzip;q=-1", MADE, 0 },
	{ "gzip;q=0.0001", MADE, 0 },
	{ "identity;q=no, gzip", MADE, MADE },
	{ "*;q=x", ALL, 0 },
	{ ";q=1", ALL, 0 },
	{ "gzip;", MADE, MADE },
	{ "\"gzip\"", MADE, 0 },
	{ "\"a, gzip", MADE, 0 },
};

START_TEST(chosen)
{
	uint32_t		which = 99;
	enum variant_choice	choice = variant_negotiate(
				    str_of(cases[_i].value), cases[_i].offered,
				    &which);
	int			taken = choice == VARIANT_USE ? 1 << which :
				    choice == VARIANT_IDENTITY ? 0 : -1;

	ck_assert_msg(taken == cases[_i].taken, "\"%s\" of %u: %d",
	    cases[_i].value, cases[_i].offered, taken);
}
END_TEST

/* A variant that is not offered is never used. */
START_TEST(only_what_there_is)
{
	uint32_t	which;

	for (unsigned offered = 0; offered <= ALL; offered++)
		if (variant_negotiate(str_of(cases[_i].value), offered,
		    &which) == VARIANT_USE)
			ck_assert((offered & 1U << which) != 0);
}
END_TEST

START_TEST(remembered)
{
	static struct choice	 places[CHOICE_PLACES];
	static char		 text[sizeof(places[0].value) + 1];
	struct str		 value = STR("gzip, br"), other = STR("gzip");
	struct str		 longest = { text, sizeof(text) - 1 };
	struct choice		*last = choice_place(places, value, BR);

	ck_assert(!choice_holds(last, value, NULL, BR));
	ck_assert_uint_eq(choice_keep(last, value, NULL, BR, 7), 7);
	ck_assert(choice_holds(last, value, NULL, BR));
	ck_assert_uint_eq(last->chosen, 7);
	ck_assert(!choice_holds(last, value, places, BR));
	ck_assert(!choice_holds(last, value, NULL, BR | GZIP));
	ck_assert(!choice_holds(last, STR("gzip, bR"), NULL, BR));
	/* Another browser's has another place. */
	ck_assert_ptr_ne(choice_place(places, other, BR), last);
	/* The longest is kept, but none that is longer. */
	memset(text, 'x', sizeof(text));
	choice_keep(last, longest, NULL, BR, 8);
	ck_assert(choice_holds(last, longest, NULL, BR));
	longest.len++;
	ck_assert_uint_eq(choice_keep(last, longest, NULL, BR, 9), 9);
	ck_assert(!choice_holds(last, longest, NULL, BR));
	longest.len--;
	ck_assert(choice_holds(last, longest, NULL, BR));
	ck_assert_uint_eq(last->chosen, 8);
}
END_TEST

void
unit_tests(TCase *tests)
{
	int	n = sizeof(cases) / sizeof(cases[0]);

	tcase_add_loop_test(tests, chosen, 0, n);
	tcase_add_loop_test(tests, only_what_there_is, 0, n);
	tcase_add_test(tests, remembered);
}
