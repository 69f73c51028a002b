/*
 * policies: all of them, as a table.
 */
#include "cache/policy.h"

const struct cache_policy *const policies_all[POLICY_NUMBER] = {
	&policy_lru, &policy_sieve, &policy_s3fifo, &policy_lfu, &policy_gdsf
};
