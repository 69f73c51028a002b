/*
 * Unit test of http/limits/verifiers: the order of entries, and refusals.
 */
#include "http/limits/verifiers.h"
#include "t/unit/unit.h"

#define MANY	64

static const struct verifiers_limits	one = { 1, 1 }, none = { 0, 1 };
static struct verifiers			vs;
static struct verifier_entry			all[MANY];

static struct address_key
name_address(uint8_t host)
{
	const uint8_t	bytes[4] = { 192, 0, 2, host };

	return addresses_key(bytes, sizeof(bytes));
}

static enum verifier_state
enter_queue(struct verifier_entry *v, uint8_t host,
    const struct verifiers_limits *limits)
{
	const struct address_key	of = name_address(host);
	bool				takes;
	enum verifier_state		state;

	takes = verifiers_accepts(&vs, &of, limits);
	state = verifiers_add(&vs, v, &of, NULL, limits);
	ck_assert(takes == (state != VERIFIER_REFUSED));
	return state;
}

static void
leave_queue(struct verifier_entry *v)
{
	verifiers_remove(&vs, v);
}

/* The entry that starts next; NULL: none. */
static struct verifier_entry *
next_verified(const struct verifiers_limits *room)
{
	const void	*home = &vs;

	if (!verifiers_assign(&vs, room, &home))
		return NULL;
	ck_assert_ptr_null(home);
	return verifiers_start_next(&vs, NULL);
}

/* An address has many entries, two others a few: none waits for all of
 * another's. */
START_TEST(turns)
{
	static const int	 order[] = { 1, 5, 7, 2, 6, 3, 4 };
	struct verifier_entry	*v, *before = &all[0];

	verifiers_init(&vs, MANY);
	ck_assert_int_eq(enter_queue(&all[0], 1, &one), VERIFIER_RUNNING);
	for (int i = 1; i < 8; i++)
		ck_assert_int_eq(enter_queue(&all[i], i < 5 ? 1 : i < 7 ? 2 : 3,
		    &one), VERIFIER_QUEUED);
	ck_assert_ptr_null(next_verified(&one));
	for (int i = 0; i < 7; i++) {
		leave_queue(before);
		ck_assert_ptr_null(next_verified(&none));
		v = next_verified(&one);
		ck_assert_ptr_eq(v, &all[order[i]]);
		before = v;
	}
	leave_queue(before);
	ck_assert_ptr_null(next_verified(&one));
	verifiers_free(&vs);
}
END_TEST

/* An address has no more than its share, though there are slots. */
START_TEST(share)
{
	const struct verifiers_limits	eight = { 8, 4 };

	verifiers_init(&vs, MANY);
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(enter_queue(&all[i], 1, &eight), i < 4 ?
		    VERIFIER_RUNNING : VERIFIER_QUEUED);
	for (int i = 6; i < 11; i++)
		ck_assert_int_eq(enter_queue(&all[i], 2, &eight), i < 10 ?
		    VERIFIER_RUNNING : VERIFIER_QUEUED);
	ck_assert_int_eq(vs.busy, 8);
	leave_queue(&all[6]);
	/* The first address is next but has its share. */
	ck_assert_ptr_eq(next_verified(&eight), &all[10]);
	leave_queue(&all[3]);
	ck_assert_ptr_eq(next_verified(&eight), &all[4]);
	ck_assert_ptr_null(next_verified(&eight));
	for (int i = 0; i < 11; i++)
		if (i != 6 && i != 3)
			leave_queue(&all[i]);
	ck_assert_int_eq(vs.busy, 0);
	verifiers_free(&vs);
}
END_TEST

/* However fast each of some addresses is, another one finds room. */
START_TEST(never_full_by_few)
{
	int	n = 1, before;

	verifiers_init(&vs, 12);
	ck_assert_int_eq(enter_queue(&all[0], 100, &one), VERIFIER_RUNNING);
	do {
		before = n;
		for (uint8_t host = 0; host < _i; host++)
			n += enter_queue(&all[n], host, &one) ==
			    VERIFIER_QUEUED;
	} while (n > before);
	ck_assert_uint_eq(vs.waiting, (size_t)n - 1);
	ck_assert_uint_ge(vs.waiting, 6);
	ck_assert_int_eq(enter_queue(&all[n], 200, &one), VERIFIER_QUEUED);
	leave_queue(&all[n]);
	while (n-- > 0)
		leave_queue(&all[n]);
	verifiers_free(&vs);
}
END_TEST

/* The owner is told and starts its own entries only; an entry may be removed at
 * any time. */
START_TEST(homes)
{
	const struct verifiers_limits	 two = { 2, 2 };
	const struct address_key	 of = name_address(1);
	const int			 a = 1, b = 2;
	const void			*home;

	verifiers_init(&vs, MANY);
	vs.lock = lock_new();
	verifiers_add(&vs, &all[0], &of, &a, &two);
	verifiers_add(&vs, &all[1], &of, &b, &two);
	verifiers_add(&vs, &all[2], &of, &a, &two);
	verifiers_add(&vs, &all[3], &of, &b, &two);
	verifiers_add(&vs, &all[4], &of, &b, &two);
	ck_assert_ptr_eq(verifiers_first(&vs, &b), &all[3]);
	leave_queue(&all[1]);
	ck_assert(verifiers_assign(&vs, &two, &home));
	ck_assert_ptr_eq(home, &a);
	ck_assert(!verifiers_assign(&vs, &two, &home));
	ck_assert_ptr_null(verifiers_start_next(&vs, &b));
	ck_assert_ptr_eq(verifiers_first(&vs, &a), &all[2]);
	leave_queue(&all[2]);			/* assigned, not running */
	ck_assert_ptr_null(verifiers_start_next(&vs, &a));
	ck_assert(verifiers_assign(&vs, &two, &home));
	ck_assert_ptr_eq(home, &b);
	ck_assert_ptr_eq(verifiers_start_next(&vs, &b), &all[3]);
	leave_queue(&all[4]);			/* neither assigned */
	ck_assert_ptr_null(verifiers_first(&vs, &b));
	leave_queue(&all[3]);
	leave_queue(&all[0]);
	verifiers_free(&vs);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_test(t, turns);
	tcase_add_test(t, share);
	tcase_add_loop_test(t, never_full_by_few, 1, 5);
	tcase_add_test(t, homes);
}
