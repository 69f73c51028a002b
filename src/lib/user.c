/*
 * user: looks into the user database, and becomes somebody of it.
 */
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/user.h"

enum {
	FEW = 16,		/* groups to begin with */
	MOST = 65536,		/* no system has as many */
};

/* As many as the system lets a process have. */
static int
most_groups(int n)
{
	long	most = sysconf(_SC_NGROUPS_MAX);

	return most > 0 && n > most ? (int)most : n;
}

static bool
find_groups(struct user *u)
{
	for (int room = FEW; room <= MOST; room *= 2) {
		u->ngroups = room;
		u->groups = mem_array((size_t)room, sizeof(*u->groups));
		if (getgrouplist(u->name, u->gid, u->groups,
		    &u->ngroups) != -1) {
			u->ngroups = most_groups(u->ngroups);
			return true;
		}
		mem_drop(&u->groups);
	}
	return false;
}

static bool
take(struct user *u, const struct passwd *pw)
{
	*u = (struct user){ 0 };
	if (pw == NULL)
		return false;
	u->name = mem_string(pw->pw_name);
	u->uid = pw->pw_uid;
	u->gid = pw->pw_gid;
	if (find_groups(u))
		return true;
	user_free(u);
	return false;
}

bool
user_named(struct user *u, const char *name)
{
	return take(u, getpwnam(name));
}

bool
user_numbered(struct user *u, uid_t uid)
{
	return take(u, getpwuid(uid));
}

void
user_free(struct user *u)
{
	mem_drop(&u->name);
	mem_drop(&u->groups);
	*u = (struct user){ 0 };
}

int
user_become(const struct user *u)
{
	if (u->name == NULL)
		return 0;
	if (setgroups((size_t)u->ngroups, u->groups) == -1 ||
	    setgid(u->gid) == -1 || setuid(u->uid) == -1)
		return -1;
	return 0;
}
