/*
 * verify: compares a password with the hash of a user in a password file, by
 * crypt(3).
 *
 * The file is read for each job, so that changes take effect at once.  Must not
 * leave a password or a hash in memory.
 */
#include <sys/stat.h>

#ifdef HAVE_CRYPT_H
#include <crypt.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "helpers/htpasswd.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"
#include "lib/mem.h"

#define FILE_SIZE_MAX	(1024 * 1024)	/* bytes of a password file */
#define HASH_MAX	384		/* bytes, with the NUL */
/* A hash that every crypt(3) can compare. */
#define PLAIN_HASH	"$6$amped$"

/* The size of a regular file, or -1 with errno. */
static ssize_t
file_size(int fd)
{
	struct stat	st;

	if (fstat(fd, &st) == -1)
		return -1;
	errno = !S_ISREG(st.st_mode) ? EINVAL : EFBIG;
	return S_ISREG(st.st_mode) && st.st_size <= FILE_SIZE_MAX ?
	    (ssize_t)st.st_size : -1;
}

/* Reads a whole file; the caller frees `at`.  NULL: errno. */
static struct str
read_file(const char *name)
{
	struct str	 text = { NULL, 0 };
	int		 fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
			    O_NOCTTY), error;
	ssize_t		 n;
	char		*at;

	if (fd == -1)
		return text;
	n = file_size(fd);
	if (n != -1) {
		at = mem_get((size_t)n + 1);
		n = io_read_all(fd, at, (size_t)n);
		if (n == -1)
			mem_drop(&at);
		else
			text = (struct str){ at, (size_t)n };
	}
	error = errno;
	io_close(&fd);
	errno = error;
	return text;
}

/* Compares in constant time. */
static bool
equal_bytes(const char *a, const char *b, size_t len)
{
	unsigned char	differ = 0;

	for (size_t i = 0; i < len; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return differ == 0;
}

/* 1: right, 0: wrong, -1: crypt(3) does not know the hash. */
static int
try_password(const char *password, struct str hash)
{
	struct crypt_data	*data = mem_zero(sizeof(*data));
	char			 setting[HASH_MAX] = "";
	const char		*made = NULL;
	int			 result = -1;

	if (hash.len < sizeof(setting)) {
		memcpy(setting, hash.at, hash.len);
		made = crypt_r(password, setting, data);
	}
	if (made != NULL && made[0] == '$')
		result = strlen(made) == hash.len &&
		    equal_bytes(made, hash.at, hash.len);
	explicit_bzero(setting, sizeof(setting));
	explicit_bzero(data, sizeof(*data));
	mem_drop(&data);
	return result;
}

/* As try_password(), but a password that is too long for crypt(3) is wrong, and
 * takes as long as another one. */
static int
compare_password(const char *password, struct str hash)
{
	int	result = try_password(password, hash);

	if (result == -1 && try_password("", hash) != -1)
		result = 0;
	return result;
}

/* Takes the time of a comparison, for users without a usable hash. */
static void
spend_time(const char *password, struct str other)
{
	if (other.at != NULL && compare_password(password, other) == -1)
		(void)compare_password(password, STR(PLAIN_HASH));
}

static void
verify_password(struct job *job, struct str text)
{
	struct str	 user = str_of(job->verify.both.at), own, other;
	const char	*password = job->verify.both.at + user.len + 1;
	int		 result = -1;

	own = htpasswd_find(text, user, &other);
	if (own.at != NULL && htpasswd_usable(own))
		result = compare_password(password, own);
	if (result == -1)
		spend_time(password, other);
	if (result == -1 && own.at != NULL)
		job->error = ENOTSUP;
	job->verify.right = result == 1;
}

void
verify_perform(struct job *job)
{
	struct str	 text = read_file(job->verify.file);
	char		*at;

	job->verify.right = 0;
	if (text.at == NULL) {
		job->error = errno;
		return;
	}
	verify_password(job, text);
	memcpy(&at, &text.at, sizeof(at));	/* drops const */
	explicit_bzero(at, text.len);
	mem_drop(&at);
}
