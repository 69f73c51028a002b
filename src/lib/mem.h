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

#endif
