/*
 * homes: a table of the last users that were found, each in the entry that a
 * hash of its name selects.
 *
 * Users that are not found are not remembered: a client can name any number.
 */
#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>

#include "helpers/homes.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/mem.h"

#define ENTRIES		256		/* a power of two */
/* Bytes of a record of the user database, initially and at most. */
#define PASSWD_SIZE	1024
#define PASSWD_SIZE_MAX	(1024 * 1024)

struct known_user {
	char		*name;		/* NULL: free */
	struct home	 home;
	int64_t		 until;		/* in ms, of clock_ms() */
};

static pthread_mutex_t		lock = PTHREAD_MUTEX_INITIALIZER;
static struct known_user	known_users[ENTRIES];	/* under the lock */

/* Errors by which getpwnam(3) may say that there is no such user. */
static bool
is_no_such_user(int error)
{
	return error == 0 || error == ENOENT || error == ESRCH ||
	    error == EBADF || error == EPERM;
}

/* Errors that do not depend on the user. */
static bool
is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ||
	    error == EAGAIN || error == ETIMEDOUT;
}

/* Grows *record as needed; 0 or an errno, ENOENT if there is no such user. */
static int
ask_database(const char *name, struct passwd *user, char **record)
{
	struct passwd	*found = NULL;
	size_t		 size = PASSWD_SIZE;
	int		 error;

	for (;;) {
		*record = mem_grow(*record, size, 1);
		error = getpwnam_r(name, user, *record, size, &found);
		if (error == ERANGE && size < PASSWD_SIZE_MAX)
			size *= 2;
		else if (error != EINTR)
			break;
	}
	/* A user whose name is refused must not get in by other case. */
	if (error == 0 && found != NULL && strcmp(user->pw_name, name) == 0)
		return 0;
	if (is_no_such_user(error))
		return ENOENT;
	return is_shortage(error) ? error : EIO;
}

/* Returns the entry for a name.  The key need not be secret: only real users
 * are kept, whose names no client chooses. */
static struct known_user *
select_entry(const char *name)
{
	static const struct hash_key	key;

	return &known_users[hash_bytes(&key, 0, name, strlen(name)) &
	    (ENTRIES - 1)];
}

/* Copies what is remembered; false: nothing. */
static bool
recall_home(const char *name, struct home *home, int64_t now)
{
	const struct known_user	*entry = select_entry(name);
	bool			 known;

	pthread_mutex_lock(&lock);
	known = entry->name != NULL && now < entry->until &&
	    strcmp(entry->name, name) == 0;
	if (known)
		*home = (struct home){ mem_string(entry->home.dir),
		    entry->home.uid };
	pthread_mutex_unlock(&lock);
	return known;
}

static void
remember_home(const char *name, const struct home *home, int64_t until)
{
	struct known_user	*entry = select_entry(name);

	pthread_mutex_lock(&lock);
	mem_drop(&entry->name);
	mem_drop(&entry->home.dir);
	entry->name = mem_string(name);
	entry->home = (struct home){ mem_string(home->dir), home->uid };
	entry->until = until;
	pthread_mutex_unlock(&lock);
}

int
homes_find(const char *name, struct home *home)
{
	struct passwd	 user;
	char		*record = NULL;
	int64_t		 now = clock_ms();
	int		 error;

	if (recall_home(name, home, now))
		return 0;
	error = ask_database(name, &user, &record);
	if (error == 0) {
		*home = (struct home){ mem_string(user.pw_dir != NULL ?
		    user.pw_dir : ""), user.pw_uid };
		remember_home(name, home, now + HOMES_MS);
	}
	mem_drop(&record);
	return error;
}
