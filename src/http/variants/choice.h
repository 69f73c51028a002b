/*
 * choice: the last negotiation of a loop for each field.  It often holds for
 * the next request, too: many clients send the same value, and many files have
 * the same variants.
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

struct conf_languages;

struct language_choice {		/* of language.c */
	char		 accept[96];	/* Accept-Language */
	size_t		 len;
	const struct conf_languages *languages;	/* NULL: none yet */
	uint32_t	 offered, chosen;
};

struct choices {
	struct coding_choice	 coding;
	struct format_choice	 format;
	struct language_choice	 language;
};

#endif
