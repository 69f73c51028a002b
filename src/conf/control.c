/*
 * control: the values of "control": the name of the socket, its mode, owner and
 * group.
 */
#include <sys/un.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "conf/setters.h"
#include "lib/mem.h"

/* Bytes, as src/monitor/control_socket.c appends the suffix. */
#define SOCKET_NAME_MAX	(sizeof(((struct sockaddr_un *)0)->sun_path) -	\
    sizeof(CONF_CONTROL_NEW))

/* The directory need not exist yet: the start of the server may make it. */
bool
conf_control_set_socket(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	char	*path;

	(void)row;
	if (!word->quoted && strcmp(word->text, "off") == 0)
		return true;
	path = conf_source_path(reader, word);
	if (word->text[0] != '\0' && strlen(path) <= SOCKET_NAME_MAX) {
		*(char **)member = path;
		return true;
	}
	conf_error(reader, word->pos, "\"%s\" cannot be a socket: its "
	    "name has 1 to %zu bytes", word->text, SOCKET_NAME_MAX);
	mem_drop(&path);
	return false;
}

bool
conf_control_set_mode(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	size_t	len = strlen(word->text);
	int64_t	mode = 0;

	(void)row;
	if (len > 0 && len <= 4 && strspn(word->text, "01234567") == len) {
		for (const char *p = word->text; *p != '\0'; p++)
			mode = mode * 8 + (*p - '0');
		if (mode <= 0777) {
			*(int64_t *)member = mode;
			return true;
		}
	}
	conf_error(reader, word->pos,
	    "\"%s\" is not a mode: three digits from 0 to 7, as in 0660",
	    word->text);
	return false;
}

const char *
conf_control_wrong_owner(const char *name)
{
	return getpwnam(name) != NULL ? NULL : "there is no user \"%s\"";
}

const char *
conf_control_wrong_group(const char *name)
{
	return getgrnam(name) != NULL ? NULL : "there is no group \"%s\"";
}
