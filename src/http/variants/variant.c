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
#include "lib/compiler.h"
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

/* Facts on which a choice depends, beside the value and the variants on offer.
 * Rules and media types live as long as the loop, so equal ones are one. */
static inline const void *
get_basis(const struct request *r, enum choice_kind kind)
{
	static const char	filtered;

	if (kind == CHOICE_LANGUAGE)
		return r->path->rules;
	if (kind == CHOICE_FORMAT)
		return r->info.type;
	return variant_has_query(r->path->namespace) ? &filtered : NULL;
}

/* The bit of the variant that the client wants; 0: the file itself. */
static uint32_t
find_wanted(const struct request *r, enum choice_kind kind, struct str accept,
    uint32_t offered)
{
	uint32_t	which = 0;

	if (kind == CHOICE_LANGUAGE) {
		which = language_negotiate(accept, r->path->rules,
		    offered / NAMESPACE_LANGUAGE_BIT);
		return which != 0 ? NAMESPACE_LANGUAGE_BIT << (which - 1) : 0;
	}
	if (kind == CHOICE_FORMAT)
		return !format_has_type(r->info.type) ? 0 :
		    NAMESPACE_FORMAT_BIT * format_negotiate(accept,
		    r->info.type, offered / NAMESPACE_FORMAT_BIT);
	switch (variant_negotiate(accept, offered, &which)) {
	case VARIANT_USE:
		return 1U << which;
	case VARIANT_IDENTITY:
		return 0;
	default:
		return VARIANT_NONE;
	}
}

/* Negotiates, and remembers the result.  Returns the same as choose_among(). */
static NOINLINE uint32_t
negotiate(const struct request *r, enum choice_kind kind, struct choice *last,
    struct str accept, uint32_t offered)
{
	uint32_t	ns = r->path->namespace;
	uint32_t	bit = find_wanted(r, kind, accept, offered), way = bit;

	if (bit != 0 && bit != VARIANT_NONE)
		way = variant_namespace(ns, (uint32_t)__builtin_ctz(bit)) - ns;
	return choice_keep(last, accept, get_basis(r, kind), offered, way);
}

/* How far it is from the namespace of the file to that of the variant that the
 * client wants; 0: it wants the file itself; VARIANT_NONE. */
static ALWAYS_INLINE uint32_t
choose_among(struct conn *c, enum choice_kind kind, enum parse_field field,
    uint32_t offered)
{
	const struct request	*r = c->request;
	struct choice		*last;
	struct str		 accept;

	if (offered == 0 || !parse_has(&r->parse, field))
		return 0;
	if ((r->parse.repeated & 1U << field) != 0) {
		c->http->work.len = 0;
		accept = conn_field_list(c, field);
	} else
		accept = parse_str(c->input, r->parse.field[field]);
	last = choice_place(c->http->chosen[kind], accept, offered);
	return choice_holds(last, accept, get_basis(r, kind), offered) ?
	    last->chosen : negotiate(r, kind, last, accept, offered);
}

uint32_t
variant_choose(struct conn *c)
{
	const struct request	*r = c->request;
	uint32_t		 ns = r->path->namespace, way = 0;
	uint32_t		 offered = r->info.variants;
	/* Error pages have no variants. */
	bool			 none = r->lookup.no_variants ||
				    r->page.status != 0;

	if (!none)
		way = choose_among(c, CHOICE_LANGUAGE, FIELD_ACCEPT_LANGUAGE,
		    offered & NAMESPACE_LANGUAGE_BITS);
	if (way != 0)
		return ns + way;
	if ((offered & NAMESPACE_FILTERED_BIT) != 0 && filtered_is_wanted(c))
		return namespace_of(ns, NAMESPACE_FILTERED, namespace_form(ns));
	if (none)
		return ns;
	way = choose_among(c, CHOICE_FORMAT, FIELD_ACCEPT,
	    offered & NAMESPACE_FORMAT_BITS);
	if (way == 0)
		way = choose_among(c, CHOICE_CODING, FIELD_ACCEPT_ENCODING,
		    offered & NAMESPACE_CODING_BITS);
	return way == VARIANT_NONE ? VARIANT_NONE : ns + way;
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
