/*
 * Tests of caches that threads share: four of them do to each what requests do,
 * to so few entries that they meet all the time, and within limits that let
 * entries go all the time.  A race is for ThreadSanitizer to see; what comes
 * out wrong, for need(): check's own assertions are not for threads.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache/auth.h"
#include "cache/chunk.h"
#include "cache/path_info.h"
#include "conf/conf.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "shared/addresses.h"
#include "t/unit/unit.h"

#define THREADS	4
#define ITERATIONS	20000
#define NAMES	12
#define KIB	1024u
#define SLOW_CHUNKS	400		/* of a file that is dropped in slices */

static struct header_cache	heads;
static struct pathname_cache	paths;
static struct chunk_cache	chunks;
static struct file_cache	files;
static struct auth_cache	grants;
static struct addresses		*addresses;
static _Atomic int64_t		versions, given, asked;

/* The data of one thread. */
struct worker {
	pthread_t		thread;
	uint32_t		random;
	int64_t			now;
	char			date_text[8];
	struct header_date	date;
};

static uint32_t
choose_path(struct worker *w, uint32_t n)
{
	w->random = w->random * 1664525 + 1013904223;
	return (w->random >> 8) % n;
}

static uint32_t
variant_namespace(uint32_t space, unsigned variant)
{
	return space + 10 + variant;
}

static void
close_fd(void *context, int fd, const struct job_range *range)
{
	(void)context;
	(void)range;
	need(close(fd) == 0);
	given++;
}

static void
schedule_tidy(void *context)
{
	(void)context;
	asked++;
}

static void
share_caches(void)
{
	struct address_limits	limits = { .connections = 3, .max = 16 };

	chunk_init(&chunks, 200 * KIB, 6);
	file_init(&files, &chunks, 6, 16 * KIB, 4 * KIB, RESIDENCY_AUTO);
	files.close_fd = close_fd;
	files.schedule_tidy = schedule_tidy;
	files.deferred_max = 3;
	files.admit = SLOW_CHUNKS * 16 * KIB;
	header_init(&heads, KIB);
	pathname_init(&paths, NAMES - 4, &heads);
	paths.variant_namespace = variant_namespace;
	auth_init(&grants, 5);
	addresses = addresses_new(&limits, 1);
	paths.cache.lock = lock_new();
	heads.cache.lock = lock_new();
	files.cache.lock = chunks.cache.lock = lock_new();
	grants.cache.lock = lock_new();
}

static void
free_caches(void)
{
	while (file_tidy(&files, NULL))
		continue;
	pathname_free(&paths);
	while (file_tidy(&files, NULL))
		continue;
	auth_free(&grants);
	header_free(&heads);
	ck_assert_uint_eq(files.cache.entries, 0);
	ck_assert_uint_eq(chunks.cache.entries, 0);
	addresses_free(&addresses);
	lock_free(&paths.cache.lock);
	lock_free(&heads.cache.lock);
	lock_free(&files.cache.lock);
	lock_free(&grants.cache.lock);
}

static void
run_threads(void *(*work)(void *))
{
	struct worker	workers[THREADS];

	memset(workers, 0, sizeof(workers));
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i].random = i;
		workers[i].date.text = workers[i].date_text;
		workers[i].date.len = sizeof(workers[i].date_text);
		ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work,
		    &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
}

/* A version is a number, which its bytes and its size follow from. */
static int64_t
size_of(int64_t number)
{
	static const int64_t	sizes[] = { 0, 1, 3000, 40000, 100000 };

	return sizes[number % 5];
}

static char
byte_of(int64_t number)
{
	return (char)('a' + number % 26);
}

static struct file *
new_version(int64_t number)
{
	struct job_version	v = { .dev = 1, .mtime = number,
				    .size = size_of(number) };
	struct job_facts	facts = { .mode = S_IFREG | 0644,
				    .in_memory = true, .strong = true };
	struct stat		 st;
	char			*bytes = mem_get((size_t)v.size + 1);
	int			 fd = memfd_create("version", MFD_CLOEXEC);

	memset(bytes, byte_of(number), (size_t)v.size);
	need(fd != -1 && write(fd, bytes, (size_t)v.size) == v.size);
	mem_drop(&bytes);
	need(futimens(fd, (struct timespec[2]){ { .tv_sec = number },
	    { .tv_sec = number } }) == 0 && fstat(fd, &st) == 0);
	v.ctime = st.st_ctim.tv_sec;
	v.ctime_ns = (uint32_t)st.st_ctim.tv_nsec;
	return file_new(&files, fd, &v, &facts);
}

/* A request */

/* A new second now and then, at another time than in other threads. */
static void
pass_time(struct worker *w)
{
	time_t	left;

	w->now++;
	if (w->date.wall != 0 && choose_path(w, 50) != 0)
		return;
	left = ++w->date.wall;
	for (size_t i = sizeof(w->date_text); i-- > 0; left /= 10)
		w->date_text[i] = (char)('0' + left % 10);
}

#define DATE_AT	8

/* All of the Date is of one second, and the rest of the head of one version. */
static void
check_head(struct head *h, const struct path_info *a)
{
	char	bytes[HEADER_ALIGNMENT], want[40];

	need(header_len(h) == sizeof(bytes));
	memcpy(bytes, header_bytes(h), sizeof(bytes));
	snprintf(want, sizeof(want), "%15lld",
	    (long long)a->file->version.mtime);
	need(memcmp(bytes + 16, want, 15) == 0);
	need(bytes[0] == 'A' + a->variants);
	for (int i = 0; i < 8; i++)
		need(bytes[DATE_AT + i] >= '0' && bytes[DATE_AT + i] <= '9');
}

static struct head *
make_head(struct worker *w, struct path *p, const struct path_info *a)
{
	char	bytes[2 * HEADER_ALIGNMENT];

	snprintf(bytes, sizeof(bytes), "%-8c%8s%15lld ",
	    (char)('A' + a->variants), "", (long long)a->file->version.mtime);
	memcpy(bytes + DATE_AT, w->date_text, 8);
	return path_info_put_head(&paths, p, a, w->random % 2,
	    (struct str){ bytes, HEADER_ALIGNMENT }, DATE_AT, &w->date);
}

static void
use_head(struct worker *w, struct path *p, const struct path_info *a)
{
	struct head	*h;
	char		 before[HEADER_ALIGNMENT];

	h = path_info_hold_head(&paths, p, a, w->random % 2, &w->date);
	if (h == NULL)
		h = make_head(w, p, a);
	if (h == NULL)
		return;			/* the path has another version */
	check_head(h, a);
	memcpy(before, header_bytes(h), sizeof(before));
	for (int i = 0; i < 20; i++)	/* the head may be half sent */
		need(memcmp(before, header_bytes(h), sizeof(before)) == 0);
	header_release(&heads, &h);
}

static void
check_bytes(struct chunk *k)
{
	char	 byte = byte_of(k->file->version.mtime);

	for (uint32_t i = 0; i < chunk_len(k); i += 61)
		need(chunk_bytes(k)[i] == byte);
}

static void
use_chunk(struct worker *w, const struct path_info *a)
{
	struct file	*f = a->file;
	uint32_t	 index = choose_path(w, f->nchunks);
	struct chunk	*k = chunk_hold(&chunks, f, index);

	need(chunk_slot(k) == index);
	if (choose_path(w, 4) == 0 && chunk_prefers_sendfile(k))
		need(chunk_ready_sendfile(&chunks, k, w->now, 1) ==
		    CHUNK_READY);
	else {
		need(chunk_ready(&chunks, k, w->now) == CHUNK_READY);
		check_bytes(k);
	}
	if (choose_path(w, 50) == 0)
		file_set_no_sendfile(f);
	if (choose_path(w, 50) == 0)
		chunk_set_error(k, choose_path(w, 2) == 0 ? 0 : 5);
	(void)chunk_error(k);
	chunk_release(&chunks, &k);
}

static void
use_file(struct worker *w, struct path *p, struct path_info *a)
{
	use_head(w, p, a);
	if (a->source == FILE_OPEN) {
		if (a->file->nchunks > 0)
			use_chunk(w, a);
		file_release(a->file);
	} else if (a->chunk != NULL) {
		need(chunk_ready(&chunks, a->chunk, w->now) == CHUNK_READY);
		check_bytes(a->chunk);
		chunk_release(&chunks, &a->chunk);
	}
	if (choose_path(w, 20) == 0)
		path_info_expire(&paths, p, a->file);
	file_drop(&a->file);
}

/* A look-up */

static void
refresh_path(struct worker *w, struct path *p)
{
	struct path_info	a = { .kind = PATHNAME_FILE,
				    .checked_at = w->now,
				    .variants = choose_path(w, 8) };
	struct job_version	version;

	switch (choose_path(w, 5)) {
	case 0:
		a.kind = PATHNAME_REFUSED;
		path_info_set(&paths, p, &a);
		break;
	case 1:
		a.kind = PATHNAME_REFUSED;
		(void)path_info_fail(&paths, p, &a, w->now - 5,
		    1U << PATHNAME_FILE);
		break;
	case 2:
		if (path_info_version(&paths, p, &version))
			path_info_confirm(&paths, p, &version, &a, 4);
		break;
	default:
		a.file = new_version(versions++);
		path_info_found(&paths, p, &a, 4);
	}
}

/* Goes on with a variant, as a request that wants it. */
static void
go_to_variant(struct path **pp)
{
	const uint32_t	 ns = (*pp)->namespace | 1U << PATHNAME_SITE_BITS;
	struct path	*p;

	if (pathname_switch(&paths, pp, ns))
		return;
	p = pathname_add(&paths, ns, (struct str){ (*pp)->name, (*pp)->len },
	    (*pp)->rules, true);
	pathname_release(&paths, pp);
	*pp = p;
}

static void *
serve_request(void *context)
{
	struct worker	*w = context;
	struct path_info	 a;
	struct path	*p;
	char		 name[20];

	for (int i = 0; i < ITERATIONS; i++) {
		memset(&a, 0, sizeof(a));
		pass_time(w);
		snprintf(name, sizeof(name), "/%u", choose_path(w, NAMES));
		p = pathname_hold(&paths, 10 * choose_path(w, 2), str_of(name));
		if (p == NULL)
			p = pathname_add(&paths, 0, str_of(name), name, true);
		need(p->guarded && p->rules != NULL);
		if (choose_path(w, 4) == 0)
			go_to_variant(&p);
		path_info_get(&paths, p, choose_path(w, 4), &a);
		if (a.file != NULL)
			use_file(w, p, &a);
		if (choose_path(w, 6) == 0)
			refresh_path(w, p);
		if (choose_path(w, 30) == 0)
			path_info_drop_variants(&paths, p, 1);
		if (choose_path(w, 30) == 0)
			(void)file_tidy(&files, NULL);
		pathname_release(&paths, &p);
	}
	return NULL;
}

START_TEST(requests)
{
	run_threads(serve_request);
	ck_assert_int_gt(versions, 100);
	ck_assert_uint_gt(paths.cache.hits, 100);
	ck_assert_uint_gt(paths.cache.evictions, 10);
	ck_assert_uint_gt(heads.cache.hits, 100);
	ck_assert_uint_gt(chunks.cache.hits, 100);
	ck_assert_int_gt(asked, 0);
	ck_assert_int_gt(given, 0);
}
END_TEST

static bool
is_chosen(void *n, const struct path *p)
{
	++*(uint32_t *)n;
	return p->kind == PATHNAME_FILE && (p->name[p->len - 1] & 1) != 0;
}

static void *
purge_paths(void *context)
{
	size_t		from;
	uint32_t	seen = 0;

	for (int i = 0; i < 100; i++) {
		from = 0;
		while (pathname_forget(&paths, &from, is_chosen, &seen))
			continue;
	}
	return serve_request(context);
}

START_TEST(purges)
{
	run_threads(purge_paths);
}
END_TEST

/* Files with so many chunks that they are dropped in slices; half of them are
 * too large for the cache. */
static void *
go_slowly(void *context)
{
	struct worker		*w = context;
	struct job_version	 v = { .size = 0 };
	struct job_facts	 facts = { .mode = S_IFREG, .in_memory = true };
	struct file		*f;
	struct chunk		*k;
	int			 fd;

	for (int i = 0; i < 20; i++) {
		v.size = (SLOW_CHUNKS + i % 2) * 16 * KIB;
		fd = memfd_create("large", MFD_CLOEXEC);
		need(fd != -1 && ftruncate(fd, v.size) == 0);
		f = file_new(&files, fd, &v, &facts);
		if (file_hold(f) != -1)
			for (uint32_t n = 0; n < 20; n++) {
				k = chunk_hold(&chunks, f, choose_path(w,
				    f->nchunks));
				need(chunk_ready(&chunks, k, 0) ==
				    CHUNK_READY);
				need(chunk_bytes(k)[n] == 0);
				chunk_release(&chunks, &k);
				(void)file_tidy(&files, NULL);
			}
		file_release(f);
		file_drop(&f);
	}
	return NULL;
}

START_TEST(slowly)
{
	run_threads(go_slowly);
	ck_assert_int_gt(asked, 0);
}
END_TEST

static void *
verify_password(void *context)
{
	struct worker		*w = context;
	struct auth_result	 answer;
	struct auth_entry		*g, *same;
	char			 user[8];
	uint32_t		 number;

	for (int i = 0; i < ITERATIONS; i++) {
		number = choose_path(w, 9);
		snprintf(user, sizeof(user), "%u", number);
		g = auth_hold(&grants, STR("/f"), str_of(user), STR("pw"));
		if (g == NULL)
			g = auth_add(&grants, STR("/f"), str_of(user),
			    STR("pw"));
		auth_get(&grants, g, &answer);
		/* All parts of a result are of one result. */
		need(answer.count == 0 ||
		    ((uint32_t)answer.error % 10 == number &&
		    answer.valid_until == answer.error));
		if (choose_path(w, 3) == 0) {
			auth_begin(&grants, g);
			same = g;
			auth_set(&grants, g, AUTH_FAILED, i / 10 * 10 +
			    (int)number, i / 10 * 10, (int)number);
			auth_end(&grants, &same);
		}
		auth_release(&grants, &g);
	}
	return NULL;
}

START_TEST(verified)
{
	run_threads(verify_password);
	ck_assert_uint_le(grants.cache.entries, 5);
	ck_assert_uint_gt(grants.cache.evictions, 0);
}
END_TEST

static _Atomic(struct address *)	handed_on;

/* A connection may be closed by another thread than has accepted it. */
static void *
count_clients(void *context)
{
	struct worker	*w = context;
	struct address	*a;
	uint8_t		 bytes[4] = { 192, 0, 2, 0 };

	for (int i = 0; i < ITERATIONS; i++) {
		bytes[3] = (uint8_t)choose_path(w, 3);
		a = addresses_connect(addresses, bytes, sizeof(bytes), i);
		a = atomic_exchange(&handed_on, a);
		if (a != NULL)
			addresses_disconnect(addresses, &a, i);
	}
	return NULL;
}

/* No client is left: as many can come as before. */
START_TEST(one_row)
{
	const uint8_t	 bytes[4] = { 192, 0, 2, 0 };
	struct address	*a[3];

	run_threads(count_clients);
	a[0] = handed_on;
	if (a[0] != NULL)
		addresses_disconnect(addresses, &a[0], ITERATIONS);
	for (int i = 0; i < 3; i++) {
		a[i] = addresses_connect(addresses, bytes, 4, ITERATIONS);
		ck_assert_ptr_nonnull(a[i]);
	}
	ck_assert_ptr_null(addresses_connect(addresses, bytes, 4, ITERATIONS));
	for (int i = 0; i < 3; i++)
		addresses_disconnect(addresses, &a[i], ITERATIONS);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, share_caches, free_caches);
	tcase_add_test(tests, requests);
	tcase_add_test(tests, purges);
	tcase_add_test(tests, slowly);
	tcase_add_test(tests, verified);
	tcase_add_test(tests, one_row);
}
