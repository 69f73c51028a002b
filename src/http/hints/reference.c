/*
 * reference: joins a path and a relative one, and takes dot segments out.
 */
#include <string.h>

#include "http/hints/reference.h"

/* The text up to ? or #. */
static struct str
cut_path(struct str text)
{
	size_t	n = 0;

	while (n < text.len && text.at[n] != '?' && text.at[n] != '#')
		n++;
	return (struct str){ text.at, n };
}

/* Whether a name begins with a scheme, as "data:" is one. */
static bool
has_scheme(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (name.at[i] == ':')
			return true;
		else if (strchr("/?#", name.at[i]) != NULL)
			return false;
	return false;
}

/* Finds the path behind "//" and an authority. */
static bool
find_behind_authority(struct str rest, struct str authority, struct str *path)
{
	if (!str_starts(rest, STR("//")))
		return false;
	str_skip(&rest, 2);
	if (rest.len <= authority.len || rest.at[authority.len] != '/' ||
	    !str_same_nocase((struct str){ rest.at, authority.len },
	    authority))
		return false;
	str_skip(&rest, authority.len);
	*path = cut_path(rest);
	return true;
}

bool
reference_find_path(struct str url, struct str authority, struct str *path)
{
	struct str	scheme = str_cut(&url, ':');

	return (str_same_nocase(scheme, STR("http")) ||
	    str_same_nocase(scheme, STR("https"))) &&
	    find_behind_authority(url, authority, path);
}

/* Removes the last segment of len bytes of a path; returns the new length. */
static size_t
drop_segment(const char *to, size_t len)
{
	while (len > 0 && to[len - 1] != '/')
		len--;
	return len;
}

/* Appends the segments of a path to len bytes, which end with a slash; returns
 * the new length, or 0: there is no room. */
static size_t
add_segments(struct str rest, char *to, size_t len, size_t size)
{
	struct str	one;
	bool		more = true;

	while (more) {
		more = memchr(rest.at, '/', rest.len) != NULL;
		one = str_cut(&rest, '/');
		if (str_same(one, STR(".")))
			continue;
		if (str_same(one, STR(".."))) {
			if (len > 1)
				len = drop_segment(to, len - 1);
			continue;
		}
		if (len + one.len + 2 > size)
			return 0;
		memcpy(to + len, one.at, one.len);
		len += one.len;
		if (more)
			to[len++] = '/';
	}
	return len;
}

bool
reference_resolve(struct str name, struct str path, struct str authority,
    char *to, size_t size)
{
	size_t	len = 1;

	if (has_scheme(name)) {
		if (!reference_find_path(name, authority, &name))
			return false;
	} else if (str_starts(name, STR("//"))) {
		if (!find_behind_authority(name, authority, &name))
			return false;
	} else
		name = cut_path(name);
	if (name.len == 0 || size < 2)
		return false;
	to[0] = '/';
	if (name.at[0] == '/')
		str_skip(&name, 1);
	else {
		path.len = drop_segment(path.at, path.len);
		if (path.len > 0)
			len = add_segments((struct str){ path.at + 1,
			    path.len - 1 }, to, 1, size);
		if (len == 0)
			return false;
	}
	len = add_segments(name, to, len, size);
	to[len] = '\0';
	return len > 0;
}
