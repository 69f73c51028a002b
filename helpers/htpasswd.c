/*
 * htpasswd: parses lines into entries.
 *
 * A search goes through the whole file: its time must not tell whether and
 * where the file has a name.
 */
#include <string.h>

#include "helpers/htpasswd.h"
#include "lib/hash.h"

bool
htpasswd_next(struct str *rest, struct htpasswd_entry *entry)
{
	struct str	line;

	while (rest->len > 0) {
		line = str_cut(rest, '\n');
		if (line.len > 0 && line.at[line.len - 1] == '\r')
			line.len--;
		if (line.len == 0 || line.at[0] == '#' ||
		    str_has_control(line) ||
		    memchr(line.at, ':', line.len) == NULL)
			continue;
		entry->user = str_cut(&line, ':');
		entry->hash = str_cut(&line, ':');
		if (entry->user.len > 0)
			return true;
	}
	return false;
}

bool
htpasswd_usable(struct str hash)
{
	return str_starts(hash, STR("$")) && !str_starts(hash, STR("$apr1$"));
}

static uint64_t
count_usable(struct str text)
{
	struct htpasswd_entry	entry;
	uint64_t		n = 0;

	while (htpasswd_next(&text, &entry))
		n += htpasswd_usable(entry.hash);
	return n;
}

struct str
htpasswd_find(struct str text, struct str user, struct str *other)
{
	struct htpasswd_entry	entry;
	struct str		own = { NULL, 0 };
	/* The pick depends on the file's text, which clients do not know. */
	struct hash_key		key = { 0, 0 };
	uint64_t		n = count_usable(text), pick;

	*other = own;
	key.k0 = hash_bytes(&key, 0, text.at, text.len);
	pick = n > 0 ? hash_bytes(&key, 1, user.at, user.len) % n : 0;
	while (htpasswd_next(&text, &entry)) {
		if (own.at == NULL && str_same(entry.user, user))
			own = entry.hash;
		if (htpasswd_usable(entry.hash) && pick-- == 0)
			*other = entry.hash;
	}
	return own;
}
