/*
 * rules: what the rules of the conf make of a target.
 *
 * It is asked when a path is looked at, not when it is served: what comes out
 * is kept with the path.
 */
#include "http/rules.h"

static void
answer(struct http *http, struct path *p, enum pathname_kind kind, int status)
{
	pathname_answer(&http->paths, p, kind, NULL, status, http->clock->ms);
}

bool
rules_answer(struct http *http, const struct conf_site *site, struct path *p,
    struct str decoded)
{
	const struct conf_rules	*rules, *a;

	rules = conf_rules_find(site, decoded.at, decoded.len);
	a = rules->answer;
	p->rules = rules;
	if (a->alias != NULL && decoded.len == a->prefix) {
		answer(http, p, PATHNAME_DIRECTORY, 0);
		return true;
	}
	return false;
}

const char *
rules_root(const struct conf_rules *rules, size_t *skip)
{
	const struct conf_rules	*a = rules->answer;

	*skip = a->alias != NULL ? a->prefix : 0;
	return a->alias != NULL ? a->alias : a->root;
}

const struct conf_words *
rules_index(const struct conf_rules *rules)
{
	return rules->index.n > 0 || rules->outer == NULL ? &rules->index :
	    &rules->outer->index;
}
