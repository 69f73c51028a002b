/*
 * Tests of advice: epochs, figures, changes of policy, in a cache of chunks of
 * files whose bytes are those of /dev/zero.
 */
#include <fcntl.h>
#include <math.h>

#include "cache/advice.h"
#include "t/unit/cache/files.h"

#define FILES	400
#define LIMIT	(1000 * KIB)
#define EPOCH	1000		/* ms */

static struct file		*all[FILES];
static uint64_t			 randomness;
static int64_t			 now;		/* ms */
static struct advice_change	 change;
static unsigned			 nchanges;

/* A tenth are large, and mapped. */
static int64_t
size_of(unsigned number)
{
	return number % 10 == 0 ? 200000 : 500 + number * 37 % 9000;
}

static struct file *
make_file(unsigned number)
{
	struct job_version	version = { .dev = 1, .ino = number + 1000,
				    .size = size_of(number) };
	struct job_facts	facts = { .mode = S_IFREG,
				    .in_memory = true };
	int			fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ne(fd, -1);
	return file_new(&files, fd, &version, &facts);
}

static void
begin(size_t limit, unsigned policy, bool chooses)
{
	const struct advice_setup	setup = { .policy = policy,
					    .chooses = chooses,
					    .epoch = EPOCH };

	chunk_init(&chunks, limit, 0);
	file_init(&files, &chunks, FILES, 64 * KIB, 16 * KIB, RESIDENCY_AUTO);
	cache_set_policy(&chunks.cache, policies_all[policy]);
	advice_begin(&chunks, &setup);
	for (unsigned i = 0; i < FILES; i++)
		all[i] = NULL;
	randomness = 12;
	now = 1000000;
	nchanges = 0;
}

static void
end(void)
{
	for (unsigned i = 0; i < FILES; i++)
		file_drop(&all[i]);
	ck_assert_uint_eq(chunks.cache.entries, 0);
	file_free(&files);
	chunk_free(&chunks);
	ck_assert_ptr_null(chunks.advised.advice);
}

/* A response: all chunks of a file, which is opened if its copy has gone. */
static void
ask(unsigned number)
{
	struct file	*f = all[number];
	struct chunk	*k;

	if (f != NULL && file_fd(f) == -1 && !chunk_is_complete(f))
		file_drop(&all[number]);
	if (all[number] == NULL)
		all[number] = make_file(number);
	f = all[number];
	for (uint32_t i = 0; i < f->nchunks; i++) {
		k = chunk_hold(&chunks, f, i);
		if (f->small && !f->copied)
			ck_assert_int_eq(chunk_adopt_copy(k,
			    f->open_file->fd), 0);
		chunk_release(&chunks, &k);
	}
}

static void
judge(void)
{
	nchanges += advice_judge(&chunks, now, &change);
}

/* Few files are asked for often; 100 requests a second. */
static void
play(unsigned requests)
{
	double	part;

	for (unsigned i = 0; i < requests; i++) {
		randomness = randomness * UINT64_C(6364136223846793005) + 1;
		part = (double)(randomness >> 11) /
		    (double)(UINT64_C(1) << 53);
		ask((unsigned)(pow(FILES, part) - 1) % FILES);
		if (i % 100 == 99) {
			now += 1000;
			judge();
		}
	}
}

/* What is foretold for the policy that the cache has is what happens. */
START_TEST(foretold)
{
	struct advice_figures	f;

	begin(LIMIT, (unsigned)_i, false);
	ck_assert(advice_get(&chunks, &f));
	ck_assert_uint_eq(f.epochs, 0);
	play(40000);
	ck_assert(advice_get(&chunks, &f));
	ck_assert_uint_gt(f.epochs, 5);
	ck_assert_uint_eq(f.policy, (unsigned)_i);
	ck_assert_uint_eq(f.sample, ADVICE_ALL);
	ck_assert_int_ge(f.real_misses, 30000);
	ck_assert_int_le(abs((int)f.real_misses - (int)f.misses[_i]), 10000);
	ck_assert_uint_lt(f.misses[MINIATURE_TWICE], f.misses[_i]);
	ck_assert_uint_gt(f.misses[MINIATURE_HALF], f.misses[_i]);
	ck_assert_uint_ge(f.requests, ADVICE_EPOCH);
	ck_assert_uint_eq(nchanges, 0);
	end();
}
END_TEST

/* From each policy to the same one, and then no more; the loop's number is the
 * policy at the start. */
START_TEST(chosen)
{
	struct advice_figures	f;
	unsigned		settled;

	begin(LIMIT, (unsigned)_i, true);
	play(30000);
	settled = nchanges;
	ck_assert_uint_le(settled, 2);
	play(50000);
	ck_assert_uint_eq(nchanges, settled);
	ck_assert(advice_get(&chunks, &f));
	ck_assert_uint_eq(f.changes, nchanges);
	ck_assert_ptr_eq(chunks.cache.policy, policies_all[f.policy]);
	for (int i = 0; i < POLICY_NUMBER; i++)
		ck_assert_uint_le(f.misses[f.policy], f.misses[i] + 11000);
	ck_assert_int_le(abs((int)f.real_misses - (int)f.misses[f.policy]),
	    10000);
	end();
}
END_TEST

START_TEST(no_requests)
{
	struct advice_figures	f;

	begin(LIMIT, 0, true);
	for (int i = 0; i < 1000; i++) {
		now += 60000;
		judge();
	}
	ck_assert(advice_get(&chunks, &f));
	ck_assert_uint_eq(f.epochs, 0);
	play(20000);
	for (int i = 0; i < 1000; i++) {
		now += 60000;
		judge();
	}
	ck_assert_uint_le(nchanges, 2);
	end();
}
END_TEST

/* One chunk is more than the cache has room for. */
START_TEST(too_small)
{
	struct advice_figures	f;

	begin(400, 0, true);
	play(20000);
	ck_assert_uint_eq(nchanges, 0);
	ck_assert(advice_get(&chunks, &f));
	ck_assert_uint_eq(f.real_misses, f.epochs > 0 ? ADVICE_ALL : 0);
	end();
}
END_TEST

/* There is room for all: nothing to choose, but the half is known. */
START_TEST(too_large)
{
	struct advice_figures	f;

	begin(12000 * KIB, 0, true);
	play(60000);
	ck_assert(advice_get(&chunks, &f));
	ck_assert_uint_gt(f.epochs, 2);
	ck_assert_uint_lt(f.misses[0], 2000);
	ck_assert_uint_ge(f.misses[MINIATURE_HALF], f.misses[0]);
	ck_assert_uint_eq(nchanges, 0);
	end();
}
END_TEST

/* The clock goes on by a day, and back by two. */
START_TEST(clock_jumps)
{
	struct advice_figures	f, later;

	begin(LIMIT, 0, true);
	play(20000);
	now += (int64_t)24 * 60 * 60 * 1000;
	play(20000);
	now -= (int64_t)2 * 24 * 60 * 60 * 1000;
	play(20000);
	ck_assert(advice_get(&chunks, &f));
	play(20000);
	ck_assert(advice_get(&chunks, &later));
	ck_assert_uint_gt(later.epochs, f.epochs);
	end();
}
END_TEST

/* Too many requests in a second: the sample is halved until its work is within
 * its limit, and what it tells is still about right. */
START_TEST(too_much_work)
{
	struct advice_figures	f;

	begin(LIMIT, 0, false);
	play(10000);
	for (int second = 0; second < 20; second++) {
		for (unsigned i = 0; i < 200000; i++)
			ask(1 + i % 9);
		now += 1000;
		judge();
	}
	ck_assert(advice_get(&chunks, &f));
	ck_assert_uint_lt(f.sample, ADVICE_ALL / 2 + 1);
	ck_assert_uint_gt(f.sample, 0);
	end();
}
END_TEST

START_TEST(none)
{
	struct advice_figures	f;

	chunk_init(&chunks, LIMIT, 0);
	ck_assert(!advice_get(&chunks, &f));
	ck_assert(!advice_judge(&chunks, 5, &change));
	chunk_free(&chunks);
}
END_TEST

/* An administrator sets each policy, with and without advice, in a full cache,
 * and then auto. */
START_TEST(set)
{
	struct advice_setup	setup = { .epoch = EPOCH };
	struct advice_figures	f;

	begin(LIMIT, 0, false);
	if (_i == 0)
		advice_end(&chunks);
	play(20000);
	for (setup.policy = POLICY_NUMBER; setup.policy-- > 0;) {
		advice_set_policy(&chunks, &setup);
		ck_assert_ptr_eq(chunks.cache.policy,
		    policies_all[setup.policy]);
		ck_assert_int_eq(advice_get(&chunks, &f), _i > 0);
		ck_assert_uint_eq(f.policy, _i > 0 ? setup.policy : 0);
		play(5000);
		ck_assert_uint_eq(nchanges, 0);
	}
	setup.policy = 0;
	setup.chooses = true;
	advice_set_policy(&chunks, &setup);
	ck_assert(advice_get(&chunks, &f));
	ck_assert(f.chooses);
	play(60000);
	ck_assert_uint_gt(nchanges, 0);
	ck_assert(advice_get(&chunks, &f));
	ck_assert_uint_gt(f.epochs, 2);
	ck_assert_ptr_eq(chunks.cache.policy, policies_all[f.policy]);
	setup.chooses = false;
	advice_set_policy(&chunks, &setup);
	nchanges = 0;
	play(40000);
	ck_assert_uint_eq(nchanges, 0);
	ck_assert_ptr_eq(chunks.cache.policy, policies_all[0]);
	end();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_set_timeout(tests, 240);
	tcase_add_loop_test(tests, foretold, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, chosen, 0, POLICY_NUMBER);
	tcase_add_test(tests, no_requests);
	tcase_add_test(tests, too_small);
	tcase_add_test(tests, too_large);
	tcase_add_test(tests, clock_jumps);
	tcase_add_test(tests, too_much_work);
	tcase_add_test(tests, none);
	tcase_add_loop_test(tests, set, 0, 2);
}
