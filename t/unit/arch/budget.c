/*
 * Tests of arch/budget: the parts of a budget are not more than the whole.
 */
#include <sys/param.h>

#include "arch/arch.h"
#include "arch/budget.h"
#include "t/unit/conf/confs.h"

/* The architectures, with what a budget depends on. */
#define ARCH(name, ...)	const struct arch arch_##name = { #name, __VA_ARGS__ }
ARCH(amped, .workers = 1, .helpers = true);
ARCH(sped, .workers = 1);
ARCH(mt, .workers = 32, .threaded = true, .threads = 1, .disk_threads = 1,
    .limitations = { [ARCH_LIMITED_CLIENTS] = true });
ARCH(mp, .workers = 32, .limitations = { [ARCH_LIMITED_CLIENTS] = true });
ARCH(pipelined, .workers = 1, .threaded = true, .threads = 7,
    .disk_threads = 2);

static struct conf *
conf_of(int architecture, const char *text)
{
	struct conf	*conf = good(text);

	arch_choose(conf, architecture);
	return conf;
}

static void
check_division(const struct conf *conf, unsigned mains, size_t listeners)
{
	struct budget	b;

	budget_make(&b, conf, mains, listeners, 0);
	for (size_t n = b.min; n < 3000; n += 7) {
		budget_make(&b, conf, mains, listeners, n);
		ck_assert_uint_eq(b.sum + 3 * b.programs + b.clients + b.files,
		    n);
		ck_assert_int_eq(b.programs > 0, conf->nprograms > 0);
		ck_assert_uint_le(b.files, n / 4);
		ck_assert_uint_ge(b.clients, b.files);
		ck_assert_uint_ge(b.clients, arch_workers(conf));
	}
}

START_TEST(divides_what_is_there)
{
	struct conf	*conf;

	setup();
	conf = conf_of(_i, "workers 3\n" SITE);
	check_division(conf, arch_mains(conf), 1);
	check_division(conf, 1, 98);
	conf_free(&conf);
	teardown();
}
END_TEST

START_TEST(counts_what_there_is)
{
	struct budget	 one, more;
	struct conf	*few, *many;

	setup();
	few = conf_of(_i, "helpers 1 max 4\nworkers 2\n" SITE);
	many = conf_of(_i, "helpers 1 max 14\nworkers 4\n" SITE);
	budget_make(&one, few, 1, 1, 1000);
	budget_make(&more, few, 1, 98, 1000);
	ck_assert_uint_eq(more.sum - one.sum, 97);
	budget_make(&more, many, 1, 1, 1000);
	if (arch_of(few)->helpers)
		ck_assert_uint_eq(more.sum - one.sum, 2 * (14 - 4));
	else if (_i != ARCHITECTURE_SPED)
		ck_assert_uint_gt(more.sum, one.sum);
	conf_free(&few);
	conf_free(&many);
	teardown();
}
END_TEST

/* Programs get a part of what is left, and no more than may run and wait. */
START_TEST(leaves_some_for_programs)
{
	struct conf_program	 programs[] = {
		{ .most = 3, .queue = 20 }, { .most = 7, .queue = 100 },
	};
	struct conf_chain	 chains[] = { { .n = 3 }, { .n = 1 } };
	struct conf		*conf;
	struct budget		 none, b;
	bool			 one;

	setup();
	conf = conf_of(_i, "workers 3\n" SITE);
	one = arch_of(conf)->limitations[ARCH_LIMITED_CLIENTS];
	budget_make(&none, conf, arch_mains(conf), 1, 0);
	conf->programs = programs;
	conf->nprograms = 2;
	check_division(conf, arch_mains(conf), 1);
	budget_make(&b, conf, arch_mains(conf), 1, 0);
	ck_assert_uint_ge(b.min, none.min + 3);
	ck_assert(budget_suffices(conf, 1, b.min));
	ck_assert(!budget_suffices(conf, 1, b.min - 1));
	budget_make(&b, conf, 1, 1, 100000);
	ck_assert_uint_eq(b.programs, one ? arch_workers(conf) + 16 : 130);
	/* Each client may have as many filters as the longest chain. */
	conf->chains = chains;
	conf->nchains = 2;
	budget_make(&b, conf, 1, 1, 100000);
	ck_assert_uint_eq(b.programs, one ? MIN(130, (arch_workers(conf) + 16) *
	    4) : 130);
	conf->chains = NULL;
	conf->nchains = 0;
	conf->programs = NULL;
	conf->nprograms = 0;
	conf_free(&conf);
	teardown();
}
END_TEST

START_TEST(refuses_less)
{
	struct budget	 b;
	struct conf	*conf;

	setup();
	conf = conf_of(_i, "workers 1\n" SITE);
	budget_make(&b, conf, 1, 1, 0);
	ck_assert(budget_suffices(conf, 1, b.min));
	ck_assert(!budget_suffices(conf, 1, b.min - 1));
	/* During a reload the monitor has each twice. */
	ck_assert(!budget_suffices(conf, 1000, 1999));
	conf_free(&conf);
	teardown();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, divides_what_is_there, 0,
	    ARCHITECTURE_COUNT);
	tcase_add_loop_test(tests, counts_what_there_is, 0,
	    ARCHITECTURE_COUNT);
	tcase_add_loop_test(tests, leaves_some_for_programs, 0,
	    ARCHITECTURE_COUNT);
	tcase_add_loop_test(tests, refuses_less, 0, ARCHITECTURE_COUNT);
}
