/*
 * hint_table: a hash table of pages, each with a list of targets; a ring of
 * files to be brought in; an array of those that have been, the oldest first.
 */
#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>

#include "cache/hint_table.h"
#include "lib/hash.h"
#include "lib/lock.h"
#include "lib/mem.h"

#define BUCKETS		1024
#define VISIT_AT_ONCE	64	/* of them */

/* Of a page, files that were judged: with more, both counts are halved. */
#define JUDGED_MAX	64

struct target {
	char		*text;		/* owned, terminated */
	unsigned	 uses;
};

struct page {
	uint64_t	 number;	/* a hash of site and name: as clients
					 * cannot choose it, it is unique */
	uint32_t	 site;
	char		*name;		/* owned, terminated */
	struct target	*targets;	/* sorted by uses */
	unsigned	 n;
	unsigned	 judged, used;	/* files that were brought in */
	int64_t		 sent_at;	/* clock ms; 0: never */
	LIST_ENTRY(page)	 link;	/* in its bucket */
	TAILQ_ENTRY(page)	 order;	/* of the last notes */
};

struct pending {
	uint64_t	 page;
	int64_t		 at;		/* clock ms */
	uint32_t	 listener;
	char		*target, *host, *codings;	/* owned */
};

struct brought {
	uint64_t	 page;
	uint32_t	 namespace;
	uint16_t	 uses;
	char		*target, *name;	/* owned */
	size_t		 len;		/* of the name */
};

struct hint_table {
	struct lock		*lock;
	struct hash_key		 key;
	LIST_HEAD(, page)	 buckets[BUCKETS];
	TAILQ_HEAD(pages, page)	 order;
	size_t			 npages, bytes;
	struct pending		 queue[HINT_QUEUE_MAX];	/* a ring */
	size_t			 queue_at, nqueued;
	struct brought		 brought[HINT_BROUGHT_MAX];	/* the first
						 * nbrought, oldest first */
	size_t			 nbrought;
	int64_t			 credit;	/* extra reads, times EACH */
	struct hint_counts	 counts;
};

static size_t
count_bytes(const struct page *p)
{
	size_t	bytes = sizeof(*p) + HINT_FILES_MAX * sizeof(p->targets[0]) +
		    strlen(p->name) + 1;

	for (unsigned i = 0; i < p->n; i++)
		bytes += strlen(p->targets[i].text) + 1;
	return bytes;
}

static char *
copy_text(struct str text)
{
	char	*copy = mem_get(text.len + 1);

	if (text.len > 0)
		memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	return copy;
}

/*
 * Pages
 */

static uint64_t
number_of(const struct hint_table *t, const struct hint_page *key)
{
	return hash_bytes(&t->key, key->site, key->name.at, key->name.len);
}

static struct page *
find_page(struct hint_table *t, uint64_t number)
{
	struct page	*p;

	LIST_FOREACH(p, &t->buckets[number % BUCKETS], link)
		if (p->number == number)
			break;
	return p;
}

static void
drop_page(struct hint_table *t, struct page *p)
{
	t->bytes -= count_bytes(p);
	t->npages--;
	LIST_REMOVE(p, link);
	TAILQ_REMOVE(&t->order, p, order);
	for (unsigned i = 0; i < p->n; i++)
		free(p->targets[i].text);
	free(p->targets);
	free(p->name);
	free(p);
}

static struct page *
add_page(struct hint_table *t, uint64_t number, const struct hint_page *key)
{
	struct page	*p = mem_zero(sizeof(*p));

	p->number = number;
	p->site = key->site;
	p->name = copy_text(key->name);
	p->targets = mem_array(HINT_FILES_MAX, sizeof(p->targets[0]));
	LIST_INSERT_HEAD(&t->buckets[number % BUCKETS], p, link);
	TAILQ_INSERT_TAIL(&t->order, p, order);
	t->npages++;
	t->bytes += count_bytes(p);
	return p;
}

/* The page of the latest note goes last. */
static void
trim_pages(struct hint_table *t)
{
	while (t->npages > HINT_PAGES_MAX ||
	    (t->bytes > HINT_BYTES_MAX && t->npages > 1))
		drop_page(t, TAILQ_FIRST(&t->order));
}

/*
 * Targets
 */

static unsigned
find_target(const struct page *p, struct str target)
{
	unsigned	i;

	for (i = 0; i < p->n; i++)
		if (str_same(str_of(p->targets[i].text), target))
			break;
	return i;
}

/* Halves the uses of all; a target without uses goes. */
static void
halve_uses(struct hint_table *t, struct page *p)
{
	unsigned	n = 0;

	t->bytes -= count_bytes(p);
	for (unsigned i = 0; i < p->n; i++) {
		p->targets[i].uses /= 2;
		if (p->targets[i].uses > 0)
			p->targets[n++] = p->targets[i];
		else
			free(p->targets[i].text);
	}
	p->n = n;
	t->bytes += count_bytes(p);
}

/* Moves a target to its place. */
static void
sort_target(struct page *p, unsigned i)
{
	struct target	one = p->targets[i];

	for (; i > 0 && p->targets[i - 1].uses < one.uses; i--)
		p->targets[i] = p->targets[i - 1];
	for (; i + 1 < p->n && p->targets[i + 1].uses > one.uses; i++)
		p->targets[i] = p->targets[i + 1];
	p->targets[i] = one;
}

static void
use_target(struct hint_table *t, struct page *p, unsigned i)
{
	if (p->targets[i].uses == HINT_USES_MAX)
		halve_uses(t, p);
	else
		p->targets[i].uses++;
	if (i < p->n)
		sort_target(p, i);
}

static void
append_target(struct hint_table *t, struct page *p, struct str target,
    unsigned uses)
{
	p->targets[p->n++] = (struct target){ copy_text(target), uses };
	t->bytes += target.len + 1;
}

/* A list with another target may be worth more. */
static void
add_target(struct hint_table *t, struct page *p, struct str target)
{
	if (p->n == HINT_FILES_MAX)
		halve_uses(t, p);
	if (p->n == HINT_FILES_MAX)
		return;
	append_target(t, p, target, 1);
	p->judged /= 2;
	p->used /= 2;
}

/* The page, which becomes the latest one. */
static struct page *
need_page(struct hint_table *t, const struct hint_page *key)
{
	uint64_t	 number = number_of(t, key);
	struct page	*p = find_page(t, number);

	if (p == NULL)
		p = add_page(t, number, key);
	TAILQ_REMOVE(&t->order, p, order);
	TAILQ_INSERT_TAIL(&t->order, p, order);
	return p;
}

static void
note_target(struct hint_table *t, const struct hint_page *key,
    struct str target)
{
	struct page	*p = need_page(t, key);
	unsigned	 i = find_target(p, target);

	if (i < p->n)
		use_target(t, p, i);
	else
		add_target(t, p, target);
	trim_pages(t);
}

void
hint_table_note(struct hint_table *t, const struct hint_page *key,
    struct str target)
{
	if (key->name.len > HINT_NAME_MAX || target.len > HINT_NAME_MAX)
		return;
	lock_acquire(t->lock);
	note_target(t, key, target);
	lock_release(t->lock);
}

static bool
is_list(const struct page *p, const struct str *targets, unsigned n)
{
	unsigned	i;

	for (i = 0; i < n && i < p->n; i++)
		if (find_target(p, targets[i]) == p->n)
			break;
	return i == n && n == p->n;
}

/* A list that is the same keeps what is known of its targets. */
static void
set_targets(struct hint_table *t, struct page *p, const struct str *targets,
    unsigned n)
{
	if (is_list(p, targets, n))
		return;
	t->bytes -= count_bytes(p);
	while (p->n > 0)
		free(p->targets[--p->n].text);
	t->bytes += count_bytes(p);
	for (unsigned i = 0; i < n; i++)
		add_target(t, p, targets[i]);
}

void
hint_table_set(struct hint_table *t, const struct hint_page *key,
    const struct str *targets, unsigned n)
{
	if (key->name.len > HINT_NAME_MAX)
		return;
	lock_acquire(t->lock);
	set_targets(t, need_page(t, key), targets, n);
	trim_pages(t);
	lock_release(t->lock);
}

/*
 * From table to table
 */

static bool
is_worth_it(const struct page *p)
{
	return p->judged < HINT_JUDGED_MIN ||
	    p->used * 100 >= p->judged * HINT_USED_MIN;
}

static void
tell_list(const struct page *p,
    void (*tell)(void *, const struct hint_list *), void *context)
{
	struct hint_list	list = { .page = { p->site, str_of(p->name) },
				    .n = p->n };

	for (unsigned i = 0; i < p->n; i++)
		list.targets[i] = str_of(p->targets[i].text);
	if (list.n > 0 && is_worth_it(p))
		tell(context, &list);
}

bool
hint_table_visit(struct hint_table *t, size_t *bucket,
    void (*tell)(void *, const struct hint_list *), void *context)
{
	const struct page	*p;

	lock_acquire(t->lock);
	for (unsigned n = 0; n < VISIT_AT_ONCE && *bucket < BUCKETS; n++) {
		LIST_FOREACH(p, &t->buckets[*bucket], link)
			tell_list(p, tell, context);
		(*bucket)++;
	}
	lock_release(t->lock);
	return *bucket < BUCKETS;
}

/* Whether a list fits without one that has to go. */
static bool
has_room(const struct hint_table *t, const struct hint_list *list)
{
	size_t	bytes = sizeof(struct page) + list->page.name.len + 1 +
		    HINT_FILES_MAX * sizeof(struct target);

	for (unsigned i = 0; i < list->n; i++)
		bytes += list->targets[i].len + 1;
	return t->npages < HINT_PAGES_MAX && t->bytes + bytes <= HINT_BYTES_MAX;
}

static void
restore_list(struct hint_table *t, const struct hint_list *list)
{
	uint64_t	 number = number_of(t, &list->page);
	struct page	*p = find_page(t, number);

	if (!has_room(t, list))
		return;
	if (p == NULL)
		p = add_page(t, number, &list->page);
	for (unsigned i = 0; i < list->n && p->n < HINT_FILES_MAX; i++) {
		if (list->targets[i].len > HINT_NAME_MAX ||
		    find_target(p, list->targets[i]) < p->n)
			continue;
		append_target(t, p, list->targets[i], HINT_USES_RESTORED);
		sort_target(p, p->n - 1);
	}
	if (p->n == 0)
		drop_page(t, p);
}

void
hint_table_restore(struct hint_table *t, const struct hint_list *list)
{
	if (list->page.name.len > HINT_NAME_MAX)
		return;
	lock_acquire(t->lock);
	restore_list(t, list);
	lock_release(t->lock);
}

/*
 * The queue
 */

static void
count_read(struct hint_table *t)
{
	if (t->credit < HINT_RESERVE * HINT_READS_EACH)
		t->credit++;
}

void
hint_table_count_read(struct hint_table *t)
{
	lock_acquire(t->lock);
	count_read(t);
	lock_release(t->lock);
}

static bool
has_credit(const struct hint_table *t)
{
	return t->credit >= HINT_READS_EACH;
}

static bool
queue_target(struct hint_table *t, const struct page *p, const char *target,
    const struct hint_asker *asker)
{
	struct pending	*q;

	if (t->nqueued == HINT_QUEUE_MAX)
		return false;
	q = &t->queue[(t->queue_at + t->nqueued++) % HINT_QUEUE_MAX];
	*q = (struct pending){ .page = p->number, .at = p->sent_at,
	    .listener = asker->listener, .target = mem_string(target),
	    .host = copy_text(asker->host),
	    .codings = copy_text(asker->codings) };
	return true;
}

static bool
may_send(const struct hint_table *t, const struct page *p, int64_t now)
{
	return is_worth_it(p) && has_credit(t) &&
	    (p->sent_at == 0 || now - p->sent_at >= HINT_PAUSE);
}

bool
hint_table_may_send(struct hint_table *t, const struct hint_page *key,
    int64_t now)
{
	const struct page	*p;
	bool			 may;

	lock_acquire(t->lock);
	p = find_page(t, number_of(t, key));
	may = p != NULL ? may_send(t, p, now) : has_credit(t);
	lock_release(t->lock);
	return may;
}

static bool
send_list(struct hint_table *t, struct page *p, const struct hint_asker *asker,
    int64_t now)
{
	bool	sent = false;

	if (p == NULL || !may_send(t, p, now))
		return false;
	p->sent_at = now;
	for (unsigned i = 0; i < p->n; i++)
		sent |= queue_target(t, p, p->targets[i].text, asker);
	return sent;
}

bool
hint_table_send(struct hint_table *t, const struct hint_page *key,
    const struct hint_asker *asker, int64_t now)
{
	bool	sent;

	if (asker->host.len > HINT_NAME_MAX ||
	    asker->codings.len > HINT_NAME_MAX)
		return false;
	lock_acquire(t->lock);
	sent = send_list(t, find_page(t, number_of(t, key)), asker, now);
	lock_release(t->lock);
	return sent;
}

static void
set_text(struct buf *to, const char *text)
{
	to->len = 0;
	buf_adds(to, text);
	buf_string(to);
}

static void
drop_queued(struct hint_table *t)
{
	struct pending	*q = &t->queue[t->queue_at];

	free(q->target);
	free(q->host);
	free(q->codings);
	t->queue_at = (t->queue_at + 1) % HINT_QUEUE_MAX;
	t->nqueued--;
}

/* Takes the first file that is not too late.  It costs an extra read until its
 * use is known. */
static bool
take_queued(struct hint_table *t, int64_t now, struct hint *to)
{
	const struct pending	*q;

	while (t->nqueued > 0 &&
	    now - t->queue[t->queue_at].at > HINT_LATE)
		drop_queued(t);
	if (t->nqueued == 0 || !has_credit(t))
		return false;
	q = &t->queue[t->queue_at];
	to->page = q->page;
	to->listener = q->listener;
	set_text(&to->target, q->target);
	set_text(&to->host, q->host);
	set_text(&to->codings, q->codings);
	drop_queued(t);
	t->credit -= HINT_READS_EACH;
	return true;
}

bool
hint_table_next(struct hint_table *t, int64_t now, struct hint *to)
{
	bool	taken;

	lock_acquire(t->lock);
	taken = take_queued(t, now, to);
	lock_release(t->lock);
	return taken;
}

void
hint_table_free_hint(struct hint *h)
{
	buf_free(&h->target);
	buf_free(&h->host);
	buf_free(&h->codings);
}

/*
 * Files that were brought in
 */

static void
return_credit(struct hint_table *t)
{
	t->credit += HINT_READS_EACH;
	if (t->credit > HINT_RESERVE * HINT_READS_EACH)
		t->credit = HINT_RESERVE * HINT_READS_EACH;
}

/* A target that was used is as if it had been noted again: nobody waits for it
 * any more, so no request notes it. */
static void
judge_target(struct hint_table *t, struct page *p, const char *target,
    bool used)
{
	unsigned	i = find_target(p, str_of(target));

	if (p->judged == JUDGED_MAX) {
		p->judged /= 2;
		p->used /= 2;
	}
	p->judged++;
	p->used += used;
	if (i < p->n && used)
		use_target(t, p, i);
	else if (i < p->n && p->targets[i].uses > 1) {
		p->targets[i].uses /= 2;
		sort_target(p, i);
	}
}

static void
judge_brought(struct hint_table *t, const struct brought *b, bool used)
{
	struct page	*p = find_page(t, b->page);

	t->counts.used += used;
	t->counts.wasted += !used;
	if (used) {
		return_credit(t);
		count_read(t);		/* a client would have waited */
	}
	if (p != NULL)
		judge_target(t, p, b->target, used);
}

static void
free_brought(struct brought *b)
{
	free(b->target);
	free(b->name);
}

/* The oldest has not been used for long. */
static void
drop_oldest(struct hint_table *t)
{
	judge_brought(t, &t->brought[0], false);
	free_brought(&t->brought[0]);
	memmove(&t->brought[0], &t->brought[1],
	    --t->nbrought * sizeof(t->brought[0]));
}

static void
add_brought(struct hint_table *t, uint64_t page, struct str target,
    const struct hint_path *path)
{
	if (t->nbrought == HINT_BROUGHT_MAX)
		drop_oldest(t);
	t->brought[t->nbrought++] = (struct brought){
		.page = page, .namespace = path->namespace,
		.uses = path->uses, .target = copy_text(target),
		.name = copy_text(path->name), .len = path->name.len };
	t->counts.brought++;
}

void
hint_table_brought(struct hint_table *t, uint64_t page, struct str target,
    const struct hint_path *path)
{
	lock_acquire(t->lock);
	if (path != NULL)
		add_brought(t, page, target, path);
	else
		return_credit(t);
	lock_release(t->lock);
}

/* Whether the use of a file is known now. */
static bool
is_settled(struct hint_table *t, struct brought *b,
    bool (*look)(void *, struct hint_path *), void *context)
{
	struct hint_path	path = { b->namespace, { b->name, b->len },
				    b->uses };
	bool			there = look(context, &path);

	if (there && path.uses <= b->uses) {
		b->uses = path.uses;	/* the policy has made it less */
		return false;
	}
	judge_brought(t, b, there);
	return true;
}

void
hint_table_settle(struct hint_table *t,
    bool (*look)(void *, struct hint_path *), void *context)
{
	size_t	n = 0;

	lock_acquire(t->lock);
	for (size_t i = 0; i < t->nbrought; i++)
		if (is_settled(t, &t->brought[i], look, context))
			free_brought(&t->brought[i]);
		else
			t->brought[n++] = t->brought[i];
	t->nbrought = n;
	lock_release(t->lock);
}

/*
 * The table
 */

void
hint_table_get_counts(struct hint_table *t, struct hint_counts *to)
{
	lock_acquire(t->lock);
	*to = t->counts;
	lock_release(t->lock);
}

size_t
hint_table_queued(const struct hint_table *t)
{
	size_t	n;

	lock_acquire(t->lock);
	n = t->nqueued;
	lock_release(t->lock);
	return n;
}

size_t
hint_table_pages(const struct hint_table *t)
{
	return t->npages;
}

size_t
hint_table_bytes(const struct hint_table *t)
{
	return t->bytes;
}

struct hint_table *
hint_table_new(bool shared)
{
	struct hint_table	*t = mem_zero(sizeof(*t));

	if (shared)
		t->lock = lock_new();
	hash_key_random(&t->key);
	TAILQ_INIT(&t->order);
	t->credit = HINT_RESERVE * HINT_READS_EACH;
	return t;
}

void
hint_table_free(struct hint_table **tp)
{
	struct hint_table	*t = *tp;

	if (t == NULL)
		return;
	while (!TAILQ_EMPTY(&t->order))
		drop_page(t, TAILQ_FIRST(&t->order));
	while (t->nqueued > 0)
		drop_queued(t);
	while (t->nbrought > 0)
		free_brought(&t->brought[--t->nbrought]);
	lock_free(&t->lock);
	mem_drop(tp);
}
