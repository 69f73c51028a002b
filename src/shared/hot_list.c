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
is_plain(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] <= ' ' || s.at[i] >= 0x7f)
			return false;
	return true;
}

static bool
is_url(struct str s)
{
	return (str_starts(s, STR("http://")) || str_starts(s, STR("/"))) &&
	    is_plain(s);
}

bool
hot_list_has_file(struct str path)
{
	return str_starts(path, STR("/")) && is_plain(path);
}

/* Whether the text is paths with a space between two. */
static bool
has_files(struct str text)
{
	bool	more = true;

	while (more) {
		more = memchr(text.at, ' ', text.len) != NULL;
		if (!hot_list_has_file(str_cut(&text, ' ')))
			return false;
	}
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

static bool
take_page(struct str line, struct hot_name *name)
{
	str_skip(&line, 2);
	if (memchr(line.at, ' ', line.len) == NULL)
		return false;
	name->url = str_cut(&line, ' ');
	name->files = line;
	return is_url(name->url) && has_files(line);
}

static bool
take_name(struct str line, struct hot_name *name)
{
	bool	has_coding = memchr(line.at, ' ', line.len) != NULL;

	name->url = has_coding ? str_cut(&line, ' ') : line;
	if (has_coding)
		name->coding = line;
	return is_url(name->url) && (!has_coding || is_coding(line));
}

enum hot_list_line
hot_list_next(struct str *text, struct hot_name *name)
{
	size_t		n = text->len > 0 ?
			    lines_first(text->at, text->len) : 0;
	struct str	line = { text->at, n };

	if (n == 0 || text->at[n - 1] != '\n')
		return HOT_LIST_NOTHING;
	str_skip(text, n);
	line.len--;
	*name = (struct hot_name){ .coding = STR(""), .files = STR("") };
	if (line.len == 0 || *line.at == '#')
		return HOT_LIST_COMMENT;
	if (line.len > HOT_LIST_LINE_MAX)
		return HOT_LIST_BAD;
	if (str_starts(line, STR("> ")))
		return take_page(line, name) ? HOT_LIST_PAGE : HOT_LIST_BAD;
	return take_name(line, name) ? HOT_LIST_NAME : HOT_LIST_BAD;
}

void
hot_list_add(struct buf *to, const struct hot_name *name)
{
	struct str	rest = name->files.len > 0 ? name->files :
			    name->coding;

	if (name->files.len > 0)
		buf_adds(to, "> ");
	buf_add(to, name->url.at, name->url.len);
	if (rest.len > 0) {
		buf_addc(to, ' ');
		buf_add(to, rest.at, rest.len);
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

/* Hashes of lines that are in the merged list; 0: a free place. */
#define SEEN_SIZE	(1 << 18)	/* a power of two, over four times
					 * HOT_LIST_NAMES_MAX and
					 * HOT_LIST_PAGES_MAX */

/* Whether the line was not there yet. */
static bool
add_to_seen(uint64_t *seen, const struct hash_key *key,
    const struct hot_name *name)
{
	bool		is_page = name->files.len > 0;
	struct str	rest = is_page ? name->files : name->coding;
	uint64_t	salt = hash_bytes(key, is_page, rest.at, rest.len);
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
	size_t		 names, pages, bad;
	size_t		 pages_bytes;
};

static bool
has_room(const struct merge *m, enum hot_list_line kind)
{
	return kind == HOT_LIST_NAME ||
	    (m->pages < HOT_LIST_PAGES_MAX && m->pages_bytes <
	    HOT_LIST_PAGES_BYTES_MAX - HOT_LIST_LINE_MAX - 1);
}

static void
add_line(struct merge *m, enum hot_list_line kind, const struct hot_name *name)
{
	size_t	before = m->to->len;

	if (!has_room(m, kind) || !add_to_seen(m->seen, &m->key, name))
		return;
	hot_list_add(m->to, name);
	if (kind == HOT_LIST_NAME)
		m->names++;
	else {
		m->pages++;
		m->pages_bytes += m->to->len - before;
	}
}

/* Takes a line from a list; false: it has no more. */
static bool
merge_line(struct merge *m, struct str *list)
{
	struct hot_name		name;
	enum hot_list_line	kind = hot_list_next(list, &name);

	if (kind == HOT_LIST_BAD)
		m->bad++;
	if (kind == HOT_LIST_NAME || kind == HOT_LIST_PAGE)
		add_line(m, kind, &name);
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
			more = merge_line(&m, &lists[i]) || more;
	} while (more);
	mem_drop(&m.seen);
	return m.bad;
}
