/*
 * caches: what each policy makes of a list of requests; for policies, see
 * there.
 *
 *	caches chunks PERCENT... < REQUESTS
 *	caches paths PERCENT... < REQUESTS
 *	caches advice|auto PERCENT... < REQUESTS
 *	caches scan PATHS NAMES
 *	caches -m BYTES ...
 *
 * A request is a line with the number of a file, its size, the bytes of the
 * response and, for advice and auto, its second.  The caches are those of
 * amped, src/cache, called as the steps of a request call them: a path, its
 * file, all its chunks.  Only the bytes are others: those of /dev/zero.  With
 * chunks the cache of chunks has room for so many percent of all sizes, with
 * paths that of paths for so many percent of the files, and all else fits.
 * Printed is for each policy and size: its name, the percentage, requests,
 * hits, bytes of responses, bytes of hits, starts.  A hit is a request for a
 * path that was there, with each byte of its file; a start is one for a path
 * that was there, with the first chunk of its file.
 *
 * With advice and auto the cache of chunks has room for so many percent of all
 * sizes, and has advice (src/cache/advice.h).  Each line is about a policy at
 * the start and a percentage.  It has the policy, the percentage, and the
 * number of epochs; the misses that a run with lru foretells for the policy, as
 * the mean of all epochs, and the misses of the run itself, both in percent of
 * requests; the requests after the third epoch, and the hits among them; the
 * changes of policy, and the last policy; the most changes in a day, and the
 * changes after the third epoch that are not the first one.  With advice the
 * policy stays.
 *
 * With scan so many paths are asked for twice, and then so many absent names
 * once; printed is for each policy how many of the paths have gone.
 *
 * With -m, files of more bytes are not admitted (cache admit).
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/advice.h"
#include "cache/chunk.h"
#include "cache/path_info.h"
#include "cache/policy.h"
#include "lib/mem.h"

#define KIB		1024u
#define CHUNK		(64 * KIB)	/* amped's defaults */
#define SMALL		(16 * KIB)
#define HEADS		(32 * KIB * KIB)
#define DESCRIPTORS	16		/* that are not for files */
#define EPOCH_MS	60000		/* amped's default */
#define SETTLED_EPOCHS	3
#define CHANGES_MAX	64		/* more in a day are not counted */
#define DAY_S		((int64_t)24 * 60 * 60)

struct request {
	uint32_t	file, bytes;
	int64_t		second;
};

static struct request	*requests;
static size_t		 nrequests;
static uint64_t		*sizes;			/* of files, by number */
static size_t		 nfiles;
static int64_t		 admit = INT64_MAX;	/* bytes */

static struct header_cache	heads;
static struct pathname_cache	paths;
static struct file_cache	files;
static struct chunk_cache	chunks;

/* Chunks without a limit take memory for their records only. */
static void
make_caches(const struct cache_policy *policy, size_t npaths, size_t nbytes)
{
	struct rlimit	limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		err(1, "getrlimit");
	header_init(&heads, HEADS);
	pathname_init(&paths, npaths, &heads);
	chunk_init(&chunks, nbytes, 0);
	file_init(&files, &chunks, limit.rlim_cur - DESCRIPTORS, CHUNK, SMALL,
	    0);
	files.admit = admit;
	cache_set_policy(&heads.cache, policy);
	cache_set_policy(&paths.cache, policy);
	cache_set_policy(&chunks.cache, policy);
}

static void
free_caches(void)
{
	pathname_free(&paths);
	header_free(&heads);
	file_free(&files);
	chunk_free(&chunks);
}

/* As the lookup of a file that is there. */
static void
look_up(struct path *p, uint32_t number)
{
	struct job_version	version = {
		.dev = 1,
		.ino = number + (uint64_t)1,
		.size = (int64_t)sizes[number],
	};
	struct job_facts	facts = { .mode = S_IFREG, .in_memory = true,
				    .strong = true };
	struct path_info	found = { .kind = PATHNAME_FILE };
	int			fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		err(1, "/dev/zero");
	found.file = file_new(&files, fd, &version, &facts);
	path_info_found(&paths, p, &found, 0);
}

/* What a request found in the caches. */
struct found {
	bool	all;
	bool	start;		/* at least the first chunk */
};

/* Takes all chunks of a file that is open. */
static struct found
take_chunks(struct file *f)
{
	uint64_t	 before = chunks.cache.misses;
	struct found	 found = { .start = f->nchunks == 0 ||
			    f->chunks[0] != NULL };
	int		 fd = file_fd(f);
	struct chunk	*k;

	for (uint32_t i = 0; i < f->nchunks; i++) {
		k = chunk_hold(&chunks, f, i);
		if (f->small && chunk_adopt_copy(k, fd) != 0)
			errx(1, "cannot copy %lld bytes",
			    (long long)f->version.size);
		chunk_release(&chunks, &k);
	}
	found.all = chunks.cache.misses == before;
	return found;
}

/* Takes the answer, which is a copy or in chunks. */
static struct found
take_file(struct path_info *a)
{
	struct found	found = { true, true };

	if (a->source == FILE_OPEN) {
		found = take_chunks(a->file);
		file_release(a->file);
	} else if (a->chunk != NULL)
		chunk_release(&chunks, &a->chunk);
	file_drop(&a->file);
	return found;
}

static struct path *
hold_path(const char *name, bool *is_new)
{
	struct str	 s = str_of(name);
	struct path	*p = pathname_hold(&paths, 0, s);

	*is_new = p == NULL;
	return p != NULL ? p : pathname_add(&paths, 0, s, NULL, false);
}

static struct found
perform_request(uint32_t number)
{
	struct path_info	 a;
	struct path		*p;
	char			 name[32];
	struct found		 found;
	bool			 miss;

	snprintf(name, sizeof(name), "/%u", number);
	p = hold_path(name, &miss);
	if (miss)
		look_up(p, number);
	path_info_get(&paths, p, 0, &a);
	if (a.source == FILE_LOST) {
		file_drop(&a.file);
		look_up(p, number);
		path_info_get(&paths, p, 0, &a);
	}
	found = take_file(&a);
	pathname_release(&paths, &p);
	return miss ? (struct found){ false, false } : found;
}

static void
play(const struct cache_policy *policy, unsigned long percent, bool by_paths)
{
	uint64_t	all = 0, hits = 0, bytes = 0, hit_bytes = 0, starts = 0;
	size_t		npaths = nfiles;
	struct found	found;

	for (size_t i = 0; i < nfiles; i++)
		all += sizes[i];
	if (by_paths)
		npaths = npaths * percent / 100;
	make_caches(policy, npaths, by_paths ? 0 : all * percent / 100);
	for (size_t i = 0; i < nrequests; i++) {
		found = perform_request(requests[i].file);
		hits += found.all;
		starts += found.start;
		bytes += requests[i].bytes;
		hit_bytes += found.all ? requests[i].bytes : 0;
	}
	printf("%s %lu %zu %llu %llu %llu %llu\n", policy->name, percent,
	    nrequests, (unsigned long long)hits, (unsigned long long)bytes,
	    (unsigned long long)hit_bytes, (unsigned long long)starts);
	free_caches();
}

static void
play_all(unsigned long percent, bool by_paths)
{
	for (size_t i = 0; i < POLICY_NUMBER; i++)
		play(policies_all[i], percent, by_paths);
}

/* What the advice of a run was, and what became of it. */
struct outcome {
	unsigned	epochs, policy;
	unsigned	changes, late, day_most;
	int64_t		changed_at[CHANGES_MAX];	/* a ring */
	double		would[MINIATURE_CACHES], real;	/* sums of epochs */
	uint64_t	requests, hits;		/* after the third epoch */
};

static void
note_epoch(struct outcome *o)
{
	struct advice_figures	f;

	advice_get(&chunks, &f);
	if (f.epochs == o->epochs)
		return;
	o->epochs = f.epochs;
	for (int i = 0; i < MINIATURE_CACHES; i++)
		o->would[i] += f.misses[i];
	o->real += f.real_misses;
}

static void
note_change(struct outcome *o, int64_t second, unsigned policy)
{
	unsigned	n = 0;

	o->late += o->epochs >= SETTLED_EPOCHS && o->changes > 0;
	o->changed_at[o->changes++ % CHANGES_MAX] = second;
	o->policy = policy;
	for (unsigned i = 0; i < CHANGES_MAX && i < o->changes; i++)
		n += second - o->changed_at[i] < DAY_S;
	if (n > o->day_most)
		o->day_most = n;
}

static void
judge(int64_t second, struct outcome *o)
{
	struct advice_change	change;
	const struct cache_policy *policy;

	if (advice_judge(&chunks, second * 1000, &change)) {
		policy = policies_all[change.to];
		policy_change(&paths.cache, policy);
		policy_change(&heads.cache, policy);
		note_change(o, second, change.to);
		if (getenv("AMPED_CHANGES") != NULL)
			fprintf(stderr, "%lld s: %s -> %s, %.1f -> %.1f %%\n",
			    (long long)second, policies_all[change.from]->name,
			    policy->name, change.from_misses / 1e4,
			    change.to_misses / 1e4);
	}
	note_epoch(o);
}

static void
run_with_advice(unsigned policy, unsigned long percent, bool chooses,
    struct outcome *o)
{
	const struct advice_setup	setup = { .policy = policy,
					    .chooses = chooses,
					    .epoch = EPOCH_MS };
	uint64_t			all = 0;
	int64_t				second = -1;
	bool				hit;

	*o = (struct outcome){ .policy = policy };
	for (size_t i = 0; i < nfiles; i++)
		all += sizes[i];
	make_caches(policies_all[policy], nfiles, all * percent / 100);
	advice_begin(&chunks, &setup);
	for (size_t i = 0; i < nrequests; i++) {
		if (requests[i].second != second)
			judge(second = requests[i].second, o);
		hit = perform_request(requests[i].file).all;
		o->requests += o->epochs >= SETTLED_EPOCHS;
		o->hits += o->epochs >= SETTLED_EPOCHS && hit;
	}
	free_caches();
}

/* In percent of requests. */
static double
mean_misses(double sum, unsigned epochs)
{
	return epochs == 0 ? 0 : 100 * sum / ADVICE_ALL / epochs;
}

static void
advise(unsigned long percent, bool chooses)
{
	struct outcome	lru, o;

	run_with_advice(0, percent, false, &lru);
	for (unsigned i = 0; i < POLICY_NUMBER; i++) {
		run_with_advice(i, percent, chooses, &o);
		printf("%s %lu %u %.3f %.3f %llu %llu %u %s %u %u\n",
		    policies_all[i]->name, percent, o.epochs,
		    mean_misses(lru.would[i], lru.epochs),
		    mean_misses(o.real, o.epochs),
		    (unsigned long long)o.requests, (unsigned long long)o.hits,
		    o.changes, policies_all[o.policy]->name, o.day_most,
		    o.late);
	}
}

static void
add_request(unsigned long file, unsigned long long size, unsigned long bytes,
    long long second)
{
	while (file >= nfiles) {
		sizes = mem_add_room(sizes, nfiles, sizeof(sizes[0]));
		sizes[nfiles++] = 0;
	}
	sizes[file] = size;
	requests = mem_add_room(requests, nrequests, sizeof(requests[0]));
	requests[nrequests++] = (struct request){ (uint32_t)file,
	    (uint32_t)bytes, second };
}

static void
read_requests(void)
{
	unsigned long		file, bytes;
	unsigned long long	size;
	long long		second = 0;
	char			line[100];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "%lu %llu %lu %lld", &file, &size, &bytes,
		    &second) < 3)
			errx(1, "not a request: %s", line);
		add_request(file, size, bytes, second);
	}
	if (nrequests == 0)
		errx(1, "no requests");
}

static void
ask_for_names(const char *form, size_t n, const struct path_info *result)
{
	char		 name[32];
	struct path	*p;
	bool		 is_new;

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), form, i);
		p = hold_path(name, &is_new);
		if (is_new)
			path_info_set(&paths, p, result);
		pathname_release(&paths, &p);
	}
}

static size_t
count_paths(const char *form, size_t n)
{
	char		 name[32];
	struct path	*p;
	size_t		 there = 0;

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), form, i);
		p = pathname_hold(&paths, 0, str_of(name));
		if (p == NULL)
			continue;
		there++;
		pathname_release(&paths, &p);
	}
	return there;
}

static void
scan(const struct cache_policy *policy, size_t npaths, size_t nnames)
{
	const struct path_info	there = { .kind = PATHNAME_DIRECTORY };
	const struct path_info	absent = { .kind = PATHNAME_REFUSED,
				    .status = 404 };

	make_caches(policy, npaths, 0);
	ask_for_names("/there/%zu", npaths, &there);
	ask_for_names("/there/%zu", npaths, &there);
	ask_for_names("/absent/%zu", nnames, &absent);
	printf("%s %zu %zu\n", policy->name, npaths,
	    npaths - count_paths("/there/%zu", npaths));
	free_caches();
}

static unsigned long
number_of(const char *word, unsigned long most)
{
	char		*end;
	unsigned long	 n = strtoul(word, &end, 10);

	if (end == word || *end != '\0' || n < 1 || n > most)
		errx(64, "%s: not a number from 1 to %lu", word, most);
	return n;
}

static void
raise_limit(void)
{
	struct rlimit	limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		err(1, "getrlimit");
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int
main(int argc, char **argv)
{
	const char	*what;
	bool		 by_paths, advises;

	if (argc > 3 && strcmp(argv[1], "-m") == 0) {
		admit = (int64_t)number_of(argv[2], LONG_MAX);
		argc -= 2;
		argv += 2;
	}
	what = argc > 2 ? argv[1] : "";
	by_paths = strcmp(what, "paths") == 0;
	advises = strcmp(what, "advice") == 0 || strcmp(what, "auto") == 0;
	raise_limit();
	if (strcmp(what, "scan") == 0 && argc == 4) {
		for (size_t i = 0; i < POLICY_NUMBER; i++)
			scan(policies_all[i], number_of(argv[2], 100000000),
			    number_of(argv[3], 100000000));
		return 0;
	}
	if (!by_paths && !advises && strcmp(what, "chunks") != 0)
		errx(64, "usage: caches chunks|paths|advice|auto percent ... "
		    "| scan paths names; -m bytes in front");
	read_requests();
	for (int n = 2; n < argc; n++)
		if (advises)
			advise(number_of(argv[n], 100),
			    strcmp(what, "auto") == 0);
		else
			play_all(number_of(argv[n], 100), by_paths);
	return 0;
}
