/*
 * Fuzz target of helpers/htpasswd: a name in the first line, then a file.  Each
 * hash that is found is a part of one line of the file.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "helpers/htpasswd.h"
#include "lib/need.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_part(struct str whole, struct str part)
{
	if (part.at == NULL)
		return;
	need(part.at >= whole.at && part.at + part.len <= whole.at + whole.len);
	for (size_t i = 0; i < part.len; i++)
		need((unsigned char)part.at[i] >= ' ' && part.at[i] != ':');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str		 text = { (const char *)data, size }, rest;
	struct str		 user = text, own, other;
	const char		*end = size > 0 ? memchr(data, '\n', size) :
				    NULL;
	struct htpasswd_entry	 entry;
	bool			 listed = false;

	if (end != NULL) {
		user.len = (size_t)(end - user.at);
		text.at = end + 1;
		text.len = size - user.len - 1;
	}
	own = htpasswd_find(text, user, &other);
	check_part(text, own);
	check_part(text, other);
	need(other.at == NULL || htpasswd_usable(other));
	for (rest = text; htpasswd_next(&rest, &entry);) {
		check_part(text, entry.user);
		check_part(text, entry.hash);
		need(entry.user.len > 0);
		need(!htpasswd_usable(entry.hash) || other.at != NULL);
		listed |= str_same(entry.user, user);
	}
	need(listed == (own.at != NULL));
	return 0;
}
