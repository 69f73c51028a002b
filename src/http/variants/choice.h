/*
 * choice: the last negotiations of a loop: most clients in a row send the same
 * value, for files with the same variants.
 */
#ifndef HTTP_VARIANTS_CHOICE_H
#define HTTP_VARIANTS_CHOICE_H

#include <stddef.h>
#include <stdint.h>

struct coding_choice {			/* of variant.c */
	char		 accept[64];	/* Accept-Encoding */
	size_t		 len;
	uint32_t	 offered, which;	/* 0: none yet */
	uint8_t		 choice;
};

struct format_choice {			/* of format.c */
	char		 accept[128];	/* Accept */
	size_t		 len;
	const char	*type;		/* of the picture; NULL: none yet */
	uint32_t	 offered, chosen;	/* a bit for each format */
};

#endif
