/*
 * groups: the users that "require" lets in: by name, and as members of groups
 * of a file as Apache has it (AuthGroupFile).
 *
 * The file is read with the conf, so that no request waits for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/setters.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/regular.h"
#include "lib/str.h"

#define GROUPS_SIZE_MAX	(1 << 20)	/* bytes of the file */

/* Names of users and groups are sent and written without colon. */
const char *
conf_groups_wrong_name(const char *name)
{
	return name[0] == '\0' || strchr(name, ':') != NULL ?
	    "\"%s\" is not a name of a user or group" : NULL;
}

static void
add_user(struct conf_words *users, struct str name)
{
	char	*copy = mem_get(name.len + 1);

	memcpy(copy, name.at, name.len);
	copy[name.len] = '\0';
	conf_name_add(users, copy);
	free(copy);
}

/* The next word of a line; its length is 0 at the end. */
static struct str
next_word(struct str *line)
{
	struct str	word;

	do {
		word = str_trim(str_cut(line, ' '));
	} while (word.len == 0 && line->len > 0);
	return word;
}

/* Adds the members of a group, which may have several lines; false: it has
 * none. */
static bool
add_members(struct conf_words *users, struct str text, const char *group)
{
	struct str	line, name;
	bool		found = false;

	while (text.len > 0) {
		line = str_trim(str_cut(&text, '\n'));
		if (line.len > 0 && line.at[line.len - 1] == '\r')
			line.len--;
		if (line.len == 0 || line.at[0] == '#' ||
		    !str_same(str_trim(str_cut(&line, ':')), str_of(group)))
			continue;
		found = true;
		while ((name = next_word(&line)).len > 0)
			add_user(users, name);
	}
	return found;
}

/* Reads the file of groups; false with errno. */
static bool
read_groups(const char *file, struct buf *text)
{
	int	fd = regular_open(file), saved;
	ssize_t	n;

	if (fd == -1)
		return false;
	buf_reserve(text, GROUPS_SIZE_MAX + 1);
	n = io_read_all(fd, text->at, GROUPS_SIZE_MAX + 1);
	saved = n > GROUPS_SIZE_MAX ? EFBIG : errno;
	io_close(&fd);
	errno = saved;
	if (n < 0 || n > GROUPS_SIZE_MAX)
		return false;
	text->len = (size_t)n;
	return true;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
add_groups(struct conf_reader *reader, struct conf_guard *guard,
    struct conf_object object)
{
	const struct conf_row	*row = conf_row_find_word("require",
				    object.kind) + 1;
	struct conf_pos		 pos = conf_origin(object, row, 0)->pos;
	struct buf		 text = { 0 };

	if (guard->groups == NULL)
		conf_error(reader, pos, "\"require group\" needs a file of "
		    "groups: auth REALM FILE groups FILE");
	else if (!read_groups(guard->groups, &text))
		conf_error(reader, pos, "%s: %s", guard->groups,
		    strerror(errno));
	else
		for (size_t i = 0; i < guard->require.groups.n; i++)
			if (!add_members(&guard->users, (struct str){ text.at,
			    text.len }, guard->require.groups.at[i]))
				conf_error(reader, conf_origin(object, row,
				    i)->pos, "there is no group \"%s\" in %s",
				    guard->require.groups.at[i],
				    guard->groups);
	buf_free(&text);
}

void
conf_groups_complete(struct conf_reader *reader, struct conf_guard *guard,
    struct conf_object object)
{
	const struct conf_origin	*own = conf_origin(object,
					    conf_row_find_word("require",
					    object.kind), 0);

	guard->limited = guard->require.users.n + guard->require.groups.n > 0;
	if (!guard->limited)
		return;
	if (guard->realm == NULL) {
		if (own == NULL)
			own = conf_origin(object, conf_row_find_word("require",
			    object.kind) + 1, 0);
		conf_error(reader, own->pos, "\"require\" needs \"auth\"");
		return;
	}
	for (size_t i = 0; i < guard->require.users.n; i++)
		conf_name_add(&guard->users, guard->require.users.at[i]);
	if (guard->require.groups.n > 0)
		add_groups(reader, guard, object);
	if (guard->users.n > 0)
		qsort(guard->users.at, guard->users.n,
		    sizeof(*guard->users.at), by_name);
}

static int
find_user(const void *key, const void *element)
{
	const struct str	*name = key;
	const char		*user = *(char *const *)element;
	int			 order = strncmp(name->at, user, name->len);

	return order != 0 ? order : user[name->len] == '\0' ? 0 : -1;
}

bool
conf_groups_admit(const struct conf_guard *guard, const char *user, size_t len)
{
	struct str	name = { user, len };

	return !guard->limited || (len > 0 && guard->users.n > 0 &&
	    memchr(user, '\0', len) == NULL &&
	    bsearch(&name, guard->users.at, guard->users.n,
	    sizeof(*guard->users.at), find_user) != NULL);
}
