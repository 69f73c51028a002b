/* Fuzz target of proto/scgi: any variables must come out of the netstring again,
 * as a server reads it: CONTENT_LENGTH first, SCGI once behind it, then the
 * others in their order.  The answer of a server is that of a CGI program: see
 * cgi_head. */
#include <stdlib.h>
#include <string.h>

#include "lib/need.h"
#include "proto/scgi.h"

#define LENGTH	"CONTENT_LENGTH=27"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Takes a text that ends with a zero byte off the front. */
static struct str
take_text(struct str *pairs)
{
	const char	*end = memchr(pairs->at, '\0', pairs->len);
	struct str	 text;

	need(end != NULL);
	text = (struct str){ pairs->at, (size_t)(end - pairs->at) };
	str_skip(pairs, text.len + 1);
	return text;
}

static void
check_pair(struct str *pairs, struct str name, struct str value)
{
	need(str_same(take_text(pairs), name));
	need(str_same(take_text(pairs), value));
}

/* Takes the netstring off, by its specification; the rest is what is behind. */
static struct str
take_netstring(struct str *head)
{
	struct str	content;
	size_t		n = 0;

	need(head->len > 0 && head->at[0] != '0');
	for (; head->len > 0 && *head->at != ':'; str_skip(head, 1)) {
		need(*head->at >= '0' && *head->at <= '9');
		n = 10 * n + (size_t)(*head->at - '0');
	}
	need(head->len >= n + 2 && head->at[1 + n] == ',');
	content = (struct str){ head->at + 1, n };
	str_skip(head, n + 2);
	return content;
}

static void
check_head(struct str environment, struct str head)
{
	struct str	pairs = take_netstring(&head), text, name;

	need(head.len == 0);
	check_pair(&pairs, STR("CONTENT_LENGTH"), STR("27"));
	check_pair(&pairs, STR("SCGI"), STR("1"));
	while (environment.len > 0) {
		text = str_cut(&environment, '\0');
		name = str_cut(&text, '=');
		if (!str_same(name, STR("CONTENT_LENGTH")) &&
		    !str_same(name, STR("SCGI")))
			check_pair(&pairs, name, text);
	}
	need(pairs.len == 0);
}

/* Adds the texts with their ends, but for a second CONTENT_LENGTH, which the
 * server of amped never makes. */
static void
add_texts(struct buf *to, struct str texts)
{
	struct str	text, rest;

	while (texts.len > 0) {
		text = rest = str_cut(&texts, '\0');
		if (str_same(str_cut(&rest, '='), STR("CONTENT_LENGTH")))
			continue;
		buf_add(to, text.at, text.len);
		buf_addc(to, '\0');
	}
}

/* The first byte says where CONTENT_LENGTH is among the variables. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct str	texts = { (const char *)data + 1, len - 1 }, before;
	struct buf	environment = { 0 }, head = { 0 };

	if (len == 0)
		return 0;
	before = (struct str){ texts.at, data[0] % (texts.len + 1) };
	add_texts(&environment, before);
	buf_add(&environment, LENGTH, sizeof(LENGTH));
	str_skip(&texts, before.len);
	add_texts(&environment, texts);
	scgi_add_head(&head, (struct str){ environment.at, environment.len });
	check_head((struct str){ environment.at, environment.len },
	    (struct str){ head.at, head.len });
	buf_free(&head);
	buf_free(&environment);
	return 0;
}
