/*
 * mem: allocation that succeeds, or ends the process with a log line.
 *
 * Only for amounts that a limit of the conf bounds: a client must not be
 * able to choose them.  free() and mem_drop() free the memory.
 */
#ifndef LIB_MEM_H
#define LIB_MEM_H

#include <stddef.h>

void	*mem_zero(size_t);			/* zeroed */
void	*mem_get(size_t);			/* not zeroed */
void	*mem_aligned(size_t by, size_t);	/* not zeroed, at k * by */
void	*mem_array(size_t n, size_t each);	/* zeroed; overflow is fatal */
void	*mem_grow(void *, size_t n, size_t each);
/* Room for one more element behind n, in an array that only this function has
 * enlarged: its room doubles. */
void	*mem_add_room(void *, size_t n, size_t each);
void	*mem_copy(const void *, size_t);
char	*mem_string(const char *);		/* as strdup */
/* Zeroed memory that a process shares with its children, for munmap(2); pages
 * that are not used take none. */
void	*mem_shared(size_t);
void	 mem_drop(void *pointer_to_pointer);	/* frees, and sets to NULL */

/*
 * malloc keeps freed pages, and one small allocation that stays keeps a whole
 * page.  With these two functions a process shrinks again after a peak of
 * clients.
 *
 * From now on allocations of MEM_LARGE bytes and more are mappings, up to
 * MEM_MAPPINGS_MAX of them, which go back to the system when freed.  For a
 * process that makes few such allocations for each request.
 */
void	 mem_map_large(void);
/* Returns malloc's free pages to the system, where malloc_trim(3) exists. */
void	 mem_trim(void);

#define MEM_LARGE	(8 * 1024)
#define MEM_MAPPINGS_MAX	12000

#endif
