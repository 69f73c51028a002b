/*
 * page: what all HTML pages that amped makes for visitors have in common: the
 * errors' and the listings'.
 *
 * Neither text has a percent sign, so both may stand in formats and templates.
 */
#ifndef HTTP_PAGE_H
#define HTTP_PAGE_H

/* Up to the title. */
#define PAGE_BEGIN							\
	"<!DOCTYPE html>\n<html lang=\"en\"><head>"			\
	"<meta charset=\"utf-8\">\n"					\
	"<meta name=\"viewport\" "					\
	"content=\"width=device-width, initial-scale=1\">\n"
/* Within the element style; dark where the visitor's system is. */
#define PAGE_STYLE							\
	":root { color-scheme: light dark }\n"				\
	"body { font: 1em/1.6 sans-serif; max-width: 60em; "		\
	"margin: 1em auto; padding: 0 1em }\n"				\
	"h1 { font-size: 1.3em; overflow-wrap: anywhere }\n"

#endif
