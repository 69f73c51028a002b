/*
 * evict: takes files out of memory, even where a process has them mapped.
 *
 *	evict PID FILE...
 *
 * Asks the kernel to drop the pages of the files, first from the mappings of
 * the process, since what is mapped stays, and tells of each file how many of
 * its pages are still in memory.  As memory pressure does, but at once, and of
 * these files only.  Needs to be allowed that: root, Linux 5.10.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

static int
open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	errno = ENOSYS;
	return -1;
#endif
}

static void
page_out(int process, uintptr_t from, uintptr_t to)
{
#ifdef SYS_process_madvise
	union { uintptr_t number; void *at; } start = { from };
	struct iovec	range = { start.at, to - from };

	(void)syscall(SYS_process_madvise, process, &range, 1, MADV_PAGEOUT, 0);
#else
	(void)process, (void)from, (void)to;
#endif
}

/* All of its mappings of this file. */
static void
unmap(pid_t pid, const struct stat *st)
{
	char		 name[64], line[PATH_MAX + 200];
	uintptr_t	 from, to;
	uint64_t	 inode;
	FILE		*maps;
	int		 process = open_process(pid);

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	if (process == -1 || maps == NULL)
		err(1, "%s", name);
	while (fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %" SCNu64,
		    &from, &to, &inode) == 3 && inode == st->st_ino)
			page_out(process, from, to);
	fclose(maps);
	close(process);
}

static size_t
resident(int fd, size_t size)
{
	size_t		 page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	size_t		 pages = (size + page - 1) / page;
	unsigned char	*map = calloc(pages + 1, 1);
	void		*at;

	if (size == 0 || map == NULL)
		return 0;
	at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED || mincore(at, size, (void *)map) == -1)
		err(1, "mincore");
	for (size_t i = 0; i < pages; i++)
		n += map[i] & 1;
	munmap(at, size);
	free(map);
	return n;
}

static void
evict(pid_t pid, const char *name)
{
	struct stat	st;
	int		fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd == -1 || fstat(fd, &st) == -1)
		err(1, "%s", name);
	unmap(pid, &st);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	printf("%zu %s\n", resident(fd, (size_t)st.st_size), name);
	close(fd);
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		errx(64, "usage: evict PID FILE...");
	for (int i = 2; i < argc; i++)
		evict((pid_t)strtol(argv[1], NULL, 10), argv[i]);
}
