/*
 * path_info: what paths are found to be, under the lock of their cache.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/path_info.h"
#include "cache/pathname_private.h"
#include "lib/mem.h"

static inline void
take(const struct pathname_cache *pc, const struct path *p, struct answer *a)
{
	a->kind = p->kind;
	a->why = p->why;
	a->status = p->status;
	a->variants = p->variants;
	a->looked = p->looked;
	a->type = pc->types[p->type];
	a->file = p->file;
	a->chunk = NULL;
	if (p->file != NULL)
		a->source = (uint8_t)file_take(p->file, &a->chunk);
}

static LOCKED void
take_locked(struct pathname_cache *pc, const struct path *p, struct answer *a)
{
	lock_take(pc->cache.lock);
	take(pc, p, a);
	lock_release(pc->cache.lock);
}

void
answer_take(struct pathname_cache *pc, const struct path *p, struct answer *a)
{
	if (pc->cache.lock != NULL)
		take_locked(pc, p, a);
	else
		take(pc, p, a);
}

/* With several threads a look may end that began before another one whose
 * answer is there.  It is about what was before; but better than an answer that
 * cannot be sent. */
static bool
is_late(const struct pathname_cache *pc, const struct path *p,
    const struct answer *a)
{
	return pc->cache.lock != NULL && a->looked < p->looked &&
	    (p->file == NULL || file_lasts(p->file));
}

static int64_t
when(const struct pathname_cache *pc, int64_t looked)
{
	return pc->anew ? PATHNAME_LONG_AGO : looked;
}

/* A million paths have a few types. */
static uint32_t
number_of(struct pathname_cache *pc, const char *type)
{
	uint32_t	i;

	for (i = 0; i < pc->ntypes; i++)
		if (pc->types[i] == type)
			return i;
	pc->types = mem_grow(pc->types, i + 1, sizeof(pc->types[0]));
	pc->types[pc->ntypes++] = type;
	return i;
}

void
answer_set(struct pathname_cache *pc, struct path *p,
    const struct answer *a)
{
	pathname_forget_answer(pc, p);
	p->kind = a->kind;
	p->why = a->why;
	p->status = a->status;
	p->variants = a->variants;
	p->type = number_of(pc, a->type);
	p->file = a->file;
	p->looked = when(pc, a->looked);
}

void
answer_give(struct pathname_cache *pc, struct path *p,
    const struct answer *a)
{
	struct file	*unwanted = a->file;

	lock_take(pc->cache.lock);
	if (!is_late(pc, p, a)) {
		answer_set(pc, p, a);
		unwanted = NULL;
	}
	lock_release(pc->cache.lock);
	file_drop(&unwanted);
}

static bool
is_version(const struct path *p, const struct job_version *version)
{
	return p->kind == PATHNAME_FILE &&
	    memcmp(&p->file->version, version, sizeof(*version)) == 0;
}

static void
offer(struct pathname_cache *pc, struct path *p, uint16_t variants)
{
	if (p->variants != variants)
		pathname_forget_heads(pc, p);
	p->variants = variants;
}

/* The variants of another version must be looked at before they are sent. */
static void
expire_variants(struct pathname_cache *pc, const struct path *p)
{
	struct str	 name = { p->name, p->len };
	struct path	*v;
	uint32_t	 space;

	for (unsigned i = 0; p->variants >> i != 0; i++) {
		if ((p->variants & 1U << i) == 0)
			continue;
		space = pc->beside(p->space, i);
		v = pathname_find(pc, space, name);
		if (v != NULL)
			v->looked = PATHNAME_LONG_AGO;
	}
}

static void
found(struct pathname_cache *pc, struct path *p, struct answer a,
    uint16_t tried)
{
	bool	same = is_version(p, &a.file->version);

	/* It may have changed without a trace; what cannot be read is told. */
	if (same)
		file_inherit(a.file, p->file);
	if (same && p->file->settled)
		a.variants = (a.variants & ~tried) | (p->variants & tried);
	else
		same = false;
	answer_set(pc, p, &a);
	p->told = false;
	if (!same)
		expire_variants(pc, p);
}

void
answer_found(struct pathname_cache *pc, struct path *p,
    const struct answer *a, uint16_t tried)
{
	struct file	*unwanted = a->file;

	lock_take(pc->cache.lock);
	if (!is_late(pc, p, a)) {
		found(pc, p, *a, tried);
		unwanted = NULL;
	}
	lock_release(pc->cache.lock);
	file_drop(&unwanted);
}

void
answer_confirm(struct pathname_cache *pc, struct path *p,
    const struct job_version *version, const struct answer *a,
    uint16_t tried)
{
	lock_take(pc->cache.lock);
	p->told = false;
	if (is_version(p, version) && !is_late(pc, p, a)) {
		p->looked = when(pc, a->looked);
		offer(pc, p, (a->variants & ~tried) | (p->variants & tried));
	}
	lock_release(pc->cache.lock);
}

bool
answer_fail(struct pathname_cache *pc, struct path *p,
    const struct answer *a, int64_t oldest, unsigned kinds)
{
	bool	before;

	lock_take(pc->cache.lock);
	before = p->told;
	p->told = true;
	if (p->looked < oldest || (kinds & 1U << p->kind) == 0)
		answer_set(pc, p, a);
	lock_release(pc->cache.lock);
	return !before;
}

bool
answer_version(struct pathname_cache *pc, const struct path *p,
    struct job_version *version)
{
	bool	is_known;

	lock_take(pc->cache.lock);
	/* One that had just been changed may have been changed again since,
	 * within the same tick of the clock that stamps files.  Or its
	 * descriptor is wanted. */
	is_known = p->kind == PATHNAME_FILE && p->file->settled &&
	    file_lasts(p->file);
	if (is_known)
		*version = p->file->version;
	lock_release(pc->cache.lock);
	return is_known;
}

void
answer_withdraw(struct pathname_cache *pc, struct path *p, uint16_t variants)
{
	lock_take(pc->cache.lock);
	offer(pc, p, p->variants & ~variants);
	lock_release(pc->cache.lock);
}

void
answer_expire(struct pathname_cache *pc, struct path *p,
    const struct file *f)
{
	lock_take(pc->cache.lock);
	if (p->file == f) {
		p->looked = PATHNAME_LONG_AGO;
		if (f != NULL)
			file_spoil(p->file);
	}
	lock_release(pc->cache.lock);
}

bool
answer_claim(struct pathname_cache *pc, struct path *p)
{
	bool	before;

	lock_take(pc->cache.lock);
	before = p->claimed;
	p->claimed = true;
	lock_release(pc->cache.lock);
	return !before;
}

void
answer_unclaim(struct pathname_cache *pc, struct path *p)
{
	lock_take(pc->cache.lock);
	p->claimed = false;
	lock_release(pc->cache.lock);
}

/*
 * Heads
 */

/* Who has the copy refers to that version, so there is none after it at the
 * same place. */
static bool
still_is(const struct path *p, const struct answer *a)
{
	return p->file == a->file && p->variants == a->variants;
}

static inline struct head *
head(struct pathname_cache *pc, struct path *p, const struct answer *a,
    unsigned kind, const struct header_date *date)
{
	return still_is(p, a) ?
	    header_hold(pc->headers, &p->heads, kind, date) : NULL;
}

static LOCKED struct head *
head_locked(struct pathname_cache *pc, struct path *p, const struct answer *a,
    unsigned kind, const struct header_date *date)
{
	struct head	*h;

	lock_take(pc->cache.lock);
	h = head(pc, p, a, kind, date);
	lock_release(pc->cache.lock);
	return h;
}

struct head *
answer_head(struct pathname_cache *pc, struct path *p, const struct answer *a,
    unsigned kind, const struct header_date *date)
{
	return pc->cache.lock != NULL ? head_locked(pc, p, a, kind, date) :
	    head(pc, p, a, kind, date);
}

struct head *
answer_put_head(struct pathname_cache *pc, struct path *p,
    const struct answer *a, unsigned kind, struct str bytes,
    size_t date_at, const struct header_date *date)
{
	struct head	*h = NULL;

	lock_take(pc->cache.lock);
	if (still_is(p, a))
		h = header_put(pc->headers, &p->heads, kind, bytes.at,
		    bytes.len, date_at, date);
	pathname_thin_heads(pc);
	lock_release(pc->cache.lock);
	return h;
}
