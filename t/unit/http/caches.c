/*
 * Tests of http/caches: what the log says of a change of policy, which this test
 * makes up.
 */
#include <string.h>

#include "cache/advice.h"
#include "http/caches.h"
#include "http/http.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

static struct advice_change	next;
static bool			changes;
static char			line[500];

bool
advice_judge(struct chunk_cache *cc, int64_t now, struct advice_change *change)
{
	(void)cc;
	(void)now;
	*change = next;
	return changes;
}

/* The rest of advice, which is not used. */
void
advice_begin(struct chunk_cache *cc, const struct advice_setup *setup)
{
	(void)cc;
	(void)setup;
}

void
advice_set_policy(struct chunk_cache *cc, const struct advice_setup *setup)
{
	(void)cc;
	(void)setup;
}

void
advice_note(struct chunk_cache *cc, const struct chunk *k)
{
	(void)cc;
	(void)k;
}

void
advice_note_new(struct chunk_cache *cc, const struct chunk *k)
{
	(void)cc;
	(void)k;
}

void
advice_end(struct chunk_cache *cc)
{
	(void)cc;
}

void
advice_set_limit(struct chunk_cache *cc)
{
	(void)cc;
}

bool
advice_get(const struct chunk_cache *cc, struct advice_figures *to)
{
	(void)cc;
	(void)to;
	return false;
}

static void
take_line(void *context, const char *text, size_t len)
{
	(void)context;
	ck_assert_uint_lt(len, sizeof(line));
	memcpy(line, text, len);
	line[len] = '\0';
}

/* From gdsf, the last policy, to lru. */
static const struct {
	enum chooser_reason	 reason;
	const char		*said;
} cases[] = {
	{ CHOOSER_FAILED, "cache: policy gdsf has hit 61.5 % of requests, "
	    "where lru would have hit 72.5 %: the policy is lru again\n" },
	{ CHOOSER_BETTER, "cache: policy lru would hit 72.5 % of requests, "
	    "gdsf hits 61.5 %: the policy is lru now\n" },
	{ CHOOSER_FIRST, "cache: policy lru would hit 72.5 % of requests, "
	    "gdsf hits 61.5 %: the policy is lru now\n" },
};

START_TEST(change)
{
	struct caches	*caches = mem_zero(sizeof(*caches));

	header_init(&caches->heads, 1000);
	pathname_init(&caches->paths, 10, &caches->heads);
	chunk_init(&caches->chunks, 1000, 0);
	log_init("main", LOG_LEVEL_INFO);
	log_set_output(take_line, NULL);
	next = (struct advice_change){ cases[_i].reason, POLICY_NUMBER - 1, 0,
	    385000, 275000 };
	changes = false;
	line[0] = '\0';
	caches_judge(caches, 5);
	ck_assert_str_eq(line, "");
	changes = true;
	caches_judge(caches, 6);
	log_set_output(NULL, NULL);
	ck_assert_msg(strstr(line, cases[_i].said) != NULL, "%s", line);
	ck_assert_ptr_eq(caches->paths.cache.policy, &policy_lru);
	ck_assert_ptr_eq(caches->heads.cache.policy, &policy_lru);
	chunk_free(&caches->chunks);
	pathname_free(&caches->paths);
	header_free(&caches->heads);
	mem_drop(&caches);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, change, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
}
