/*
 * path_info: what a path was found to be, under the lock of the cache.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/digest.h"
#include "cache/path_info.h"
#include "cache/pathname_private.h"
#include "lib/mem.h"

static inline void
copy_info(const struct pathname_cache *pc, const struct path *p,
    unsigned wanted, struct path_info *a)
{
	a->kind = p->kind;
	a->why = p->why;
	a->status = p->status;
	a->variants = p->variants;
	a->checked_at = p->checked_at;
	a->type = pc->types[p->type];
	a->file = (p->variants & wanted) == 0 ? p->file : NULL;
	a->chunk = NULL;
	if (a->file != NULL)
		a->source = (uint8_t)file_hold_source(a->file, &a->chunk);
}

static LOCKED void
copy_info_locked(struct pathname_cache *pc, const struct path *p,
    unsigned wanted, struct path_info *a)
{
	lock_acquire(pc->cache.lock);
	copy_info(pc, p, wanted, a);
	lock_release(pc->cache.lock);
}

void
path_info_get(struct pathname_cache *pc, const struct path *p, unsigned wanted,
    struct path_info *a)
{
	if (pc->cache.lock != NULL)
		copy_info_locked(pc, p, wanted, a);
	else
		copy_info(pc, p, wanted, a);
}

static int64_t
get_look_time(int64_t checked_at, bool watched)
{
	return watched ? checked_at - PATHNAME_WATCHED_MS : checked_at;
}

/* Whether a result is older than the one that is there, as the result of
 * another thread's look-up can be.  A present result that cannot be sent is
 * worth less than an older one. */
static bool
is_outdated(const struct pathname_cache *pc, const struct path *p,
    const struct path_info *a)
{
	return pc->cache.lock != NULL && p->kind != PATHNAME_UNKNOWN &&
	    get_look_time(a->checked_at, a->watched) <
	    get_look_time(p->checked_at, p->watched) &&
	    (p->file == NULL || file_is_sendable(p->file));
}

static int64_t
time_of_check(const struct pathname_cache *pc, int64_t looked)
{
	return pc->no_reuse ? PATHNAME_EXPIRED : looked;
}

/* The index of a media type: a million paths have few different ones. */
static uint16_t
find_type(struct pathname_cache *pc, const char *type)
{
	uint16_t	i;

	for (i = 0; i < pc->ntypes; i++)
		if (pc->types[i] == type)
			return i;
	if (i == UINT16_MAX)		/* no conf has so many */
		return 0;
	pc->types = mem_grow(pc->types, i + 1U, sizeof(pc->types[0]));
	pc->types[pc->ntypes++] = type;
	return i;
}

void
path_info_assign(struct pathname_cache *pc, struct path *p,
    const struct path_info *a)
{
	pathname_forget_info(pc, p);
	if (a->kind == PATHNAME_REFUSED && p->kind != PATHNAME_REFUSED)
		pathname_note_absent(pc, p);
	p->kind = a->kind;
	p->why = a->why;
	p->status = a->status;
	p->variants = a->variants;
	p->type = find_type(pc, a->type);
	p->file = a->file;
	p->checked_at = time_of_check(pc, a->checked_at);
	p->watched = a->watched;
}

void
path_info_set(struct pathname_cache *pc, struct path *p,
    const struct path_info *a)
{
	struct file	*unwanted = a->file;

	lock_acquire(pc->cache.lock);
	if (!is_outdated(pc, p, a)) {
		path_info_assign(pc, p, a);
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
set_variants(struct pathname_cache *pc, struct path *p, uint16_t variants)
{
	if (p->variants != variants)
		pathname_forget_heads(pc, p);
	p->variants = variants;
}

/* The next variant that has a path, from number *i on; NULL: there is none. */
static struct path *
next_variant(struct pathname_cache *pc, const struct path *p, unsigned *i)
{
	struct str	 name = { p->name, p->len };
	struct path	*v = NULL;
	unsigned	 variants = p->variants & ~PATHNAME_BY_CONTENT;

	for (; v == NULL && variants >> *i != 0; ++*i)
		if ((variants & 1U << *i) != 0)
			v = pathname_find(pc,
			    pc->variant_namespace(p->namespace, *i), name);
	return v;
}

/* Variants of another version must be looked up again. */
static void
expire_variants(struct pathname_cache *pc, const struct path *p)
{
	struct path	*v;

	for (unsigned i = 0; (v = next_variant(pc, p, &i)) != NULL;)
		v->checked_at = PATHNAME_EXPIRED;
}

static void
store_found(struct pathname_cache *pc, struct path *p, struct path_info a,
    uint16_t tried)
{
	bool	same = is_version(p, &a.file->version);

	/* A version that is not strong may have changed without a trace, so its
	 * variants and digest are not kept.  That the file cannot be read is
	 * logged once. */
	if (same)
		file_inherit_warned(a.file, p->file);
	same = same && p->file->strong;
	if (same) {
		a.variants = (a.variants & ~tried) | (p->variants & tried);
		digest_inherit(a.file, p->file);
	}
	path_info_assign(pc, p, &a);
	p->failed = false;
	if (!same)
		expire_variants(pc, p);
}

void
path_info_found(struct pathname_cache *pc, struct path *p,
    const struct path_info *a, uint16_t tried)
{
	struct file	*unwanted = a->file;

	lock_acquire(pc->cache.lock);
	if (!is_outdated(pc, p, a)) {
		store_found(pc, p, *a, tried);
		unwanted = NULL;
	}
	lock_release(pc->cache.lock);
	file_drop(&unwanted);
}

void
path_info_confirm(struct pathname_cache *pc, struct path *p,
    const struct job_version *version, const struct path_info *a,
    uint16_t tried)
{
	lock_acquire(pc->cache.lock);
	p->failed = false;
	if (is_version(p, version) && !is_outdated(pc, p, a)) {
		p->checked_at = time_of_check(pc, a->checked_at);
		p->watched = a->watched;
		set_variants(pc, p, (a->variants & ~tried) |
		    (p->variants & tried));
	}
	lock_release(pc->cache.lock);
}

bool
path_info_fail(struct pathname_cache *pc, struct path *p,
    const struct path_info *a, int64_t oldest, unsigned kinds)
{
	bool	before;

	lock_acquire(pc->cache.lock);
	before = p->failed;
	p->failed = true;
	if (p->checked_at < oldest || (kinds & 1U << p->kind) == 0)
		path_info_assign(pc, p, a);
	lock_release(pc->cache.lock);
	return !before;
}

int64_t
path_info_time(struct pathname_cache *pc, const struct path *p)
{
	int64_t	checked_at;

	lock_acquire(pc->cache.lock);
	checked_at = p->checked_at;
	lock_release(pc->cache.lock);
	return checked_at;
}

enum pathname_kind
path_info_kind(struct pathname_cache *pc, const struct path *p,
    const char **type)
{
	enum pathname_kind	kind;

	lock_acquire(pc->cache.lock);
	kind = (enum pathname_kind)p->kind;
	*type = pc->types[p->type];
	lock_release(pc->cache.lock);
	return kind;
}

bool
path_info_version(struct pathname_cache *pc, const struct path *p,
    struct job_version *version)
{
	bool	is_known;

	lock_acquire(pc->cache.lock);
	/* A version that is not strong may have changed again within the same
	 * tick of the clock that stamps files.  A file that cannot be sent
	 * needs a new descriptor. */
	is_known = p->kind == PATHNAME_FILE && p->file->strong &&
	    file_is_sendable(p->file);
	if (is_known)
		*version = p->file->version;
	lock_release(pc->cache.lock);
	return is_known;
}

void
path_info_drop_variants(struct pathname_cache *pc, struct path *p,
    uint16_t variants)
{
	lock_acquire(pc->cache.lock);
	if (p->kind == PATHNAME_FILE)
		set_variants(pc, p, p->variants & ~variants);
	lock_release(pc->cache.lock);
}

void
path_info_expire(struct pathname_cache *pc, struct path *p,
    const struct file *f)
{
	lock_acquire(pc->cache.lock);
	if (p->file == f) {
		p->checked_at = PATHNAME_EXPIRED;
		if (f != NULL)
			file_set_outdated(p->file);
	}
	lock_release(pc->cache.lock);
}

void
path_info_age(struct pathname_cache *pc, uint32_t namespace, struct str name,
    int64_t checked_at)
{
	struct path	*p;

	lock_acquire(pc->cache.lock);
	p = pathname_find(pc, namespace, name);
	if (p != NULL && p->checked_at > checked_at)
		p->checked_at = checked_at;
	lock_release(pc->cache.lock);
}

/*
 * Heads
 */

/* The copy has a reference to its file, so an equal pointer is the same
 * version. */
static bool
is_current(const struct path *p, const struct path_info *a)
{
	return p->file == a->file && p->variants == a->variants;
}

static inline struct head *
hold_head(struct pathname_cache *pc, struct path *p, const struct path_info *a,
    unsigned kind, const struct header_date *date)
{
	return is_current(p, a) ?
	    header_hold(pc->headers, &p->heads, kind, date) : NULL;
}

static LOCKED struct head *
hold_head_locked(struct pathname_cache *pc, struct path *p,
    const struct path_info *a, unsigned kind, const struct header_date *date)
{
	struct head	*h;

	lock_acquire(pc->cache.lock);
	h = hold_head(pc, p, a, kind, date);
	lock_release(pc->cache.lock);
	return h;
}

struct head *
path_info_hold_head(struct pathname_cache *pc, struct path *p,
    const struct path_info *a, unsigned kind, const struct header_date *date)
{
	return pc->cache.lock != NULL ? hold_head_locked(pc, p, a, kind, date) :
	    hold_head(pc, p, a, kind, date);
}

struct head *
path_info_put_head(struct pathname_cache *pc, struct path *p,
    const struct path_info *a, unsigned kind, struct str bytes,
    size_t date_at, const struct header_date *date)
{
	struct head	*h = NULL;

	lock_acquire(pc->cache.lock);
	if (is_current(p, a))
		h = header_put(pc->headers, &p->heads, kind, bytes.at,
		    bytes.len, date_at, date);
	pathname_evict_heads(pc);
	lock_release(pc->cache.lock);
	return h;
}

static bool
has_head_since(const struct pathname_cache *pc, const struct path *p,
    time_t since)
{
	const struct head	*h;

	lock_acquire(pc->headers->cache.lock);
	for (h = p->heads; h != NULL; h = h->next)
		if ((int32_t)(h->date - (uint32_t)since) >= 0)
			break;
	lock_release(pc->headers->cache.lock);
	return h != NULL;
}

bool
path_info_was_sent(struct pathname_cache *pc, uint32_t namespace,
    struct str name, time_t since)
{
	struct path	*p, *v;
	bool		 sent = false;

	lock_acquire(pc->cache.lock);
	p = pathname_find(pc, namespace, name);
	if (p != NULL && p->kind == PATHNAME_FILE) {
		sent = has_head_since(pc, p, since);
		for (unsigned i = 0; !sent &&
		    (v = next_variant(pc, p, &i)) != NULL;)
			sent = has_head_since(pc, v, since);
	}
	lock_release(pc->cache.lock);
	return sent;
}

bool
path_info_get_uses(const struct pathname_cache *pc, uint32_t namespace,
    struct str name, uint16_t *uses)
{
	const struct path	*p;
	bool			 there;

	lock_acquire(pc->cache.lock);
	p = pathname_find(pc, namespace, name);
	there = p != NULL && p->kind == PATHNAME_FILE &&
	    file_is_sendable(p->file);
	if (there)
		*uses = p->uses;
	lock_release(pc->cache.lock);
	return there;
}
