/*
 * Tests of helpers/rdns: lines with names from a resolver that is quick, slow
 * or wrong, or does not answer.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "helpers/rdns.h"
#include "lib/clock.h"
#include "t/unit/unit.h"

static atomic_int	asked;
static pthread_mutex_t	gate = PTHREAD_MUTEX_INITIALIZER;

/* 1.*: a name; 2.*: none; 3.*: failed; 4.*: a name when the gate opens. */
static enum rdns_result
fake_lookup(const char *address, char name[RDNS_NAME_MAX])
{
	asked++;
	if (address[0] == '4') {
		pthread_mutex_lock(&gate);
		pthread_mutex_unlock(&gate);
	}
	snprintf(name, RDNS_NAME_MAX, "name-of-%s", address);
	return address[0] == '2' ? RDNS_NONE :
	    address[0] == '3' ? RDNS_FAILED : RDNS_FOUND;
}

static const char *
fill(struct rdns *n, const char *text)
{
	static struct buf	to;

	to.len = 0;
	rdns_fill(n, text, strlen(text), &to);
	return buf_string(&to);
}

/* Tries again: on a busy machine names may be late. */
static void
is(struct rdns *n, const char *text, const char *expected)
{
	for (int i = 0; i < 1000 && strcmp(fill(n, text), expected) != 0; i++)
		usleep(1000);
	ck_assert_str_eq(fill(n, text), expected);
}

START_TEST(filled)
{
	struct rdns	*n = rdns_new(fake_lookup);

	asked = 0;
	is(n, "", "");
	is(n, "no name\n", "no name\n");
	is(n, "\1" "1.2\1 x\n", "name-of-1.2 x\n");
	is(n, "a \1" "1.2\1\nb \1" "2.0\1 \1" "1.3\1\n",
	    "a name-of-1.2\nb 2.0 name-of-1.3\n");
	is(n, "\1" "3::1\1\n", "3::1\n");
	ck_assert_int_eq(asked, 4);
	/* One lookup for each address. */
	is(n, "\1" "1.2\1\1" "2.0\1\1" "3::1\1",
	    "name-of-1.22.03::1");
	ck_assert_int_eq(asked, 4);
	/* A single mark, and a pair without an address. */
	is(n, "a\1b", "ab");
	is(n, "\1", "");
	is(n, "\1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaa\1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaa");
}
END_TEST

/* Lines wait for RDNS_WAIT_MAX; names that come later are for later lines, and
 * known names are used at once. */
START_TEST(dead)
{
	struct rdns	*n = rdns_new(fake_lookup);
	char		 text[100];
	int64_t		 begin = clock_us(), ms;

	pthread_mutex_lock(&gate);
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "\1" "4.%d\1\n", i);
		ck_assert_str_ne(fill(n, text), "");
		ck_assert(strncmp(fill(n, text), "4.", 2) == 0);
	}
	ms = (clock_us() - begin) / 1000;
	ck_assert_int_ge(ms, RDNS_WAIT_MAX - 1);
	/* The waits take 500 ms; the rest is for a busy machine. */
	ck_assert_int_lt(ms, 20000);
	pthread_mutex_unlock(&gate);
	while (strcmp(fill(n, "\1" "4.999\1"), "name-of-4.999") != 0)
		continue;
	/* The thread of this lookup stood at the gate, and may be slow. */
	is(n, "\1" "4.1\1", "name-of-4.1");
}
END_TEST

/* More addresses than the cache has entries. */
START_TEST(many)
{
	struct rdns	*n = rdns_new(fake_lookup);
	char		 text[100], expected[100];

	asked = 0;
	for (int i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "\1" "1.%d\1 \1" "1.7\1\n", i);
		snprintf(expected, sizeof(expected),
		    "name-of-1.%d name-of-1.7\n", i);
		while (strcmp(fill(n, text), expected) != 0)
			continue;
	}
	ck_assert_int_ge(asked, 10000);
	ck_assert_int_lt(asked, 10000 + 100);
}
END_TEST

/* The system's resolver, with an address that all machines know. */
START_TEST(system_knows)
{
	char	name[RDNS_NAME_MAX];

	ck_assert_int_eq(rdns_lookup("no address", name), RDNS_NONE);
	ck_assert_int_eq(rdns_lookup("127.0.0.1", name), RDNS_FOUND);
	ck_assert_str_ne(name, "127.0.0.1");
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, filled);
	tcase_add_test(tests, dead);
	tcase_add_test(tests, many);
	tcase_add_test(tests, system_knows);
}
