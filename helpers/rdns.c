/*
 * rdns: a cache of addresses with their names, and threads that fill the cache.
 */
#include <sys/queue.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "helpers/rdns.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/lines.h"
#include "lib/log.h"
#include "lib/mem.h"

#define ENTRIES_MAX	4096		/* addresses */
#define BUCKETS		1024
#define THREADS_MAX	8
#define ADDRESS_SIZE	48		/* bytes, with the NUL */

/* ms that a result is valid for. */
static const int64_t	valid_for[] = {
	[RDNS_FOUND] = 600000, [RDNS_NONE] = 300000, [RDNS_FAILED] = 30000
};

struct rdns_entry {
	char			 address[ADDRESS_SIZE];
	char			 name[RDNS_NAME_MAX];	/* "": none is known */
	bool			 looking_up;	/* or in the queue */
	int64_t			 valid_until;	/* clock ms */
	uint64_t		 batch;		/* the last that needs it */
	SLIST_ENTRY(rdns_entry)	 bucket;
	STAILQ_ENTRY(rdns_entry) next;		/* in the queue */
	TAILQ_ENTRY(rdns_entry)	 age;
};

struct rdns {
	rdns_lookup_fn		*lookup;
	struct hash_key		 key;
	SLIST_HEAD(, rdns_entry) buckets[BUCKETS];
	STAILQ_HEAD(, rdns_entry) queue;	/* to be looked up */
	TAILQ_HEAD(, rdns_entry) all;		/* the oldest first */
	size_t			 count, threads, idle;
	uint64_t		 batch;		/* number of the current one */
	size_t			 pending;	/* names that it waits for */
	int64_t			 credit;	/* ms that batches may wait */
	int64_t			 credited_at;	/* clock ms, last change */
	pthread_mutex_t		 lock;
	pthread_cond_t		 work, all_known;
};

/* Looks up the first entry of the queue, without the lock. */
static void
look_up_next(struct rdns *n)
{
	struct rdns_entry	*e = STAILQ_FIRST(&n->queue);
	char			 address[ADDRESS_SIZE], text[RDNS_NAME_MAX];
	enum rdns_result	 result;

	STAILQ_REMOVE_HEAD(&n->queue, next);
	memcpy(address, e->address, sizeof(address));
	pthread_mutex_unlock(&n->lock);
	result = n->lookup(address, text);
	pthread_mutex_lock(&n->lock);
	if (result == RDNS_FOUND)
		memcpy(e->name, text, sizeof(e->name));
	else
		e->name[0] = '\0';
	e->looking_up = false;
	e->valid_until = clock_ms() + valid_for[result];
	if (e->batch == n->batch && --n->pending == 0)
		pthread_cond_signal(&n->all_known);
}

static void *
run_thread(void *context)
{
	struct rdns	*n = context;

	pthread_mutex_lock(&n->lock);
	for (;;) {
		n->idle++;
		while (STAILQ_EMPTY(&n->queue))
			pthread_cond_wait(&n->work, &n->lock);
		n->idle--;
		look_up_next(n);
	}
	return NULL;
}

/* With all signals blocked: the thread that reads the pipe handles them. */
static void
add_thread(struct rdns *n)
{
	pthread_t	thread;
	sigset_t	all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, run_thread, n) == 0) {
		pthread_detach(thread);
		n->threads++;
	} else if (n->threads == 0)
		log_warnx("cannot start a thread to look up host names: the "
		    "access log has addresses in their place");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void
enqueue_entry(struct rdns *n, struct rdns_entry *e)
{
	e->looking_up = true;
	STAILQ_INSERT_TAIL(&n->queue, e, next);
	if (n->idle == 0 && n->threads < THREADS_MAX)
		add_thread(n);
	pthread_cond_signal(&n->work);
}

static size_t
bucket_of(const struct rdns *n, const char *address)
{
	return hash_bytes(&n->key, 0, address, strlen(address)) % BUCKETS;
}

/* Takes the oldest entry out of the cache; NULL: all are looked up now. */
static struct rdns_entry *
evict_oldest(struct rdns *n)
{
	struct rdns_entry	*e;

	TAILQ_FOREACH(e, &n->all, age)
		if (!e->looking_up)
			break;
	if (e == NULL)
		return NULL;
	TAILQ_REMOVE(&n->all, e, age);
	SLIST_REMOVE(&n->buckets[bucket_of(n, e->address)], e, rdns_entry,
	    bucket);
	memset(e, 0, sizeof(*e));
	return e;
}

static struct rdns_entry *
add_entry(struct rdns *n, const char *address)
{
	struct rdns_entry	*e;

	if (n->count < ENTRIES_MAX) {
		e = mem_zero(sizeof(*e));
		n->count++;
	} else
		e = evict_oldest(n);
	if (e == NULL)
		return NULL;
	strcpy(e->address, address);
	SLIST_INSERT_HEAD(&n->buckets[bucket_of(n, address)], e, bucket);
	TAILQ_INSERT_TAIL(&n->all, e, age);
	return e;
}

static struct rdns_entry *
find_entry(struct rdns *n, const char *address)
{
	struct rdns_entry	*e;

	SLIST_FOREACH(e, &n->buckets[bucket_of(n, address)], bucket)
		if (strcmp(e->address, address) == 0)
			break;
	return e;
}

/* Copies the address between two marks, the first of which is at `at`, and sets
 * *next behind the second; false: there is no address. */
static bool
copy_address(const char *at, const char *end, char address[ADDRESS_SIZE],
    const char **next)
{
	const char	*to = memchr(at + 1, LINES_NAME_MARK,
			    (size_t)(end - at - 1));
	size_t len = to != NULL ? (size_t)(to - at - 1) : ADDRESS_SIZE;

	if (len >= ADDRESS_SIZE)
		return false;
	memcpy(address, at + 1, len);
	address[len] = '\0';
	*next = to + 1;
	return true;
}

static void
request_name(struct rdns *n, const char *address)
{
	struct rdns_entry	*e = find_entry(n, address);

	if (e == NULL)
		e = add_entry(n, address);
	if (e == NULL || e->batch == n->batch)
		return;
	if (!e->looking_up && n->credited_at < e->valid_until)
		return;
	if (!e->looking_up)
		enqueue_entry(n, e);
	e->batch = n->batch;
	n->pending++;
}

static void
request_names(struct rdns *n, const char *at, const char *end)
{
	char	address[ADDRESS_SIZE];

	while ((at = memchr(at, LINES_NAME_MARK, (size_t)(end - at))) != NULL) {
		if (copy_address(at, end, address, &at))
			request_name(n, address);
		else
			at++;
	}
}

/* Half of the time that has passed is credit for waiting.  So a name server
 * that does not answer at most halves the speed of the log. */
static void
earn_credit(struct rdns *n)
{
	int64_t	earned = (clock_ms() - n->credited_at) / 2;

	n->credit += earned;
	if (n->credit > RDNS_WAIT_MAX)
		n->credit = RDNS_WAIT_MAX;
	n->credited_at += 2 * earned;		/* an odd ms counts later */
}

static void
await_names(struct rdns *n)
{
	struct timespec	until;
	int64_t		before = n->credited_at;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += n->credit % 1000 * 1000000;
	until.tv_sec += n->credit / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (n->pending > 0 &&
	    pthread_cond_timedwait(&n->all_known, &n->lock, &until) == 0)
		continue;
	n->credited_at = clock_ms();
	n->credit -= n->credited_at - before;
	if (n->credit < 0)
		n->credit = 0;
}

static void
put_names(struct rdns *n, const char *at, const char *end, struct buf *to)
{
	const struct rdns_entry	*e;
	char			 address[ADDRESS_SIZE];
	const char		*mark, *next;

	while ((mark = memchr(at, LINES_NAME_MARK, (size_t)(end - at))) !=
	    NULL) {
		buf_add(to, at, (size_t)(mark - at));
		at = mark + 1;
		if (copy_address(mark, end, address, &next)) {
			e = find_entry(n, address);
			buf_adds(to, e != NULL && e->name[0] != '\0' ?
			    e->name : address);
			at = next;
		}
	}
	buf_add(to, at, (size_t)(end - at));
}

void
rdns_fill(struct rdns *n, const char *at, size_t len, struct buf *to)
{
	pthread_mutex_lock(&n->lock);
	n->batch++;
	n->pending = 0;
	earn_credit(n);
	request_names(n, at, at + len);
	await_names(n);
	put_names(n, at, at + len, to);
	pthread_mutex_unlock(&n->lock);
}

struct rdns *
rdns_new(rdns_lookup_fn *look_up)
{
	struct rdns		*n = mem_zero(sizeof(*n));
	pthread_condattr_t	 clock;

	n->lookup = look_up;
	n->credited_at = clock_ms();
	n->credit = RDNS_WAIT_MAX;
	hash_key_random(&n->key);
	for (size_t i = 0; i < BUCKETS; i++)
		SLIST_INIT(&n->buckets[i]);
	STAILQ_INIT(&n->queue);
	TAILQ_INIT(&n->all);
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->work, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&n->all_known, &clock);
	pthread_condattr_destroy(&clock);
	return n;
}
