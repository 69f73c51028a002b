/*
 * credentials: the scheme Basic, and no other.
 */
#include <string.h>

#include "lib/base64.h"
#include "proto/credentials.h"

/* The base64 text behind the scheme; at NULL: another scheme. */
static struct str
skip_scheme(struct str value)
{
	const struct str	scheme = STR("basic ");
	struct str		none = { NULL, 0 };

	if (value.len < scheme.len ||
	    !str_same_nocase((struct str){ value.at, scheme.len }, scheme))
		return none;
	str_skip(&value, scheme.len);
	return str_trim(value);
}

static bool
split_credentials(struct credentials *c, size_t len)
{
	char	*colon = memchr(c->bytes, ':', len);

	if (colon == NULL || colon == c->bytes ||
	    str_has_control((struct str){ c->bytes, len }))
		return false;
	*colon = '\0';
	c->bytes[len] = '\0';
	c->user = (struct str){ c->bytes, (size_t)(colon - c->bytes) };
	c->password = (struct str){ colon + 1, len - c->user.len - 1 };
	return true;
}

bool
credentials_read(struct str value, struct credentials *c)
{
	struct str	text = skip_scheme(value);
	size_t		len;

	if (text.at != NULL && base64_decode(text, c->bytes,
	    CREDENTIALS_MAX + 1, &len) && split_credentials(c, len))
		return true;
	credentials_forget(c);
	return false;
}

void
credentials_forget(struct credentials *c)
{
	explicit_bzero(c, sizeof(*c));
}
