/*
 * variant: which variants a file has, and which one a request gets.
 *
 * Must not read files: a helper compresses, and checks whether a sibling can be
 * a variant of the file.
 */
#include <stdio.h>
#include <string.h>

#include "http/variants/filtered.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/variants/format.h"
#include "http/variants/language.h"
#include "http/variants/variant.h"
#include "lib/need.h"
#include "proto/accept.h"

/* Of a variant: a sibling or a made one, see enum namespace_kind. */
#define BIT_COUNT	(2 * CODING_COUNT)
#define LANGUAGE_SHIFT	((uint32_t)__builtin_ctz(NAMESPACE_LANGUAGE_BIT))

_Static_assert((NAMESPACE_LANGUAGE_BITS & PATHNAME_BY_CONTENT) == 0 &&
    NAMESPACE_LANGUAGE_BITS <= UINT16_MAX, "a path has so many bits for them");

static const char *
get_coding(uint32_t bit)
{
	return coding_name(bit % CODING_COUNT);
}

/* Stands before a language in the name of a variant: br is a language, too. */
#define LANGUAGE	"language="

bool
variant_next(const struct conf_rules *rules, uint32_t *offered,
    char name[VARIANT_NAME_MAX])
{
	uint32_t	bit = *offered & (NAMESPACE_CODING_BITS |
			    NAMESPACE_FORMAT_BITS | NAMESPACE_LANGUAGE_BITS);
	uint32_t	i;

	if (bit == 0)
		return false;
	i = (uint32_t)__builtin_ctz(bit);
	*offered &= ~(1U << i);
	if (i < BIT_COUNT)
		strcpy(name, get_coding(i));
	else if (i < BIT_COUNT + FORMAT_COUNT)
		strcpy(name, format_name(i - BIT_COUNT));
	else
		snprintf(name, VARIANT_NAME_MAX, LANGUAGE "%s",
		    language_tag(rules, i - LANGUAGE_SHIFT + 1));
	return true;
}

bool
variant_name(const struct path *p, const char *coding,
    char name[VARIANT_NAME_MAX])
{
	unsigned	 number = language_number(p->namespace);
	int		 n;

	if (coding != NULL)
		n = snprintf(name, VARIANT_NAME_MAX, "%s", coding);
	else
		n = snprintf(name, VARIANT_NAME_MAX, LANGUAGE "%s",
		    number > 0 ? language_tag(p->rules, number) : "");
	return n < VARIANT_NAME_MAX && (coding != NULL) == (number == 0);
}

void
variant_add_field(struct buf *to, const char *name)
{
	const char	*type = format_find_type(name);

	if (type != NULL)
		buf_addf(to, "Accept: %s", type);
	else if (strncmp(name, LANGUAGE, strlen(LANGUAGE)) == 0)
		buf_addf(to, "Accept-Language: %s", name + strlen(LANGUAGE));
	else
		buf_addf(to, "Accept-Encoding: %s", name);
}

uint32_t
variant_namespace(uint32_t ns, unsigned bit)
{
	uint32_t	language = language_number(ns);

	if (variant_is_filtered(ns))
		return namespace_of(ns, NAMESPACE_FILTERED_MADE + bit -
		    CODING_COUNT, language);
	if (1U << bit >= NAMESPACE_LANGUAGE_BIT)
		return namespace_of(ns, NAMESPACE_TARGET, 1 + bit -
		    LANGUAGE_SHIFT);
	return namespace_of(ns, NAMESPACE_VARIANT + bit, language);
}

/*
 * Negotiation
 */

enum variant_choice
variant_negotiate(struct str accept, uint32_t offered, uint32_t *which)
{
	/* identity without a weight of its own ranks behind all codings. */
	int	identity = accept_coding(accept, STR("identity"));
	int	best = identity == -1 ? 1 : 2 * identity, weight;
	bool	plain = true;

	for (uint32_t i = 0; i < BIT_COUNT; i++) {
		if ((offered & 1U << i) == 0)
			continue;
		weight = 2 * accept_coding(accept, str_of(get_coding(i)));
		if (weight <= 0 || weight < best || (weight == best && !plain))
			continue;
		best = weight;
		*which = i;
		plain = false;
	}
	if (!plain)
		return VARIANT_USE;
	return best > 0 ? VARIANT_IDENTITY : VARIANT_NOT_ACCEPTABLE;
}

/* Negotiates, or repeats the last result: most clients in a row send the same
 * value, for files with the same variants. */
static enum variant_choice
choose_remembered(struct http_loop *http, struct str accept, uint32_t offered,
    uint32_t *which)
{
	struct choice		*last = &http->chosen.coding;
	enum variant_choice	 choice;

	if (choice_holds(last, accept, NULL, offered)) {
		*which = last->chosen % BIT_COUNT;
		return last->chosen / BIT_COUNT;
	}
	*which = 0;
	choice = variant_negotiate(accept, offered, which);
	choice_keep(last, accept, NULL, offered, choice * BIT_COUNT + *which);
	return choice;
}

/* Goes to the file in the language that the client prefers; false: it gets the
 * file itself. */
static bool
choose_language(struct conn *c, uint32_t offered, uint32_t *ns)
{
	const struct request	*r = c->request;
	uint32_t		 number;

	offered &= NAMESPACE_LANGUAGE_BITS;
	if (offered == 0 || r->lookup.no_variants || r->page.status != 0 ||
	    !parse_has(&r->parse, FIELD_ACCEPT_LANGUAGE))
		return false;
	number = language_choose(c, offered / NAMESPACE_LANGUAGE_BIT);
	if (number > 0)
		*ns = namespace_of(*ns, NAMESPACE_TARGET, number);
	return number > 0;
}

enum why
variant_choose(struct conn *c, uint32_t *ns)
{
	const struct request	*r = c->request;
	uint32_t		 offered = r->info.variants &
				    ~PATHNAME_BY_CONTENT;
	enum variant_choice	 choice;
	uint32_t		 which;

	*ns = r->path->namespace;
	if (choose_language(c, offered, ns))
		return WHY_NONE;
	if ((offered & NAMESPACE_FILTERED_BIT) != 0 && filtered_is_wanted(c)) {
		*ns = namespace_of(*ns, NAMESPACE_FILTERED,
		    language_number(*ns));
		return WHY_NONE;
	}
	/* Error pages have no variants, nor have variants. */
	if (r->lookup.no_variants || r->page.status != 0)
		return WHY_NONE;
	which = offered & NAMESPACE_FORMAT_BITS;
	if (which != 0 && parse_has(&r->parse, FIELD_ACCEPT))
		which = format_choose(c, which / NAMESPACE_FORMAT_BIT);
	else
		which = 0;
	if (which != 0) {
		*ns = namespace_of(*ns, NAMESPACE_FORMAT +
		    (uint32_t)__builtin_ctz(which), language_number(*ns));
		return WHY_NONE;
	}
	offered &= NAMESPACE_CODING_BITS;
	if (offered == 0 || !parse_has(&r->parse, FIELD_ACCEPT_ENCODING))
		return WHY_NONE;
	c->http->work.len = 0;
	choice = choose_remembered(c->http,
	    conn_field_list(c, FIELD_ACCEPT_ENCODING), offered, &which);
	if (choice == VARIANT_USE)
		*ns = variant_namespace(*ns, which);
	return choice == VARIANT_NOT_ACCEPTABLE ? WHY_CODING : WHY_NONE;
}

/*
 * Lookups
 */

/* Whether a lookup looks for siblings in a coding. */
static bool
looks_for_sibling(const struct conf_rules *rules, uint32_t coding)
{
	return conf_name_in(rules_precompressed(rules), coding_name(coding));
}

void
variant_add_suffixes(struct buf *text, const struct path *p)
{
	uint32_t	kind = namespace_kind(p->namespace);

	for (uint32_t i = 0; i < CODING_COUNT; i++)
		if (kind == NAMESPACE_TARGET ? looks_for_sibling(p->rules, i)
		    : kind == NAMESPACE_VARIANT + i)
			buf_add(text, coding_suffix(i),
			    strlen(coding_suffix(i)) + 1);
	for (uint32_t i = 0; i < FORMAT_COUNT; i++)
		if (kind == NAMESPACE_TARGET ? format_is_wanted(p->rules, i)
		    : kind == NAMESPACE_FORMAT + i)
			buf_add(text, format_suffix(i),
			    strlen(format_suffix(i)) + 1);
	for (unsigned i = 1; kind == NAMESPACE_TARGET &&
	    language_number(p->namespace) == 0 &&
	    i <= language_count(p->rules); i++)
		buf_add(text, language_tag(p->rules, i),
		    strlen(language_tag(p->rules, i)) + 1);
}

/* Cuts a suffix off a name that has more than that. */
static bool
cut_suffix(struct str *name, const char *suffix)
{
	size_t	n = strlen(suffix);

	if (name->len <= n ||
	    memcmp(name->at + name->len - n, suffix, n) != 0)
		return false;
	name->len -= n;
	return true;
}

bool
variant_cut_suffix(struct str *name)
{
	for (uint32_t i = 0; i < CODING_COUNT; i++)
		if (cut_suffix(name, coding_suffix(i)))
			return true;
	for (uint32_t i = 0; i < FORMAT_COUNT; i++)
		if (cut_suffix(name, format_suffix(i)))
			return true;
	return false;
}

/* Whether a file is worth it that a helper makes variants. */
static bool
is_to_make(const struct conf *conf, const struct conf_rules *rules,
    int64_t size, const char *type)
{
	return size >= conf->limits.compress_from &&
	    size <= conf->limits.compress && rules_compressible(rules, type);
}

uint16_t
variant_made(const struct conf_rules *rules)
{
	const struct conf_words	*words = rules_compress(rules);
	uint16_t		 variants = 0;

	for (uint32_t i = 0; i < CODING_COUNT; i++)
		if (coding_is_built(i) && (conf_name_in(words, "on") ||
		    conf_name_in(words, coding_name(i))))
			variants |= (uint16_t)(NAMESPACE_MADE_BIT << i);
	return variants;
}

uint16_t
variant_of_filtered(const struct conf *conf, const struct conf_rules *rules,
    int64_t size, const char *type)
{
	return type != NULL && is_to_make(conf, rules, size, type) ?
	    variant_made(rules) : 0;
}

uint16_t
variant_find(const struct conf *conf, const struct path *p,
    const struct job *job, const char *type)
{
	uint64_t	siblings = job->kind == JOB_RESOLVE ?
			    job->resolve.counting : 0;
	uint16_t	variants = 0;

	for (uint32_t i = 0; i < CODING_COUNT; i++) {
		if (!looks_for_sibling(p->rules, i))
			continue;
		variants |= (uint16_t)((siblings & 1) << i);
		siblings >>= 1;
	}
	for (uint32_t i = 0; i < FORMAT_COUNT; i++) {
		if (!format_is_wanted(p->rules, i))
			continue;
		variants |= (uint16_t)((siblings & 1) * NAMESPACE_FORMAT_BIT
		    << i);
		siblings >>= 1;
	}
	if (language_number(p->namespace) == 0)
		variants |= (uint16_t)((siblings & ((1U <<
		    language_count(p->rules)) - 1)) * NAMESPACE_LANGUAGE_BIT);
	if (type != NULL && !format_has_type(type))
		variants &= (uint16_t)~NAMESPACE_FORMAT_BITS;
	if (type != NULL &&
	    is_to_make(conf, p->rules, job->find.version.size, type))
		variants |= variant_made(p->rules);
	if (type != NULL && filtered_chain(p, job, type) != NULL)
		variants |= NAMESPACE_FILTERED_BIT;
	return variants;
}
