/*
 * store_room: looks at all files of the directory.  Files with other names than
 * those of store.c stay, and do not count.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "helpers/store/store_room.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/mem.h"

#define NEW	".new-"
#define DIGITS	"0123456789abcdef"
#define NEW_S	3600	/* an older temporary file is one that a crash has
			 * left */
/* Results at most, since each that is kept looks at all. */
#define FILES_MAX	65536

struct kept {
	char		name[STORE_ROOM_NAME];
	uint64_t	size;
	struct timespec	used;
};

struct all {
	struct kept	*files;
	size_t		 n;
	uint64_t	 bytes;
};

int
store_room_open_new(int directory, char name[STORE_ROOM_NAME])
{
	struct hash_key	random;

	hash_key_random(&random);
	snprintf(name, STORE_ROOM_NAME, NEW "%016" PRIx64, random.k0);
	return openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
	    S_IRUSR | S_IWUSR);
}

static bool
is_new(const char *name)
{
	return strncmp(name, NEW, sizeof(NEW) - 1) == 0;
}

static bool
is_kept(const char *name)
{
	return strlen(name) == STORE_ROOM_NAME - 1 &&
	    strspn(name, DIGITS) == STORE_ROOM_NAME - 1;
}

/* Adds a file of the directory, if it counts. */
static void
add_file(int directory, const char *name, struct all *all)
{
	struct kept	*k;
	struct stat	 st;

	if (!is_new(name) && !is_kept(name))
		return;
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISREG(st.st_mode))
		return;
	if (is_new(name) && st.st_mtim.tv_sec < time(NULL) - NEW_S) {
		(void)unlinkat(directory, name, 0);
		return;
	}
	all->bytes += (uint64_t)st.st_size;
	if (is_new(name))
		return;
	all->files = mem_add_room(all->files, all->n, sizeof(*all->files));
	k = &all->files[all->n++];
	memcpy(k->name, name, sizeof(k->name));
	k->size = (uint64_t)st.st_size;
	k->used = st.st_mtim;
}

static int
list_files(int directory, struct all *all)
{
	const struct dirent	*e;
	int			 fd = openat(directory, ".", O_RDONLY |
				    O_DIRECTORY | O_CLOEXEC);
	DIR			*d = fd != -1 ? fdopendir(fd) : NULL;

	if (d == NULL) {
		io_close(&fd);
		return errno;
	}
	while ((e = readdir(d)) != NULL)
		add_file(directory, e->d_name, all);
	closedir(d);
	return 0;
}

static int
compare_use(const void *a, const void *b)
{
	const struct timespec	*x = &((const struct kept *)a)->used;
	const struct timespec	*y = &((const struct kept *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

int
store_room_make(int directory, uint64_t size, uint64_t max)
{
	struct all	all = { 0 };
	int		error;

	if (size > max)
		return EFBIG;
	error = list_files(directory, &all);
	if (error == 0 && all.n > 0 &&
	    (all.bytes > max - size || all.n >= FILES_MAX))
		qsort(all.files, all.n, sizeof(*all.files), compare_use);
	for (size_t i = 0; error == 0 && i < all.n && (all.bytes > max - size ||
	    all.n - i >= FILES_MAX); i++) {
		(void)unlinkat(directory, all.files[i].name, 0);
		all.bytes -= all.files[i].size;
	}
	free(all.files);
	return error;
}
