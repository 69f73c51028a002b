/*
 * rdns: a cache of addresses, and some threads that fill it.
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

#define KEPT		4096		/* addresses */
#define BUCKETS		1024
#define THREADS		8
#define ADDRESS		48		/* bytes, with its end */

/* ms that an answer is good for. */
static const int64_t	good[] = {
	[NAMES_FOUND] = 600000, [NAMES_NONE] = 300000, [NAMES_FAILED] = 30000
};

struct name {
	char			address[ADDRESS];
	char			text[NAMES_LONGEST];	/* "": the address */
	bool			asked;		/* under way, or to be */
	int64_t			until;		/* ms, once it is known */
	uint64_t		batch;		/* that waits for it */
	SLIST_ENTRY(name)	same;		/* in its bucket */
	STAILQ_ENTRY(name)	next;		/* to be asked for */
	TAILQ_ENTRY(name)	older;
};

struct names {
	names_look_fn		*look;
	struct hash_key		 key;
	SLIST_HEAD(, name)	 buckets[BUCKETS];
	STAILQ_HEAD(, name)	 queue;
	TAILQ_HEAD(, name)	 all;		/* the oldest first */
	size_t			 count, threads, idle;
	uint64_t		 batch;		/* its number */
	size_t			 pending;	/* names that it waits for */
	int64_t			 credit;	/* ms that it may wait */
	int64_t			 seen;		/* ms, when that was counted */
	pthread_mutex_t		 lock;
	pthread_cond_t		 work, known;
};

/* The lock is held but while it looks. */
static void
look(struct names *n)
{
	struct name		*e = STAILQ_FIRST(&n->queue);
	char			 address[ADDRESS], text[NAMES_LONGEST];
	enum names_answer	 answer;

	STAILQ_REMOVE_HEAD(&n->queue, next);
	memcpy(address, e->address, sizeof(address));
	pthread_mutex_unlock(&n->lock);
	answer = n->look(address, text);
	pthread_mutex_lock(&n->lock);
	if (answer == NAMES_FOUND)
		memcpy(e->text, text, sizeof(e->text));
	else
		e->text[0] = '\0';
	e->asked = false;
	e->until = clock_ms() + good[answer];
	if (e->batch == n->batch && --n->pending == 0)
		pthread_cond_signal(&n->known);
}

static void *
be_thread(void *context)
{
	struct names	*n = context;

	pthread_mutex_lock(&n->lock);
	for (;;) {
		n->idle++;
		while (STAILQ_EMPTY(&n->queue))
			pthread_cond_wait(&n->work, &n->lock);
		n->idle--;
		look(n);
	}
	return NULL;
}

/* Signals are for the thread that reads the pipe. */
static void
add_thread(struct names *n)
{
	pthread_t	thread;
	sigset_t	all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, be_thread, n) == 0) {
		pthread_detach(thread);
		n->threads++;
	} else if (n->threads == 0)
		log_warnx("no thread to look names up: addresses stay");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void
ask(struct names *n, struct name *e)
{
	e->asked = true;
	STAILQ_INSERT_TAIL(&n->queue, e, next);
	if (n->idle == 0 && n->threads < THREADS)
		add_thread(n);
	pthread_cond_signal(&n->work);
}

static size_t
bucket_of(const struct names *n, const char *address)
{
	return hash_bytes(&n->key, 0, address, strlen(address)) % BUCKETS;
}

/* One that gives way; NULL: all are being asked for. */
static struct name *
oldest(struct names *n)
{
	struct name	*e;

	TAILQ_FOREACH(e, &n->all, older)
		if (!e->asked)
			break;
	if (e == NULL)
		return NULL;
	TAILQ_REMOVE(&n->all, e, older);
	SLIST_REMOVE(&n->buckets[bucket_of(n, e->address)], e, name, same);
	memset(e, 0, sizeof(*e));
	return e;
}

static struct name *
add(struct names *n, const char *address)
{
	struct name	*e;

	if (n->count < KEPT) {
		e = mem_zero(sizeof(*e));
		n->count++;
	} else
		e = oldest(n);
	if (e == NULL)
		return NULL;
	strcpy(e->address, address);
	SLIST_INSERT_HEAD(&n->buckets[bucket_of(n, address)], e, same);
	TAILQ_INSERT_TAIL(&n->all, e, older);
	return e;
}

static struct name *
find(struct names *n, const char *address)
{
	struct name	*e;

	SLIST_FOREACH(e, &n->buckets[bucket_of(n, address)], same)
		if (strcmp(e->address, address) == 0)
			break;
	return e;
}

/* The text between two marks, the first of which is at; false: there is no
 * other, or it is no address.  next: what is behind it. */
static bool
take(const char *at, const char *end, char address[ADDRESS], const char **next)
{
	const char	*to = memchr(at + 1, LINES_NAME_MARK,
			    (size_t)(end - at - 1));
	size_t		 len = to != NULL ? (size_t)(to - at - 1) : ADDRESS;

	if (len >= ADDRESS)
		return false;
	memcpy(address, at + 1, len);
	address[len] = '\0';
	*next = to + 1;
	return true;
}

static void
want(struct names *n, const char *address)
{
	struct name	*e = find(n, address);

	if (e == NULL)
		e = add(n, address);
	if (e == NULL || e->batch == n->batch)
		return;
	if (!e->asked && n->seen < e->until)
		return;
	if (!e->asked)
		ask(n, e);
	e->batch = n->batch;
	n->pending++;
}

static void
want_all(struct names *n, const char *at, const char *end)
{
	char	address[ADDRESS];

	while ((at = memchr(at, LINES_NAME_MARK, (size_t)(end - at))) != NULL) {
		if (take(at, end, address, &at))
			want(n, address);
		else
			at++;
	}
}

/* As long as there is credit, half of the time that has passed: so even a name
 * server that does not answer halves the speed of the log at worst. */
static void
earn(struct names *n)
{
	int64_t	earned = (clock_ms() - n->seen) / 2;

	n->credit += earned;
	if (n->credit > NAMES_WAIT)
		n->credit = NAMES_WAIT;
	n->seen += 2 * earned;		/* an odd one counts the next time */
}

static void
await(struct names *n)
{
	struct timespec	until;
	int64_t		before = n->seen;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += n->credit % 1000 * 1000000;
	until.tv_sec += n->credit / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (n->pending > 0 &&
	    pthread_cond_timedwait(&n->known, &n->lock, &until) == 0)
		continue;
	n->seen = clock_ms();
	n->credit -= n->seen - before;
	if (n->credit < 0)
		n->credit = 0;
}

static void
put(struct names *n, const char *address, struct buf *to)
{
	const struct name	*e = find(n, address);

	buf_adds(to, e != NULL && e->text[0] != '\0' ? e->text : address);
}

static void
put_all(struct names *n, const char *at, const char *end, struct buf *to)
{
	char		 address[ADDRESS];
	const char	*mark, *next;

	while ((mark = memchr(at, LINES_NAME_MARK, (size_t)(end - at))) !=
	    NULL) {
		buf_add(to, at, (size_t)(mark - at));
		at = mark + 1;
		if (take(mark, end, address, &next)) {
			put(n, address, to);
			at = next;
		}
	}
	buf_add(to, at, (size_t)(end - at));
}

void
names_fill(struct names *n, const char *at, size_t len, struct buf *to)
{
	pthread_mutex_lock(&n->lock);
	n->batch++;
	n->pending = 0;
	earn(n);
	want_all(n, at, at + len);
	await(n);
	put_all(n, at, at + len, to);
	pthread_mutex_unlock(&n->lock);
}

struct names *
names_new(names_look_fn *look_up)
{
	struct names		*n = mem_zero(sizeof(*n));
	pthread_condattr_t	 clock;

	n->look = look_up;
	n->seen = clock_ms();
	n->credit = NAMES_WAIT;
	hash_key_random(&n->key);
	for (size_t i = 0; i < BUCKETS; i++)
		SLIST_INIT(&n->buckets[i]);
	STAILQ_INIT(&n->queue);
	TAILQ_INIT(&n->all);
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->work, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&n->known, &clock);
	pthread_condattr_destroy(&clock);
	return n;
}
