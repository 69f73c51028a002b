/* files: shared by the tests of files and chunks: caches of both, and files
 * with known bytes. */
#ifndef T_UNIT_CACHE_FILES_H
#define T_UNIT_CACHE_FILES_H

#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/file_private.h"
#include "conf/conf.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

#define KIB	1024u

static struct chunk_cache	chunks;
static struct file_cache	files;
static char			path[] = "/tmp/amped-chunk-XXXXXX";

static inline void
caches(size_t limit, int64_t residency)
{
	chunk_init(&chunks, limit, 0);
	file_init(&files, &chunks, 4, 64 * KIB, 16 * KIB, residency);
}

/* A file of a size, with bytes that follow from their offsets; as a helper
 * would hand it over. */
static inline struct file *
make(size_t size, bool in_memory)
{
	struct job_version	version = { .size = (int64_t)size };
	struct job_facts	facts = { .mode = S_IFREG | 0644,
				    .uid = getuid() + 1,
				    .in_memory = in_memory };
	struct stat		 st;
	char			*bytes;
	int			 fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ne(fd, -1);
	bytes = mem_get(size + 1);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i % 251);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	free(bytes);
	ck_assert_int_eq(fstat(fd, &st), 0);
	version.mtime = st.st_mtim.tv_sec;
	version.mtime_ns = (uint32_t)st.st_mtim.tv_nsec;
	version.ctime = st.st_ctim.tv_sec;
	version.ctime_ns = (uint32_t)st.st_ctim.tv_nsec;
	return file_new(&files, fd, &version, &facts);
}

#endif
