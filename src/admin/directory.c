/*
 * directory: the conf and the user of "amped DIRECTORY".
 */
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "admin/directory.h"
#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "lib/regular.h"
#include "lib/user.h"

void
directory_check(const char *directory)
{
	struct stat	st;

	if (stat(directory, &st) == -1)
		log_error("cannot serve %s", directory);
	else if (!S_ISDIR(st.st_mode))
		log_errorx("cannot serve %s: it is %s, not a directory; "
		    "-f names a conf", directory, regular_kind(st.st_mode));
	else if (access(directory, R_OK | X_OK) == -1)
		log_error("cannot read %s", directory);
	else
		return;
	exit(EX_NOINPUT);
}

/* Adds a word as the conf reads it in quotes. */
static void
add_quoted(struct buf *b, const char *word)
{
	buf_addc(b, '"');
	for (; *word != '\0'; word++) {
		if (*word == '"' || *word == '\\')
			buf_addc(b, '\\');
		buf_addc(b, *word);
	}
	buf_addc(b, '"');
}

static void
add_address(struct buf *b, const char *address)
{
	struct buf	 whole = { 0 };
	const char	*port = address + (address[0] == ':');

	if (*port != '\0' && port[strspn(port, "0123456789")] == '\0')
		buf_addf(&whole, DIRECTORY_HOST ":%s", port);
	else
		buf_adds(&whole, address);
	add_quoted(b, buf_string(&whole));
	buf_free(&whole);
}

/* The terminal is the error log, so it has the reasons of refusals. */
struct conf *
directory_conf(const char *directory, const char *address)
{
	struct buf	 text = { 0 }, errors = { 0 };
	struct conf	*conf;

	buf_adds(&text, "log {\nerror stderr info\n}\n"
	    "site default {\nlisting html json\nlisten ");
	add_address(&text, address != NULL ? address : DIRECTORY_ADDRESS);
	buf_adds(&text, "\nroot ");
	add_quoted(&text, directory);
	buf_adds(&text, "\n}\n");
	conf = conf_read_text(NULL, buf_string(&text), &errors);
	if (conf == NULL) {
		fputs(buf_string(&errors), stderr);
		exit(EX_USAGE);
	}
	buf_free(&text);
	buf_free(&errors);
	return conf;
}

/* Whether the server may run as the owner, and can read the directory then. */
static bool
may_be_owner(const struct user *owner, const char *directory)
{
	return owner->uid != 0 && proc_may_read(owner, directory);
}

void
directory_choose_user(const char *directory, struct user *user)
{
	struct user	owner;
	struct stat	st;

	if (user->name == NULL || proc_may_read(user, directory))
		return;
	if (stat(directory, &st) == -1 || !user_find_uid(&owner, st.st_uid))
		fatal("cannot look up the owner of %s", directory);
	user_load_groups(&owner);
	if (!may_be_owner(&owner, directory)) {
		log_errorx("user %s may not read %s, and amped serves no "
		    "private files of root: let all users read it (chmod a+rx, "
		    "and a+x for the directories above)", user->name,
		    directory);
		exit(EX_NOINPUT);
	}
	log_warnx("user %s may not read %s: serving it as its owner, %s",
	    user->name, directory, owner.name);
	user_free(user);
	*user = owner;
}
