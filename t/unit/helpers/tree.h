/*
 * tree: a tree of files in a temporary directory, for tests of code that opens
 * files.  All users may enter the directory.
 */
#ifndef T_UNIT_HELPERS_TREE_H
#define T_UNIT_HELPERS_TREE_H

#ifdef __linux__
#include <sys/prctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

static char	tree_top[64];

/* The path of a name in the tree; valid for a few calls. */
static inline const char *
tree_path(const char *name)
{
	static char	 ring[4][256];
	static unsigned	 turn;
	char		*path = ring[turn++ % 4];

	snprintf(path, sizeof(ring[0]), "%s/%s", tree_top, name);
	return path;
}

static inline void
tree_file(const char *name, const char *text, mode_t mode)
{
	int	fd = open(tree_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

/* The text of a file, up to its first NUL; valid until the next call. */
static inline const char *
tree_text(const char *name)
{
	static char	 text[4096];
	FILE		*f = fopen(tree_path(name), "r");

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static inline void
tree_dir(const char *name, mode_t mode)
{
	ck_assert_int_eq(mkdir(tree_path(name), 0700), 0);
	ck_assert_int_eq(chmod(tree_path(name), mode), 0);
}

static inline void
tree_link(const char *target, const char *name)
{
	ck_assert_int_eq(symlink(target, tree_path(name)), 0);
}

/* Sets the owner, of a link itself too; only as root. */
static inline void
tree_own(const char *name, uid_t owner)
{
	ck_assert_int_eq(fchownat(AT_FDCWD, tree_path(name), owner, (gid_t)-1,
	    AT_SYMLINK_NOFOLLOW), 0);
}

static inline void
tree_fifo(const char *name)
{
	ck_assert_int_eq(mkfifo(tree_path(name), 0666), 0);
}

static inline void
tree_socket(const char *name)
{
	struct sockaddr_un	sun = { .sun_family = AF_UNIX };
	int			sock = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", tree_top, name);
	ck_assert_int_eq(bind(sock, (struct sockaddr *)&sun, sizeof(sun)), 0);
	close(sock);
}

static inline void
tree_begin(void)
{
	snprintf(tree_top, sizeof(tree_top), "/tmp/amped-unit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(tree_top));
	ck_assert_int_eq(chmod(tree_top, 0755), 0);
}

static inline int
tree_remove(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static inline void
tree_end(void)
{
	nftw(tree_top, tree_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * Starts a process that swaps pairs of names until it is killed, or the caller
 * dies.
 */
static inline pid_t
tree_swap(const char *const (*pairs)[2], size_t n)
{
	pid_t	parent = getpid(), child = fork();

	if (child != 0)
		return child;
	while (getppid() == parent)
		for (size_t i = 0; i < n; i++)
			renameat2(AT_FDCWD, tree_path(pairs[i][0]), AT_FDCWD,
			    tree_path(pairs[i][1]), RENAME_EXCHANGE);
	_exit(0);
}

/* Gives up root for the rest of this process, as root may read all files. */
static inline void
tree_be_nobody(void)
{
	if (geteuid() == 0)
		ck_assert_int_eq(setuid(65534), 0);
#ifdef __linux__
	prctl(PR_SET_DUMPABLE, 1);	/* for leak checkers */
#endif
}

#ifdef __linux__
/* Makes a system call fail for the rest of this process. */
static inline void
tree_forbid(unsigned call, int error)
{
	struct sock_filter	code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog	program = { .len = 4, .filter = code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	    0);
}
#endif

/* The number of open descriptors, to find leaks. */
static inline int
tree_descriptors(void)
{
	int	n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

#endif
