/*
 * ownership: looks at a file and its directory.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "programs/ownership.h"

static int
refuse_file(const char *name, const char *why, int errors)
{
	(void)dprintf(errors, "not executed, as it has a user of its own: "
	    "%s %s\n", name, why);
	errno = EACCES;
	return -1;
}

static int
check_one(const char *name, int errors)
{
	struct stat	st;

	if (stat(name, &st) == -1)
		return -1;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return refuse_file(name, "belongs to another user: have it "
		    "belong to this user, or to root (chown)", errors);
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return refuse_file(name, "may be written by others: let only "
		    "its owner write (chmod go-w)", errors);
	if (S_ISREG(st.st_mode) && (st.st_mode & (S_ISUID | S_ISGID)) != 0)
		return refuse_file(name, "has a set-user-id or set-group-id "
		    "bit: take it away (chmod ug-s)", errors);
	return 0;
}

int
ownership_check(const char *file, int errors)
{
	char	*directory = mem_string(file), *slash;
	int	 done;

	slash = strrchr(directory, '/');
	if (slash != NULL)
		slash[slash == directory] = '\0';
	done = check_one(directory, errors);
	mem_drop(&directory);
	return done == 0 ? check_one(file, errors) : -1;
}
