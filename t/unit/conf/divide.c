/*
 * Unit test of conf/divide: the number of workers, and each main's share.
 */
#include "conf/divide.h"
#include "t/unit/conf/confs.h"

/* An architecture's default, a conf, and the number of workers, which may be
 * more. */
static const struct {
	const char	*text;
	unsigned	 arch_default, workers, max;
} cases[] = {
	{ "workers 2 max 5\n", 1, 2, 5 },
	{ "workers 2 max 2\n", 1, 2, 2 },
	{ "workers 2 max off\n", 1, 2, 2 },
	{ "workers max 3\n", 1, 1, 3 },
	{ "limits { connections 1 }\nworkers 1 max auto\n", 1, 1, 1 },
	{ "workers 256 max auto\n", 1, 256, 256 },
	{ "", 1, 1, 1 },
	{ "", 32, 32, 32 },
	{ "workers 1\n", 32, 1, 1 },
	{ "workers 5\n", 32, 5, 5 },
	{ "workers 5\n", 1, 5, 5 },
	{ "limits { connections 10 }\n", 32, 10, 10 },
	{ "limits { connections 10 }\n", 1, 1, 1 },
	{ "limits { connections 10 }\nworkers 9\n", 32, 9, 9 },
	{ "limits { connections 1 }\nworkers auto\n", 32, 1, 1 },
};

START_TEST(workers)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_adds(&text, cases[_i].text);
	buf_adds(&text, SITE);
	conf = good(buf_string(&text));
	conf_workers_default(conf, cases[_i].arch_default);
	ck_assert_uint_eq(conf_workers(conf), cases[_i].workers);
	ck_assert_uint_eq(conf_workers_max(conf), cases[_i].max);
	conf_free(&conf);
	buf_free(&text);
}
END_TEST

/* "workers auto" overrides the architecture's default. */
START_TEST(automatic)
{
	struct conf	*conf = good("workers auto\n" SITE);
	unsigned	 before = conf_workers(conf);

	conf_workers_default(conf, before + 1);
	ck_assert_uint_ge(before, 1);
	ck_assert_uint_eq(conf_workers(conf), before);
	conf_free(&conf);
}
END_TEST

/* The shares add up to the conf's number, or are 1. */
START_TEST(portions)
{
	struct conf	*conf;
	int64_t		 connections = 0, paths = 0, idle = 0, queue = 0;

	for (unsigned i = 0; i < 32; i++) {
		conf = good("limits { connections 40; idle 7s }\n"
		    "cache { paths 1000 }\n" SITE);
		conf_divide(conf, conf, i, 32);
		ck_assert_int_ge(conf->limits.connections, 1);
		ck_assert_int_le(conf->limits.connections, 2);
		ck_assert_int_ge(conf->helpers_max, 1);
		connections += conf->limits.connections;
		paths += conf->cache.paths;
		idle += conf->limits.idle;
		queue += conf->limits.verify_queue;
		ck_assert_int_eq(conf->limits.verify, 1);
		conf_free(&conf);
	}
	ck_assert_int_eq(connections, 40);
	ck_assert_int_eq(paths, 1000);
	ck_assert_int_eq(idle, 32 * 7000);
	ck_assert_int_eq(queue, 256);
}
END_TEST

/* Main divides again when there are more mains, or fewer. */
START_TEST(again)
{
	struct conf		*conf = good("cache { paths 1000 }\n" SITE);
	const struct conf	 whole = *conf;
	const int64_t		 mains[] = { 1, 4, 2, 1 };

	for (int i = 0; i < COUNT(mains); i++) {
		conf_divide(conf, &whole, 1, (unsigned)mains[i]);
		ck_assert_int_eq(conf->cache.paths, 1000 / mains[i]);
	}
	conf_free(&conf);
}
END_TEST

/* A main can take in the longest body that is allowed anywhere. */
START_TEST(bodies)
{
	struct conf	*conf;
	int64_t		 mains[] = { 1, 2, 32 }, want[] = { 64, 32, 9 };

	for (int i = 0; i < COUNT(mains); i++) {
		conf = good("site x { listen *:80; root /\n"
		    "path /a { body 9M }\npath /b { body 3M } }\n" SITE);
		conf_divide(conf, conf, 0, (unsigned)mains[i]);
		ck_assert_int_eq(conf->limits.bodies, want[i] << 20);
		conf_free(&conf);
	}
}
END_TEST

/* With a directory, that body is there, and a shorter one in memory. */
START_TEST(bodies_on_disk)
{
	struct conf	*conf;

	conf = good("limits { spool /tmp from 2M max 40M }\n"
	    "site x { listen *:80; root /\n"
	    "path /a { body 9M } }\n" SITE);
	conf_divide(conf, conf, 0, 64);
	ck_assert_int_eq(conf->limits.bodies, 2 << 20);
	ck_assert_int_eq(conf->limits.spool_max, 9 << 20);
	conf_free(&conf);
}
END_TEST

/* A main can hold the output of one request to each program, if all of them
 * together may. */
START_TEST(held)
{
	static const struct {
		const char	*limit, *hold;
		int64_t		 want;		/* bytes, of 3 mains */
	} shares[] = {
		{ "6M", "16K", 2 << 20 },
		{ "6M", "3M", 4 << 20 },
		{ "6M", "4M", 4 << 20 },
		{ "6M", "1G", 6 << 20 },
		{ "0", "1G", 0 },
	};
	struct buf	 text = { 0 };
	struct conf	*conf;

	for (int i = 0; i < COUNT(shares); i++) {
		buf_addf(&text, "limits { held %s }\n" SITE
		    "program a { command /bin/cat; hold %s }\n",
		    shares[i].limit, shares[i].hold);
		conf = good(buf_string(&text));
		conf_divide(conf, conf, 1, 3);
		ck_assert_int_eq(conf->limits.held, shares[i].want);
		conf_free(&conf);
		buf_free(&text);
	}
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, workers, 0, COUNT(cases));
	tcase_add_test(t, automatic);
	tcase_add_test(t, portions);
	tcase_add_test(t, again);
	tcase_add_test(t, bodies);
	tcase_add_test(t, bodies_on_disk);
	tcase_add_test(t, held);
}
