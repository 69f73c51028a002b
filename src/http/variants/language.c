/*
 * language: files beside a file, in other languages.
 */
#include <string.h>

#include "conf/conf.h"
#include "helpers/job.h"
#include "http/conn.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/variants/language.h"
#include "proto/accept.h"

size_t
language_count(const struct conf_rules *rules)
{
	const struct conf_words	*names = &rules_languages(rules)->names;

	return conf_name_in(names, "off") ? 0 : names->n;
}

const char *
language_tag(const struct conf_rules *rules, unsigned number)
{
	return rules_languages(rules)->names.at[number - 1];
}

/* Whether a name has a tag behind it or in front of its suffix. */
static bool
has_tag(struct str name, const char *tag)
{
	const char	*dot = memrchr(name.at, '.', name.len);
	struct str	 end = dot == NULL ? name :
	    (struct str){ name.at, (size_t)(dot - name.at) };
	size_t		 n = strlen(tag);

	for (;; name = end) {
		if (name.len > n && name.at[name.len - n - 1] == '.' &&
		    memcmp(name.at + name.len - n, tag, n) == 0)
			return true;
		if (name.len == end.len)
			return false;
	}
}

/* The language in the name of a file that a client asks for by that name, or
 * that of files without a language in their names. */
static const char *
language_of_name(const struct path *p)
{
	const struct conf_languages	*languages = rules_languages(p->rules);
	const char	*end = memchr(p->name, '?', p->len);
	size_t		 len = end != NULL ? (size_t)(end - p->name) : p->len;
	const char	*slash = memrchr(p->name, '/', len);
	const char	*last = slash != NULL ? slash + 1 : p->name;
	struct str	 name = { last, (size_t)(p->name + len - last) };

	for (size_t i = 0; i < languages->names.n; i++)
		if (has_tag(name, languages->names.at[i]))
			return languages->names.at[i];
	return languages->plain;
}

const char *
language_of(const struct path *p)
{
	unsigned	number = language_number(p->namespace);

	if (number > 0)
		return language_tag(p->rules, number);
	return namespace_kind(p->namespace) == NAMESPACE_LISTING ||
	    language_count(p->rules) == 0 ? NULL : language_of_name(p);
}

/*
 * Negotiation
 */

/* A file in a language goes before one that has the language without a tag in
 * its name. */
unsigned
language_negotiate(struct str accept, const struct conf_rules *rules,
    uint32_t offered)
{
	const struct conf_languages	*languages = rules_languages(rules);
	const char	*tags[CONF_LANGUAGES_MAX + 1];
	size_t		 n = languages->names.n, found;

	for (size_t i = 0; i < n; i++)
		tags[i] = (offered & 1U << i) != 0 ? languages->names.at[i] :
		    NULL;
	tags[n] = languages->plain;
	found = accept_language(accept, tags, n + 1);
	return found < n ? (unsigned)found + 1 : 0;
}

/*
 * Lookups
 */

/* Adds the names of a file in a language, as far as a job has room. */
static void
add_forms(struct buf *to, size_t start, const char *name, const char *tag)
{
	char	text[JOB_PATH_MAX];

	for (unsigned form = 0; form < JOB_LANGUAGE_FORMS; form++)
		if (job_language_name(text, sizeof(text), name, tag, form) &&
		    to->len - start + strlen(text) < JOB_PATH_MAX)
			buf_add(to, text, strlen(text) + 1);
}

void
language_add_names(struct buf *to, const struct path *p, const char *decoded)
{
	const char		*tag = language_of(p);
	const char		*last = strrchr(decoded, '/') + 1;
	const struct conf_words	*names = rules_names(p->rules, decoded);
	struct buf		 name = { 0 };
	size_t			 start = to->len;

	if (*last != '\0')
		add_forms(to, start, last, tag);
	for (size_t i = 0; i < names->n; i++) {
		name.len = 0;
		buf_adds(&name, last);
		buf_adds(&name, names->at[i]);
		add_forms(to, start, buf_string(&name), tag);
	}
	buf_free(&name);
}

void
language_cut_path(const struct path *p, char *path)
{
	char	*slash = strrchr(path, '/');

	if (language_number(p->namespace) > 0)
		path[slash != NULL ? slash + 1 - path : 0] = '\0';
}

void
language_cut(const struct path *p, struct buf *name)
{
	const char	*tag = language_of(p), *at, *suffix;
	size_t		 n;

	if (language_number(p->namespace) == 0)
		return;
	n = strlen(tag) + 1;
	at = buf_string(name);
	suffix = at + name->len;
	if (name->len <= n || suffix[-(ptrdiff_t)n] != '.' ||
	    strcmp(suffix - n + 1, tag) != 0)
		suffix = strrchr(at, '.');
	if (suffix == NULL || (size_t)(suffix - at) <= n ||
	    suffix[-(ptrdiff_t)n] != '.')
		return;
	memmove(name->at + (suffix - at) - n, suffix,
	    name->len - (size_t)(suffix - at));
	name->len -= n;
}
