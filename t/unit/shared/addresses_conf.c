/*
 * Tests of shared/addresses_conf: room for all who can be there.
 */
#include "shared/addresses.h"
#include "shared/addresses_conf.h"
#include "t/unit/conf/confs.h"

#define MANY		4000U
#define LIMITS(more)	"limits {\nconnections address 1\naddresses 1\n" \
			more "}\n" SITE

static const uint8_t *
bytes(const uint32_t *address)
{
	return (const uint8_t *)address;
}

/* So many addresses, each with the one connection that it may have: of how many
 * a second one is refused.  Who finds no place is not counted; as a set may be
 * full, not quite all do. */
static unsigned
refused(const char *text, unsigned mains, size_t descriptors)
{
	static struct address	*a[MANY];
	struct conf		*conf;
	struct addresses	*as;
	unsigned		 n = 0;

	setup();
	conf = good(text);
	as = addresses_conf_new(conf, mains, descriptors);
	ck_assert_ptr_nonnull(as);
	for (uint32_t i = 0; i < MANY; i++) {
		a[i] = addresses_connect(as, bytes(&i), 4, 0);
		ck_assert_ptr_nonnull(a[i]);
	}
	for (uint32_t i = 0; i < MANY; i++)
		n += addresses_connect(as, bytes(&i), 4, 0) == NULL;
	addresses_free(&as);
	conf_free(&conf);
	teardown();
	return n;
}

START_TEST(room_for_all)
{
	ck_assert_uint_ge(refused(LIMITS(""), 4, MANY / 4), MANY / 10 * 9);
	ck_assert_uint_ge(refused(LIMITS("connections 4000\n"), 1,
	    1000000), MANY / 10 * 9);
}
END_TEST

START_TEST(nothing_to_remember)
{
	struct conf	*conf;

	setup();
	conf = good(SITE);
	ck_assert_ptr_null(addresses_conf_new(conf, 1, 1000));
	conf_free(&conf);
	teardown();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, room_for_all);
	tcase_add_test(tests, nothing_to_remember);
}
