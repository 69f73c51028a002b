/*
 * variant: the kinds of variants, which of them a file has, and which one a
 * request gets.
 *
 * Must not look at what is in a file: a helper compresses, and sees whether
 * what stands beside a file can be one of it.
 */
#include <string.h>

#include "http/accept.h"
#include "http/head.h"
#include "http/rules.h"
#include "http/space.h"
#include "http/variant.h"
#include "lib/need.h"

/*
 * Of those that a client wants equally the first is taken.  Those with a
 * suffix stand beside the file, the other one is made of it.
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

static uint32_t
kind_of(uint32_t space)
{
	need(variant_is(space));
	return space_kind(space) - SPACE_VARIANT;
}

bool
variant_is(uint32_t space)
{
	return space_kind(space) >= SPACE_VARIANT;
}

bool
variant_is_made(uint32_t space)
{
	return space_kind(space) == SPACE_VARIANT + MADE;
}

const char *
variant_coding(uint32_t space)
{
	return kinds[kind_of(space)].coding;
}

const char *
variant_next(uint32_t *offered)
{
	for (uint32_t i = 0; i < KIND_COUNT; i++)
		if ((*offered & 1U << i) != 0) {
			*offered &= ~(1U << i);
			return kinds[i].coding;
		}
	return NULL;
}

/*
 * Choosing
 */

enum variant_choice
variant_choose(struct str accept, uint32_t offered, uint32_t *which)
{
	/* Without a word about it, it is what comes after all the others. */
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
		return VARIANT_TAKE;
	return best > 0 ? VARIANT_PLAIN : VARIANT_NONE_FITS;
}

/* Most clients in a row say the same, about files with the same variants. */
static enum variant_choice
choose_again(struct http *http, struct str accept, uint32_t offered,
    uint32_t *which)
{
	enum variant_choice	choice;

	if (offered == http->chosen.offered &&
	    str_same(accept, (struct str){ http->chosen.accept,
	    http->chosen.len })) {
		*which = http->chosen.which;
		return http->chosen.choice;
	}
	*which = 0;
	choice = variant_choose(accept, offered, which);
	if (accept.len > sizeof(http->chosen.accept))
		return choice;
	memcpy(http->chosen.accept, accept.at, accept.len);
	http->chosen.len = accept.len;
	http->chosen.offered = offered;
	http->chosen.which = *which;
	http->chosen.choice = (uint8_t)choice;
	return choice;
}

enum variant_choice
variant_wanted(struct conn *c, uint32_t *space)
{
	const struct request	*r = c->request;
	enum variant_choice	 choice;
	uint32_t		 which;

	/* The page for a failure has no choice, nor has a variant itself. */
	if (r->path->variants == 0 || r->plain || r->failure != 0 ||
	    !parse_has(&r->parse, FIELD_ACCEPT_ENCODING))
		return VARIANT_PLAIN;
	c->http->work.len = 0;
	choice = choose_again(c->http, head_list(c, FIELD_ACCEPT_ENCODING),
	    r->path->variants, &which);
	if (choice == VARIANT_TAKE)
		*space = space_of(r->path->space, SPACE_VARIANT + which);
	return choice;
}

/*
 * Looking
 */

/* Whether files beside others are used, with the suffix of this kind. */
static bool
is_beside(const struct conf_rules *rules, uint32_t kind)
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
		if (variant_is(p->space) ? i == kind_of(p->space) :
		    is_beside(p->rules, i))
			buf_add(text, kinds[i].suffix,
			    strlen(kinds[i].suffix) + 1);
}

/* Whether it is worth an attempt to compress this file. */
static bool
can_be_made(const struct http *http, const struct path *p)
{
	const struct conf_rules	*rules = p->rules;
	const struct conf	*conf = http->conf;
	int64_t			 size = p->file->version.size;

	return rules->compress && size >= conf->limits.compress_from &&
	    size <= conf->limits.compress &&
	    rules_compressible(rules, p->type);
}

static struct path *
hold(struct http *http, const struct path *p, uint32_t kind)
{
	return pathname_hold(&http->store->paths,
	    space_of(space_site(p->space), kind),
	    (struct str){ p->name, p->len });
}

/* The variants of another version must be looked at before they are sent. */
static void
expire(struct http *http, const struct path *p)
{
	struct path	*v;

	for (uint32_t i = 0; i < KIND_COUNT; i++) {
		if ((p->variants & 1U << i) == 0 ||
		    (v = hold(http, p, SPACE_VARIANT + i)) == NULL)
			continue;
		v->looked = PATHNAME_LONG_AGO;
		pathname_release(&http->store->paths, &v);
	}
}

void
variant_found(struct http *http, struct path *p, uint64_t beside, bool same)
{
	uint32_t	variants = 0;

	for (uint32_t i = 0; i < KIND_COUNT; i++) {
		if (!is_beside(p->rules, i))
			continue;
		variants |= (uint32_t)(beside & 1) << i;
		beside >>= 1;
	}
	/* What has been tried with this version is not tried again. */
	if (same)
		variants |= p->variants & 1U << MADE;
	else if (can_be_made(http, p))
		variants |= 1U << MADE;
	pathname_offer(&http->store->paths, p, variants);
	if (!same)
		expire(http, p);
}

void
variant_absent(struct http *http, const struct path *v)
{
	struct path	*p = hold(http, v, SPACE_TARGET);

	if (p == NULL)
		return;
	pathname_offer(&http->store->paths, p,
	    p->variants & ~(1U << kind_of(v->space)));
	pathname_release(&http->store->paths, &p);
}

/*
 * Fields
 */

bool
variant_has_siblings(const struct path *p)
{
	return p->variants != 0 || variant_is(p->space);
}

void
variant_add_vary(struct buf *to, const struct path *p)
{
	if (variant_has_siblings(p))
		buf_adds(to, VARIANT_VARY);
}

void
variant_add_coding(struct buf *to, const struct path *p)
{
	if (variant_is(p->space))
		buf_addf(to, "Content-Encoding: %s\r\n",
		    kinds[kind_of(p->space)].coding);
}
