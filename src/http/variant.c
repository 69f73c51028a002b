/*
 * variant: the kinds of variants, which of them a file has, and which one a
 * request gets.
 *
 * Must not read files: a helper compresses, and checks whether a sibling can be
 * a variant of the file.
 */
#include <string.h>

#include "http/head.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/variant.h"
#include "lib/need.h"
#include "proto/accept.h"

/*
 * Kinds in order of preference among equal weights.  A kind with a suffix is a
 * sibling of the file; a helper makes the other one.
 */
#define KINDS(X)							\
	X(BR,	"br",	".br")						\
	X(ZSTD,	"zstd",	".zst")						\
	X(GZIP,	"gzip",	".gz")						\
	X(MADE,	"gzip",	NULL)

enum {
#define X(id, coding, suffix) id,
	KINDS(X)
#undef X
	KIND_COUNT
};

static const struct {
	const char	*coding, *suffix;
} kinds[KIND_COUNT] = {
#define X(id, coding, suffix) { coding, suffix },
	KINDS(X)
#undef X
};

_Static_assert(KIND_COUNT <= 16, "a path has so many bits for them");

static uint32_t
get_kind(uint32_t ns)
{
	need(variant_is_namespace(ns));
	return namespace_kind(ns) - NAMESPACE_VARIANT;
}

bool
variant_is_namespace(uint32_t ns)
{
	return namespace_kind(ns) >= NAMESPACE_VARIANT;
}

bool
variant_is_made(uint32_t ns)
{
	return namespace_kind(ns) == NAMESPACE_VARIANT + MADE;
}

const char *
variant_coding(uint32_t ns)
{
	return kinds[get_kind(ns)].coding;
}

const char *
variant_next_coding(uint32_t *offered)
{
	for (uint32_t i = 0; i < KIND_COUNT; i++)
		if ((*offered & 1U << i) != 0) {
			*offered &= ~(1U << i);
			return kinds[i].coding;
		}
	return NULL;
}

/*
 * Negotiation
 */

enum variant_choice
variant_choose(struct str accept, uint32_t offered, uint32_t *which)
{
	/* identity without a weight of its own ranks behind all codings. */
	int	identity = accept_coding(accept, STR("identity"));
	int	best = identity == -1 ? 1 : 2 * identity, weight;
	bool	plain = true;

	for (uint32_t i = 0; i < KIND_COUNT; i++) {
		if ((offered & 1U << i) == 0)
			continue;
		weight = 2 * accept_coding(accept, str_of(kinds[i].coding));
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
	enum variant_choice	choice;

	if (offered == http->negotiated.offered &&
	    str_same(accept, (struct str){ http->negotiated.accept,
	    http->negotiated.len })) {
		*which = http->negotiated.which;
		return http->negotiated.choice;
	}
	*which = 0;
	choice = variant_choose(accept, offered, which);
	if (accept.len > sizeof(http->negotiated.accept))
		return choice;
	memcpy(http->negotiated.accept, accept.at, accept.len);
	http->negotiated.len = accept.len;
	http->negotiated.offered = offered;
	http->negotiated.which = *which;
	http->negotiated.choice = (uint8_t)choice;
	return choice;
}

enum variant_choice
variant_negotiate(struct conn *c, uint32_t *ns)
{
	const struct request	*r = c->request;
	enum variant_choice	 choice;
	uint32_t		 which;

	/* Error pages have no variants, nor have variants. */
	if (r->info.variants == 0 || r->no_variants || r->page_status != 0 ||
	    !parse_has(&r->parse, FIELD_ACCEPT_ENCODING))
		return VARIANT_IDENTITY;
	c->http->work.len = 0;
	choice = choose_remembered(c->http, head_list(c, FIELD_ACCEPT_ENCODING),
	    r->info.variants, &which);
	if (choice == VARIANT_USE)
		*ns = variant_namespace(r->path->namespace, which);
	return choice;
}

/*
 * Lookups
 */

/* Whether a lookup looks for siblings with the suffix of a kind. */
static bool
looks_for_sibling(const struct conf_rules *rules, uint32_t kind)
{
	const struct conf_words	*words = rules_precompressed(rules);

	if (kinds[kind].suffix == NULL)
		return false;
	for (size_t i = 0; i < words->n; i++)
		if (strcmp(words->at[i], kinds[kind].coding) == 0)
			return true;
	return false;
}

void
variant_add_suffixes(struct buf *text, const struct path *p)
{
	for (uint32_t i = 0; i < KIND_COUNT; i++)
		if (variant_is_namespace(p->namespace)
			? i == get_kind(p->namespace)
			: looks_for_sibling(p->rules, i))
			buf_add(text, kinds[i].suffix,
			    strlen(kinds[i].suffix) + 1);
}

uint16_t
variant_from_siblings(const struct path *p, uint64_t siblings)
{
	uint16_t	variants = 0;

	for (uint32_t i = 0; i < KIND_COUNT; i++) {
		if (!looks_for_sibling(p->rules, i))
			continue;
		variants |= (uint16_t)((siblings & 1) << i);
		siblings >>= 1;
	}
	return variants;
}

uint16_t
variant_made_bit(void)
{
	return 1U << MADE;
}

uint16_t
variant_to_make(const struct http_loop *http, const struct path *p,
    int64_t size, const char *type)
{
	const struct conf_rules	*rules = p->rules;
	const struct conf	*conf = http->conf;

	return rules->compress && size >= conf->limits.compress_from &&
	    size <= conf->limits.compress &&
	    rules_compressible(rules, type) ? variant_made_bit() : 0;
}

uint32_t
variant_namespace(uint32_t ns, unsigned variant)
{
	return namespace_of(namespace_site(ns), NAMESPACE_VARIANT + variant);
}

void
variant_withdraw(struct http_loop *http, const struct path *v)
{
	struct pathname_cache	*paths = &http->caches->paths;
	struct path		*p;

	p = pathname_hold(paths,
	    namespace_of(namespace_site(v->namespace), NAMESPACE_TARGET),
	    (struct str){ v->name, v->len });
	if (p == NULL)
		return;
	path_info_drop_variants(paths, p, 1U << get_kind(v->namespace));
	pathname_release(paths, &p);
}

/*
 * Fields
 */

bool
variant_has_siblings(const struct request *r)
{
	return r->info.variants != 0 ||
	    variant_is_namespace(r->path->namespace);
}

void
variant_add_vary(struct buf *to, const struct request *r)
{
	if (variant_has_siblings(r))
		buf_adds(to, VARIANT_VARY);
}

void
variant_add_coding(struct buf *to, const struct request *r)
{
	if (variant_is_namespace(r->path->namespace))
		buf_addf(to, "Content-Encoding: %s\r\n",
		    kinds[get_kind(r->path->namespace)].coding);
}
