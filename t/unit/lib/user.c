/*
 * Tests of lib/user, with stand-ins for the user database and system calls.
 */
#include <sys/mman.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/proc.h"
#include "lib/user.h"
#include "t/unit/unit.h"

static int	known;			/* groups of the crowd */
static char	called[64];		/* initials of calls, in order */
static char	fails;			/* the call that fails */

static struct passwd *
crowd(void)
{
	static char		name[] = "crowd";
	static struct passwd	pw;

	pw = (struct passwd){ .pw_name = name, .pw_uid = 7, .pw_gid = 8 };
	return &pw;
}

struct passwd *
getpwnam(const char *name)
{
	return strcmp(name, "crowd") == 0 ? crowd() : NULL;
}

struct passwd *
getpwuid(uid_t uid)
{
	return uid == 7 ? crowd() : NULL;
}

int
getgrouplist(const char *name, gid_t gid, gid_t *groups, int *ngroups)
{
	int	room = *ngroups;

	ck_assert_str_eq(name, "crowd");
	ck_assert_uint_eq(gid, 8);
	*ngroups = known;
	for (int i = 0; i < room && i < known; i++)
		groups[i] = gid + (gid_t)i;
	return known > room ? -1 : known;
}

static int
call(char which, unsigned long first, unsigned long last)
{
	size_t	at = strlen(called);

	snprintf(called + at, sizeof(called) - at, "%c %lu-%lu ", which, first,
	    last);
	errno = EPERM;
	return which == fails ? -1 : 0;
}

int
setgroups(size_t n, const gid_t *groups)
{
	return call('g', groups[0], groups[n - 1]);
}

int
initgroups(const char *name, gid_t gid)
{
	ck_assert_str_eq(name, "crowd");
	return call('a', gid, gid);
}

int
setgid(gid_t gid)
{
	return call('i', gid, gid);
}

int
setuid(uid_t uid)
{
	return call('u', uid, uid);
}

static void
expect(struct user *u, char who_fails, int result, const char *calls)
{
	called[0] = '\0';
	fails = who_fails;
	ck_assert_int_eq(user_become(u), result);
	ck_assert_str_eq(called, calls);
}

/* More groups than in the first attempt; the calls' order; a failure leaves no
 * later call. */
START_TEST(all_groups_then_the_user)
{
	struct user	u;

	known = 400;
	ck_assert(user_find_name(&u, "crowd"));
	ck_assert_str_eq(u.name, "crowd");
	user_load_groups(&u);
	ck_assert_int_eq(u.ngroups, 400);
	expect(&u, 0, 0, "g 8-407 i 8-8 u 7-7 ");
	expect(&u, 'g', -1, "g 8-407 ");
	expect(&u, 'i', -1, "g 8-407 i 8-8 ");
	expect(&u, 'u', -1, "g 8-407 i 8-8 u 7-7 ");
	user_free(&u);
	known = 1;
	ck_assert(user_find_uid(&u, 7));
	user_load_groups(&u);
	expect(&u, 0, 0, "g 8-8 i 8-8 u 7-7 ");
	user_free(&u);
}
END_TEST

START_TEST(groups_that_come_later_are_not_asked_for)
{
	struct user	u;

	known = 3;
	ck_assert(user_find_name(&u, "crowd"));
	user_load_groups(&u);
	known = 5;
	expect(&u, 0, 0, "g 8-10 i 8-8 u 7-7 ");
	user_free(&u);
}
END_TEST

static void
set(const void *flag)
{
	*(bool *)(uintptr_t)flag = true;
}

START_TEST(nobody_stays)
{
	struct user	 u = { 0 };
	bool		*done = mem_shared(sizeof(*done));

	expect(&u, 'g', 0, "");
	proc_run_as(&u, set, done);
	ck_assert(*done);
	ck_assert_int_eq(munmap(done, sizeof(*done)), 0);
	user_free(&u);
}
END_TEST

START_TEST(who_is_not_known)
{
	struct user	u;

	known = 1;
	ck_assert(!user_find_name(&u, "nemo"));
	ck_assert_ptr_null(u.name);
	ck_assert(!user_find_uid(&u, 9));
	user_load_groups(&u);
	ck_assert_ptr_null(u.groups);
}
END_TEST

/* Without loaded groups the process looks them up itself. */
START_TEST(groups_that_are_not_known)
{
	struct user	u;

	ck_assert(user_find_name(&u, "crowd"));
	expect(&u, 0, 0, "a 8-8 i 8-8 u 7-7 ");
	expect(&u, 'a', -1, "a 8-8 ");
	known = 1 << 20;
	user_load_groups(&u);
	ck_assert_ptr_null(u.groups);
	expect(&u, 0, 0, "a 8-8 i 8-8 u 7-7 ");
	user_free(&u);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, all_groups_then_the_user);
	tcase_add_test(tests, groups_that_come_later_are_not_asked_for);
	tcase_add_test(tests, nobody_stays);
	tcase_add_test(tests, who_is_not_known);
	tcase_add_test(tests, groups_that_are_not_known);
}
