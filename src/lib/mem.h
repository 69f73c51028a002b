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
 * malloc keeps pages that were freed, and a small piece that stays keeps its
 * page from the system.  So that a process is not for ever as large as a crowd
 * of clients once made it:
 *
 * From here on pieces of MEM_LARGE bytes and more are mappings of their own, at
 * most MEM_MAPPINGS_MAX of them, which are the system's again when they are freed.
 * For a process in which such pieces do not come and go with each request.
 */
void	 mem_map_large(void);
/* Returns the free pages that malloc has kept.  Nothing where it cannot. */
void	 mem_trim(void);

#define MEM_LARGE	(8 * 1024)
#define MEM_MAPPINGS_MAX	12000

#endif
