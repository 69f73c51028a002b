/*
 * rules: what the rules of the conf make of a target.
 *
 * It is asked when a path is looked at, not when it is served: what comes out
 * is kept with the path.
 */
#include <string.h>
#include <strings.h>

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
	if (a->redirect.to != NULL) {
		answer(http, p, PATHNAME_REDIRECT, (int)a->redirect.status);
		return true;
	}
	if (a->refusal != 0) {
		answer(http, p, PATHNAME_REFUSED, (int)a->refusal);
		return true;
	}
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

const struct conf_words *
rules_listing(const struct conf_rules *rules)
{
	return rules->listing.n > 0 || rules->outer == NULL ? &rules->listing :
	    &rules->outer->listing;
}

const char *
rules_fallback(const struct path *p)
{
	const struct conf_rules	*rules = p->rules;

	return p->status == 404 && rules->answer->refusal == 0 ?
	    rules->fallback : NULL;
}

const struct conf_rules *
rules_of(const struct request *r)
{
	if (r->instead != NULL)
		return r->rules;
	if (r->path != NULL && r->path->rules != NULL)
		return r->path->rules;
	return r->site != NULL ? &r->site->rules : NULL;
}

const char *
rules_page(const struct request *r, int status)
{
	const struct conf_rules	*rules;

	for (rules = rules_of(r); rules != NULL; rules = rules->outer) {
		for (size_t i = 0; i < rules->errors.n; i++)
			if (rules->errors.at[i].number == status)
				return rules->errors.at[i].value;
	}
	return NULL;
}

/* How exactly a pattern means this type; 0: not at all. */
static int
match(const char *pattern, const char *type)
{
	size_t	main = strcspn(pattern, "/") + 1;
	size_t	len = strcspn(type, ";");

	if (strcmp(pattern, "*/*") == 0)
		return 1;
	if (strcmp(pattern + main, "*") == 0)
		return strncasecmp(pattern, type, main) == 0 ? 2 : 0;
	return strlen(pattern) == len &&
	    strncasecmp(pattern, type, len) == 0 ? 3 : 0;
}

static const struct conf_pair *
best_match(const struct conf_pairs *patterns, const char *type)
{
	const struct conf_pair	*best = NULL;
	int			 n, most = 0;

	for (size_t i = 0; i < patterns->n; i++) {
		n = match(patterns->at[i].name, type);
		if (n > most) {
			most = n;
			best = &patterns->at[i];
		}
	}
	return best;
}

int64_t
rules_age(const struct conf_rules *rules, const char *type)
{
	const struct conf_pair	*pair = NULL;

	if (!rules->aged)
		return -1;
	for (; rules != NULL && pair == NULL; rules = rules->outer)
		pair = best_match(&rules->expires, type);
	return pair != NULL ? pair->number : -1;
}
