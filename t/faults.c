/*
 * faults: what somebody would do who has taken over a process of amped's.
 *
 * It is linked to amped and amped-helper as they are, objects and all, by
 * having the linker call it in place of recv() and job_perform(): so there is
 * nothing of it in the programs that are installed.  A request for /main/WHAT/X
 * has main do it, one for /helper/WHAT/X whoever does jobs; what came of it is
 * in the error log.
 */
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/job.h"
#include "lib/log.h"

#define LINE	200			/* bytes of what was found */
#define DESCRIPTORS	1024		/* above all that a helper has */

extern char	**environ;

ssize_t	__real_recv(int, void *, size_t, int);
ssize_t	__wrap_recv(int, void *, size_t, int);
void	__real_job_perform(struct job *);
void	__wrap_job_perform(struct job *);

static int	client = STDIN_FILENO;	/* main's last; a helper's is main */

/* Each is given what stands behind its name, from the slash on, and room for
 * what it finds: 0, or -1 with errno. */

static int
do_read(const char *path, char line[LINE])
{
	int	fd = open(path, O_RDONLY);
	ssize_t	n = fd == -1 ? -1 : read(fd, line, LINE - 1);

	if (n == -1)
		return -1;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	close(fd);
	return 0;
}

static int
do_list(const char *path, char line[LINE])
{
	DIR	*dir = opendir(path);

	(void)line;
	return dir == NULL || readdir(dir) == NULL ? -1 : closedir(dir);
}

static int
do_look(const char *path, char line[LINE])
{
	struct stat	st;

	if (stat(path, &st) == -1)
		return -1;
	snprintf(line, LINE, "%lld bytes", (long long)st.st_size);
	return 0;
}

static int
do_write(const char *path, char line[LINE])
{
	int	fd = open(path, O_WRONLY | O_CREAT, 0600);

	(void)line;
	return fd == -1 ? -1 : close(fd);
}

static int
do_chmod(const char *path, char line[LINE])
{
	(void)line;
	return chmod(path, 0600);
}

static int
do_unlink(const char *path, char line[LINE])
{
	(void)line;
	return unlink(path);
}

static int
do_run(const char *path, char line[LINE])
{
	char	 shell[] = "sh", c[] = "-c", command[LINE * 2];
	char	*arguments[] = { shell, c, command, NULL };

	(void)line;
	snprintf(command, sizeof(command), "echo run > '%s'", path);
	/* Keeps the pipes: whose are closed is killed, before the shell writes. */
	for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS; fd++)
		(void)fcntl(fd, F_SETFD, 0);
	return execve("/bin/sh", arguments, environ);
}

static int
do_fork(const char *nothing, char line[LINE])
{
	pid_t	pid = fork();
	int	status;

	(void)nothing;
	(void)line;
	if (pid == 0)
		_exit(0);
	return pid == -1 ? -1 : waitpid(pid, &status, 0) == pid ? 0 : -1;
}

static int
do_connect(const char *port, char line[LINE])
{
	struct sockaddr_in	sin = { .sin_family = AF_INET,
				    .sin_port = htons((in_port_t)atoi(port + 1)),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int			fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)line;
	return fd == -1 ? -1 : connect(fd, (struct sockaddr *)&sin,
	    sizeof(sin)) == -1 ? -1 : close(fd);
}

static int
do_kill(const char *pid, char line[LINE])
{
	(void)line;
	return kill(atoi(pid + 1), SIGCONT);
}

/* A descriptor that is to send a signal to that process: the three parts of
 * it, and whichever other way there is to say them. */
static int
do_own(const char *pid, char line[LINE])
{
	(void)line;
	return fcntl(STDERR_FILENO, F_SETOWN, atoi(pid + 1));
}

static int
do_own_by_ioctl(const char *pid, char line[LINE])
{
	int	whom = atoi(pid + 1);

	(void)line;
	return ioctl(client, FIOSETOWN, &whom);
}

static int
do_signal(const char *signal, char line[LINE])
{
	(void)line;
	return fcntl(STDERR_FILENO, F_SETSIG, atoi(signal + 1));
}

static int
do_async(const char *nothing, char line[LINE])
{
	(void)nothing;
	(void)line;
	return fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) |
	    O_ASYNC);
}

static int
do_protocol(const char *nothing, char line[LINE])
{
	char	name[] = "tls";

	(void)nothing;
	(void)line;
	if (setsockopt(client, IPPROTO_TCP, TCP_ULP, name, sizeof(name)) == 0)
		return 0;
	/* It has looked whether there is such a thing. */
	return errno == ENOENT || errno == EOPNOTSUPP ? 0 : -1;
}

static int
do_filter(const char *nothing, char line[LINE])
{
	struct sock_filter	all = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	struct sock_fprog	program = { .len = 1, .filter = &all };
	int			nothing_of_it = 0;

	(void)nothing;
	(void)line;
	if (setsockopt(client, SOL_SOCKET, SO_ATTACH_FILTER, &program,
	    sizeof(program)) == 0)
		return 0;
	/* Some systems want a privilege for that, but none to undo it. */
	return setsockopt(client, SOL_SOCKET, SO_DETACH_FILTER,
	    &nothing_of_it, sizeof(nothing_of_it)) == -1 && errno != ENOENT ?
	    -1 : 0;
}

static int
do_limit(const char *pid, char line[LINE])
{
	struct rlimit	limit;

	(void)line;
	return prlimit(atoi(pid + 1), RLIMIT_NOFILE, NULL, &limit);
}

static int
do_execute(const char *nothing, char line[LINE])
{
	void	*at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)nothing;
	(void)line;
	return at == MAP_FAILED ? -1 : munmap(at, 4096);
}

/* By main's descriptor, which helpers have, too; -1: there is none. */
static int
add_watch(const char *path, int *notify)
{
	int	number = -1;

	for (*notify = 3; *notify < 64 && number == -1; ++*notify)
		number = inotify_add_watch(*notify, path, IN_MODIFY);
	--*notify;
	return number;
}

static int
do_watch(const char *path, char line[LINE])
{
	int	notify;

	(void)line;
	return add_watch(path, &notify) == -1 ? -1 : 0;
}

static int
do_unwatch(const char *nothing, char line[LINE])
{
	int	notify, number = add_watch("/", &notify);

	(void)nothing;
	(void)line;
	return inotify_rm_watch(notify, number);
}

static const struct fault {
	const char	*name;
	int		(*run)(const char *, char[LINE]);
} faults[] = {
	{ "read", do_read }, { "list", do_list }, { "look", do_look },
	{ "write", do_write }, { "chmod", do_chmod }, { "unlink", do_unlink },
	{ "run", do_run }, { "fork", do_fork }, { "connect", do_connect },
	{ "kill", do_kill }, { "execute", do_execute }, { "own", do_own },
	{ "own-by-ioctl", do_own_by_ioctl }, { "signal", do_signal },
	{ "async", do_async }, { "protocol", do_protocol },
	{ "filter", do_filter }, { "limit", do_limit },
	{ "watch", do_watch }, { "unwatch", do_unwatch },
};

/* What is asked for behind the prefix; false: nothing of ours. */
static bool
perform(const char *asked)
{
	char	line[LINE] = "";
	size_t	n = strcspn(asked, "/");

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (strlen(faults[i].name) != n ||
		    strncmp(faults[i].name, asked, n) != 0)
			continue;
		log_notice("fault begins: %s", asked);
		if (faults[i].run(asked + n, line) == 0)
			log_notice("fault done: %s: %s", asked, line);
		else
			log_notice("fault failed: %s: %s", asked,
			    strerror(errno));
		return true;
	}
	return false;
}

ssize_t
__wrap_recv(int fd, void *to, size_t size, int flags)
{
	static const char	prefix[] = "GET /main/";
	ssize_t			n = __real_recv(fd, to, size, flags);
	char			asked[LINE];
	size_t			begin = sizeof(prefix) - 1;

	client = n > 0 ? fd : client;
	if (n <= (ssize_t)begin || memcmp(to, prefix, begin) != 0)
		return n;
	snprintf(asked, sizeof(asked), "%.*s", (int)strcspn((char *)to + begin,
	    " "), (char *)to + begin);
	return perform(asked) ? 0 : n;
}

void
__wrap_job_perform(struct job *job)
{
	static const char	prefix[] = "helper/";

	if (job->kind == JOB_RESOLVE && strncmp(job->find.path, prefix,
	    sizeof(prefix) - 1) == 0)
		(void)perform(job->find.path + sizeof(prefix) - 1);
	__real_job_perform(job);
}
