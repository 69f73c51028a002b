/*
 * user: looks users up in the user database, and becomes one.
 */
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/user.h"

enum {
	GROUPS_FIRST = 256,	/* size of the first attempt */
	GROUPS_MAX = 65536,	/* more than any system allows */
};

/* At max as many groups as a process may have. */
static int
clamp_groups(int n)
{
	long	max = sysconf(_SC_NGROUPS_MAX);

	return max > 0 && n > max ? (int)max : n;
}

void
user_load_groups(struct user *u)
{
	if (u->name == NULL)
		return;
	mem_drop(&u->groups);
	for (int room = GROUPS_FIRST; room <= GROUPS_MAX; room *= 2) {
		u->ngroups = room;
		u->groups = mem_array((size_t)room, sizeof(*u->groups));
		if (getgrouplist(u->name, u->gid, u->groups,
		    &u->ngroups) != -1) {
			u->ngroups = clamp_groups(u->ngroups);
			return;
		}
		mem_drop(&u->groups);
	}
}

static bool
fill_from_passwd(struct user *u, const struct passwd *pw)
{
	*u = (struct user){ 0 };
	if (pw == NULL)
		return false;
	u->name = mem_string(pw->pw_name);
	u->uid = pw->pw_uid;
	u->gid = pw->pw_gid;
	return true;
}

bool
user_find_name(struct user *u, const char *name)
{
	return fill_from_passwd(u, getpwnam(name));
}

bool
user_find_uid(struct user *u, uid_t uid)
{
	return fill_from_passwd(u, getpwuid(uid));
}

bool
user_set_group(struct user *u, const char *group)
{
	const struct group	*gr = getgrnam(group);

	if (gr == NULL)
		return false;
	u->gid = gr->gr_gid;
	mem_drop(&u->groups);
	return true;
}

void
user_free(struct user *u)
{
	mem_drop(&u->name);
	mem_drop(&u->groups);
	*u = (struct user){ 0 };
}

static int
apply_groups(const struct user *u)
{
	return u->groups != NULL ? setgroups((size_t)u->ngroups, u->groups) :
	    initgroups(u->name, u->gid);
}

int
user_become(const struct user *u)
{
	if (u->name == NULL)
		return 0;
	if (apply_groups(u) == -1 || setgid(u->gid) == -1 ||
	    setuid(u->uid) == -1)
		return -1;
	return 0;
}
