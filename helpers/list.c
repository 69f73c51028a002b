/*
 * list: writes the entries of a directory into an anonymous file, by the job's
 * template.
 *
 * Entries are regular files and directories, links to these that may be
 * followed, and in a user's directory only files of that user.  Must not open
 * anything but the directory, and not keep more entries than the job allows.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/beneath.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "helpers/root.h"
#include "helpers/template.h"
#include "lib/buf.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/mem.h"

#define BLOCK_SIZE	(64 * 1024)	/* bytes, about, of a write() */

struct entry {
	char	*name;			/* owned */
	int64_t	 size, time;		/* size of a directory: 0 */
	int64_t	 key;			/* sorted by this, then by name */
	bool	 directory;
};

struct list {
	struct job	*job;
	const char	*texts[JOB_TEMPLATE_COUNT];
	struct root	 root;
	DIR		*dir;
	mode_t		 mode;		/* of the directory itself */
	struct entry	*entries;
	size_t		 n, capacity;
	bool		 truncated;		/* entries were left out */
	bool		 off_mount;	/* an entry is on another mount */
};

struct page {				/* the file that is written */
	int		 fd;
	bool		 in_memory;
	struct buf	 block;		/* not written yet */
	int64_t		 size;		/* bytes written */
	uint64_t	 digest;	/* of these bytes */
};

/*
 * Reading
 */

static int
open_directory(struct list *l)
{
	const struct job	*job = l->job;
	struct stat		 st;
	int			 error = root_open(&l->root, job), fd;

	if (error != 0)
		return error;
	fd = root_open_path(&l->root, job->find.path,
	    BENEATH_READ | O_DIRECTORY);
	if (fd == -1)
		return errno;
	if (fstat(fd, &st) == -1)
		error = errno;
	else if (!root_may_show(&l->root, st.st_uid))
		error = EPERM;
	else if ((l->dir = fdopendir(fd)) == NULL)
		error = errno;
	if (error != 0) {
		io_close(&fd);
		return error;
	}
	l->mode = st.st_mode;
	return 0;
}

static bool
is_left_out(const struct job *job, const char *name)
{
	struct str	 hidden = job->list.hidden;
	const char	*pattern;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return true;
	for (size_t at = 0; at < hidden.len; at += strlen(pattern) + 1) {
		pattern = hidden.at + at;
		if (fnmatch(pattern, name, 0) == 0)
			return true;
	}
	return false;
}

/* Sets *st of a link's target, by the rules of a request for that path. */
static int
stat_target(struct list *l, const char *name, struct stat *st)
{
	const char	*path = l->job->find.path;
	size_t		 len = strlen(path);
	char		 full_path[JOB_PATH_MAX];
	int		 fd, n, result;

	n = snprintf(full_path, sizeof(full_path), "%s%s%s", path,
	    len > 0 && path[len - 1] != '/' ? "/" : "", name);
	if (n < 0 || (size_t)n >= sizeof(full_path))
		return -1;
	fd = root_open_path(&l->root, full_path, BENEATH_STAT);
	if (fd == -1) {
		l->off_mount |= errno == EREMOTE;
		return -1;
	}
	result = fstat(fd, st);
	io_close(&fd);
	return result;
}

/* Whether a directory is a mount point, which the job must not touch. */
static bool
is_off_mount(struct list *l, const char *name)
{
	struct root	here = l->root;
	int		fd;

	if (!l->job->find.same_mount)
		return false;
	here.fd = dirfd(l->dir);
	here.mount = -1;
	fd = root_open_path(&here, name, BENEATH_STAT);
	l->off_mount |= fd == -1 && errno == EREMOTE;
	io_close(&fd);
	return l->off_mount;
}

/* Targets of links, files with another name and times of directories change
 * without an event of this directory. */
static void
note_unwatched(struct job *job, const struct stat *st)
{
	if (job->find.watched == JOB_WATCHED_ALL &&
	    (!S_ISREG(st->st_mode) || st->st_nlink > 1))
		job->find.watched = JOB_WATCHED_NOT;
}

/* Sets *st of an entry; false: the entry is not listed. */
static bool
stat_entry(struct list *l, const struct dirent *d, struct stat *st)
{
	const char	*name = d->d_name;

	if ((d->d_type == DT_DIR || d->d_type == DT_UNKNOWN) &&
	    is_off_mount(l, name))
		return false;
	if (fstatat(dirfd(l->dir), name, st, AT_SYMLINK_NOFOLLOW) == -1)
		return false;
	note_unwatched(l->job, st);
	if (S_ISLNK(st->st_mode) && stat_target(l, name, st) == -1)
		return false;
	return (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) &&
	    root_may_show(&l->root, st->st_uid);
}

static void
add_entry(struct list *l, const char *name, const struct stat *st)
{
	bool	directory = S_ISDIR(st->st_mode);

	if (l->n == l->capacity) {
		l->capacity = l->capacity == 0 ? 64 : l->capacity * 2;
		l->entries = mem_grow(l->entries, l->capacity,
		    sizeof(*l->entries));
	}
	l->entries[l->n++] = (struct entry){
		.name = mem_string(name),
		.size = directory ? 0 : st->st_size,
		.time = st->st_mtim.tv_sec,
		.directory = directory
	};
}

/* Reads entries in the order of the directory, up to the limit. */
static int
read_entries(struct list *l)
{
	struct dirent	*d;
	struct stat	 st;

	for (;;) {
		errno = 0;		/* the end is no error */
		if ((d = readdir(l->dir)) == NULL)
			return errno;
		if (is_left_out(l->job, d->d_name) || !stat_entry(l, d, &st)) {
			if (l->off_mount)
				return EREMOTE;
			continue;
		}
		if (l->n >= l->job->list.entries_max) {
			l->truncated = true;
			return 0;
		}
		add_entry(l, d->d_name, &st);
	}
}

/*
 * Sorting: directories before files.
 */

static int
compare_entries(const void *p, const void *q)
{
	const struct entry	*a = p, *b = q;

	if (a->directory != b->directory)
		return a->directory ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void
reverse_entries(struct entry *first, struct entry *end)
{
	struct entry	swap;

	for (; first < end; first++) {
		swap = *first;
		*first = *--end;
		*end = swap;
	}
}

/* False: the order of the template is unknown. */
static bool
sort_entries(struct list *l)
{
	const char	*order = l->texts[JOB_TEMPLATE_ORDER];
	bool		 backwards = order[0] == '-';
	bool		 by_size = strcmp(order + backwards, "size") == 0;
	bool		 by_time = strcmp(order + backwards, "time") == 0;
	size_t		 directories = 0;

	if (!by_size && !by_time && strcmp(order + backwards, "name") != 0)
		return false;
	if (l->n == 0)
		return true;
	for (struct entry *e = l->entries; e < l->entries + l->n; e++)
		e->key = by_size ? e->size : by_time ? e->time : 0;
	qsort(l->entries, l->n, sizeof(*l->entries), compare_entries);
	if (!backwards)
		return true;
	while (directories < l->n && l->entries[directories].directory)
		directories++;
	reverse_entries(l->entries, l->entries + directories);
	reverse_entries(l->entries + directories, l->entries + l->n);
	return true;
}

/*
 * Writing
 */

static int
page_flush(struct page *page)
{
	static const struct hash_key	 key = { 0, 0 };	/* no secret */
	struct buf			*b = &page->block;

	if (b->len == 0)
		return 0;
	if (io_write_all(page->fd, b->at, b->len) == -1)
		return errno;
	page->digest = hash_bytes(&key, page->digest, b->at, b->len);
	page->size += (int64_t)b->len;
	b->len = 0;
	return 0;
}

/* Appends one text of the template, for an entry or NULL; 0 or an errno. */
static int
put_text(struct list *l, struct page *page, enum job_template text,
    const struct entry *e)
{
	struct template_values	v = { .title = l->texts[JOB_TEMPLATE_TITLE],
				    .name = "" };

	if (e != NULL) {
		v.name = e->name;
		v.size = e->size;
		v.time = e->time;
	}
	if (!template_fill(l->texts[text], &v, &page->block))
		return EINVAL;
	return page->block.len >= BLOCK_SIZE ? page_flush(page) : 0;
}

/* No entry is begun beyond the limit of bytes. */
static int
put_entries(struct list *l, struct page *page)
{
	struct job_list	*list = &l->job->list;
	int64_t		 before;
	int		 error = 0;

	for (; list->entries < l->n && error == 0; list->entries++) {
		const struct entry	*e = &l->entries[list->entries];

		before = page->size + (int64_t)page->block.len;
		if (before >= list->bytes_max) {
			l->truncated = true;
			break;
		}
		if (list->entries > 0)
			error = put_text(l, page, JOB_TEMPLATE_BETWEEN, NULL);
		if (error == 0)
			error = put_text(l, page, e->directory ?
			    JOB_TEMPLATE_DIRECTORY : JOB_TEMPLATE_FILE, e);
	}
	if (error == 0 && l->truncated && list->entries > 0)
		error = put_text(l, page, JOB_TEMPLATE_BETWEEN, NULL);
	if (error == 0 && l->truncated)
		error = put_text(l, page, JOB_TEMPLATE_CUT, NULL);
	return error;
}

static int
put_page(struct list *l, struct page *page)
{
	int	error = put_text(l, page, JOB_TEMPLATE_HEAD, NULL);

	if (error == 0)
		error = put_entries(l, page);
	if (error == 0)
		error = put_text(l, page, JOB_TEMPLATE_TAIL, NULL);
	return error != 0 ? error : page_flush(page);
}

/* Pages with equal digests and lengths are equal. */
static void
fill_answer(struct list *l, struct page *page)
{
	struct job	*job = l->job;
	struct job_find	*find = &job->find;

	find->unchanged = find->has_version &&
	    find->version.ino == page->digest &&
	    find->version.size == page->size;
	find->version = (struct job_version){
		.ino = page->digest, .size = page->size
	};
	find->facts = (struct job_facts){
		.mode = l->mode, .uid = geteuid(), .strong = true,
		.in_memory = page->in_memory
	};
	if (!find->unchanged) {
		job->fd = page->fd;
		page->fd = -1;
	}
}

static int
write_page(struct list *l)
{
	struct page	page = { 0 };
	int		error;

	page.fd = anon_file_open(&page.in_memory);
	error = page.fd == -1 ? errno : put_page(l, &page);
	if (error == 0)
		fill_answer(l, &page);
	io_close(&page.fd);
	buf_free(&page.block);
	return error;
}

static void
split_template(struct list *l)
{
	const char	*text = l->job->list.template.at;

	for (int i = 0; i < JOB_TEMPLATE_COUNT; i++) {
		l->texts[i] = text;
		text += strlen(text) + 1;
	}
}

void
list_perform(struct job *job)
{
	struct list	l = { .job = job };

	job->fd = -1;
	job->list.entries = 0;
	split_template(&l);
	job->error = open_directory(&l);
	if (job->error == 0)
		job->error = read_entries(&l);
	if (job->error == 0)
		job->error = sort_entries(&l) ? write_page(&l) : EINVAL;
	for (size_t i = 0; i < l.n; i++)
		mem_drop(&l.entries[i].name);
	mem_drop(&l.entries);
	if (l.dir != NULL)
		closedir(l.dir);
	root_close(&l.root);
}
