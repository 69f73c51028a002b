/* Unit test of proto/credentials: valid fields, and invalid ones. */
#include <string.h>

#include "proto/credentials.h"
#include "t/unit/unit.h"

static const struct {
	const char	*value, *user, *password;	/* user NULL: refused */
} cases[] = {
	{ "Basic YW5uYTpwdw==", "anna", "pw" },
	{ "basic YW5uYTpwdw==", "anna", "pw" },
	{ "BASIC  YW5uYTpwdw== ", "anna", "pw" },
	{ "Basic YW5uYTo=", "anna", "" },		/* anna: */
	{ "Basic YW5uYTpwOnc=", "anna", "p:w" },	/* anna:p:w */
	{ "Basic YcOkOsO8", "a\xc3\xa4", "\xc3\xbc" },
	{ "Basic OnB3", NULL, NULL },			/* :pw */
	{ "Basic YW5uYQ==", NULL, NULL },		/* anna */
	{ "Basic YW5uYTpwAHc=", NULL, NULL },		/* anna:p\0w */
	{ "Basic YW4KYTpwdw==", NULL, NULL },		/* an\na:pw */
	{ "Basic YW5uYTpwdw", NULL, NULL }, { "Basic", NULL, NULL },
	{ "Basic ", NULL, NULL }, { "BasicYW5uYTpwdw==", NULL, NULL },
	{ "Bearer YW5uYTpwdw==", NULL, NULL },
	{ "Basic YW5uYTpwdw==, Basic YW5uYTpwdw==", NULL, NULL },
	{ "", NULL, NULL }, { NULL, NULL, NULL },
};

START_TEST(reads)
{
	struct credentials	 c;
	struct str		 value = { NULL, 0 };
	static const char	 nothing[sizeof(c.bytes)];

	if (cases[_i].value != NULL)
		value = str_of(cases[_i].value);
	ck_assert(credentials_read(value, &c) == (cases[_i].user != NULL));
	if (cases[_i].user != NULL) {
		ck_assert_str_eq(c.user.at, cases[_i].user);
		ck_assert_str_eq(c.password.at, cases[_i].password);
		ck_assert_uint_eq(c.user.len, strlen(cases[_i].user));
		ck_assert_uint_eq(c.password.len, strlen(cases[_i].password));
		ck_assert_ptr_eq(c.password.at, c.user.at + c.user.len + 1);
		credentials_forget(&c);
	}
	ck_assert_mem_eq(c.bytes, nothing, sizeof(nothing));
}
END_TEST

/* "a:" and so many bytes: n / 3 * 4 characters. */
static bool
reads_length(size_t n)
{
	char			value[2000] = "Basic YTph";	/* a:a */
	struct credentials	c;

	for (size_t i = 3; i < n; i += 3)
		strcat(value, "YWFh");
	return credentials_read(str_of(value), &c);
}

START_TEST(length)
{
	ck_assert(reads_length(CREDENTIALS_MAX));
	ck_assert(!reads_length(CREDENTIALS_MAX + 3));
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, reads, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, length);
}
