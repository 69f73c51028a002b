/*
 * hot_list: reads, writes and merges lists.
 */
#include <ctype.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/lines.h"
#include "lib/mem.h"
#include "shared/hot_list.h"

#define CODING_MAX	48		/* bytes; of a language, too */

static bool
is_url(struct str s)
{
	if (!str_starts(s, STR("http://")) && !str_starts(s, STR("/")))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] <= ' ' || s.at[i] >= 0x7f)
			return false;
	return true;
}

static bool
is_coding(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.at[i]) && s.at[i] != '-' &&
		    s.at[i] != '=')
			return false;
	return s.len > 0 && s.len <= CODING_MAX;
}

enum hot_list_line
hot_list_next(struct str *text, struct hot_name *name)
{
	size_t		n = text->len > 0 ?
			    lines_first(text->at, text->len) : 0;
	struct str	line = { text->at, n };
	bool		has_coding;

	if (n == 0 || text->at[n - 1] != '\n')
		return HOT_LIST_NOTHING;
	str_skip(text, n);
	line.len--;
	if (line.len == 0 || *line.at == '#')
		return HOT_LIST_COMMENT;
	has_coding = memchr(line.at, ' ', line.len) != NULL;
	name->url = has_coding ? str_cut(&line, ' ') : line;
	name->coding = has_coding ? line : STR("");
	return n - 1 <= HOT_LIST_LINE_MAX && is_url(name->url) &&
	    (!has_coding || is_coding(name->coding)) ? HOT_LIST_NAME :
	    HOT_LIST_BAD;
}

void
hot_list_add(struct buf *to, const struct hot_name *name)
{
	buf_add(to, name->url.at, name->url.len);
	if (name->coding.len > 0) {
		buf_addc(to, ' ');
		buf_add(to, name->coding.at, name->coding.len);
	}
	buf_addc(to, '\n');
}

bool
hot_list_is_complete(struct str text)
{
	const struct str	end = STR(HOT_LIST_END);

	return text.len >= end.len && memcmp(text.at + text.len - end.len,
	    end.at, end.len) == 0;
}

/* Hashes of names that are in the merged list; 0: a free place. */
#define SEEN_SIZE	(1 << 18)	/* a power of two, over four times
					 * HOT_LIST_NAMES_MAX */

/* Whether the name was not there yet. */
static bool
add_to_seen(uint64_t *seen, const struct hash_key *key,
    const struct hot_name *name)
{
	uint64_t	salt = hash_bytes(key, 0, name->coding.at,
			    name->coding.len);
	uint64_t	h = hash_bytes(key, salt, name->url.at,
			    name->url.len) | 1;
	size_t		i;

	for (i = h >> 32 & (SEEN_SIZE - 1); seen[i] != 0;
	    i = (i + 1) & (SEEN_SIZE - 1))
		if (seen[i] == h)
			return false;
	seen[i] = h;
	return true;
}

struct merge {
	struct buf	*to;
	uint64_t	*seen;
	struct hash_key	 key;
	size_t		 names, bad;
};

/* Takes a name from a list; false: it has no more. */
static bool
take_name(struct merge *m, struct str *list)
{
	struct hot_name		name;
	enum hot_list_line	kind = hot_list_next(list, &name);

	if (kind == HOT_LIST_BAD)
		m->bad++;
	if (kind == HOT_LIST_NAME && add_to_seen(m->seen, &m->key, &name)) {
		hot_list_add(m->to, &name);
		m->names++;
	}
	return kind != HOT_LIST_NOTHING;
}

size_t
hot_list_merge(struct buf *to, struct str *lists, size_t n)
{
	struct merge	m = { .to = to, .seen = mem_array(SEEN_SIZE,
			    sizeof(*m.seen)) };
	bool		more;

	hash_key_random(&m.key);
	do {
		more = false;
		for (size_t i = 0; i < n && m.names < HOT_LIST_NAMES_MAX &&
		    to->len < HOT_LIST_BYTES_MAX - HOT_LIST_LINE_MAX - 1; i++)
			more = take_name(&m, &lists[i]) || more;
	} while (more);
	mem_drop(&m.seen);
	return m.bad;
}
