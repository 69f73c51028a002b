/*
 * markdown: makes a page of a text in Markdown (CommonMark), by the only file
 * that includes cmark's library.
 *
 * HTML in the text is left out: who writes a text need not be trusted with
 * scripts.
 */
#ifdef HAVE_CMARK
#include <cmark.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "helpers/filters/filter.h"

static void
put_text(const char *text)
{
	filter_write(text, strlen(text));
}

/* The title of the page: the last name in the path, as far as it is plain. */
static void
put_title(void)
{
	const char	*uri = filter_variable("DOCUMENT_URI");
	const char	*slash = strrchr(uri, '/');
	const char	*name = slash != NULL ? slash + 1 : uri;

	filter_write(name, strcspn(name, "<>&\""));
}

int
markdown_filter(struct str input)
{
	char	*html;

	filter_confine(NULL);
	html = cmark_markdown_to_html(input.at, input.len,
	    CMARK_OPT_VALIDATE_UTF8);
	if (html == NULL) {
		fputs("no memory for the page\n", stderr);
		return EX_OSERR;
	}
	put_text("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">"
	    "<title>");
	put_title();
	put_text("</title></head><body>\n");
	put_text(html);
	put_text("</body></html>\n");
	free(html);
	return EX_OK;
}
#else
#include <stdio.h>
#include <sysexits.h>

#include "helpers/filters/filter.h"

int
markdown_filter(struct str input)
{
	(void)input;
	fputs("this amped was built without libcmark\n", stderr);
	return EX_UNAVAILABLE;
}
#endif
