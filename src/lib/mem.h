/*
 * mem: memory that is there, or the process ends with a message.
 *
 * Only for amounts that a limit of the conf bounds: a client must not be
 * able to choose them.
 */
#ifndef LIB_MEM_H
#define LIB_MEM_H

#include <stddef.h>

void	*mem_zero(size_t);			/* zeroed */
void	*mem_get(size_t);			/* not zeroed */
void	*mem_aligned(size_t by, size_t);	/* the same, a multiple of by */
void	*mem_array(size_t n, size_t each);	/* zeroed, overflow checked */
void	*mem_grow(void *, size_t n, size_t each);
void	*mem_copy(const void *, size_t);
char	*mem_string(const char *);		/* as strdup */
void	 mem_drop(void *pointer_to_pointer);	/* frees it, leaves NULL */

/*
 * malloc keeps pages that were freed, for the next allocation.  After a crowd
 * of clients nobody may want them again, so these give them to the system.
 *
 * Frees a piece of this size, after it has returned the whole pages in it: a
 * system call where there is one.
 */
void	 mem_return(void *, size_t);
/* Returns the free pages that malloc has kept: some 10 us, and 0.1 us for each
 * of them.  Nothing where malloc cannot. */
void	 mem_trim(void);

#endif
