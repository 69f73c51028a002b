/*
 * execute: process group, descriptors, directory and limits of a program.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/file_version.h"
#include "lib/buf.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/landlock.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "programs/confine.h"
#include "programs/execute.h"
#include "programs/ownership.h"
#include "programs/variables.h"

#define FILES_MODE	022		/* umask */
#define FAILED		127		/* exit status, as a shell's */

static _Noreturn void
report_failure(int failure)
{
	int	error = errno;

	(void)io_write_all(failure, &error, sizeof(error));
	_exit(FAILED);
}

/* Moves all above their places before it places one.  The numbers are small, as
 * the limit of open files may be.  All others close at the exec. */
static int
place_fds(const struct execute *e, int *failure)
{
	enum { NOTES_FD = STDERR_FILENO + 1, FAILURE_FD, END };
	int	from[END] = {
		e->input != -1 ? e->input :
		    open("/dev/null", O_RDONLY | O_CLOEXEC),
		e->output, e->errors,
		[NOTES_FD] = e->notes != -1 ? e->notes : e->connection,
		[FAILURE_FD] = *failure
	};

	for (int i = 0; i < END; i++) {
		if (from[i] == -1 && i == NOTES_FD)
			continue;
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, END);
		if (from[i] == -1)
			return -1;
	}
	for (int i = 0; i < END; i++)
		if (from[i] != -1 && dup2(from[i], i) == -1)
			return -1;
	/* The reaper's there is its pipe, which must end with the reaper. */
	if (from[NOTES_FD] == -1)
		close(NOTES_FD);
	*failure = FAILURE_FD;
	return io_cloexec(FAILURE_FD, true);
}

/* Main may have sent any descriptor that it has. */
static int
check_input(const struct execute *e)
{
	struct stat	st;

	if (e->input == -1)
		return 0;
	if (io_stat(e->input, &st) == -1)
		return -1;
	if ((st.st_mode & S_IFMT) == e->input_type)
		return 0;
	errno = EBADMSG;
	return -1;
}

/* Opens the file of a program with a directory, to see that it is beneath, and
 * a file. */
static int
check_file(const char *directory, const char *file)
{
	struct stat	st;
	int		root, fd;

	root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root == -1)
		return -1;
	fd = beneath_open(root, file, BENEATH_STAT);
	io_close(&root);
	if (fd == -1 && (errno == EXDEV || errno == ELOOP))
		errno = EACCES;
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1)
		st.st_mode = 0;
	io_close(&fd);
	if (S_ISREG(st.st_mode))
		return 0;
	errno = EACCES;
	return -1;
}

/* Returns the absolute name of the file of a program with a directory, or
 * NULL. */
static char *
find_script(const struct execute *e)
{
	const char	*directory = e->program->directory;
	struct buf	 text = { 0 };
	char		*file;

	if (e->file.len == 0 || e->file.at[0] == '/' ||
	    memchr(e->file.at, '\0', e->file.len) != NULL) {
		errno = EBADMSG;
		return NULL;
	}
	buf_add(&text, e->file.at, e->file.len);
	file = mem_string(buf_string(&text));
	if (check_file(directory, file) == -1)
		return NULL;
	text.len = 0;
	buf_addf(&text, "%s/%s", directory, file);
	free(file);
	return mem_string(buf_string(&text));
}

/* Of a program with a user of its own: the file that is executed, and the one
 * that its request is for, or NULL.  EPERM says that it is the latter. */
static int
check_owners(const struct execute *e, const char *executed, const char *file)
{
	if (e->program->user == NULL)
		return 0;
	if (ownership_check(executed, e->errors) == -1)
		return -1;
	if (file == NULL || file == executed ||
	    ownership_check(file, e->errors) == 0)
		return 0;
	if (errno == EACCES)
		errno = EPERM;
	return -1;
}

/* Returns the directory of a file, which the caller owns. */
static char *
make_directory_of(const char *file)
{
	char	*directory = mem_string(file), *slash;

	slash = strrchr(directory, '/');
	if (slash == NULL)
		strcpy(directory, ".");
	else
		slash[slash == directory] = '\0';
	return directory;
}

/* A value of 0 sets no limit; the hard limit stays where it is lower. */
static void
set_limit(int which, int64_t soft, int64_t hard)
{
	struct rlimit	limit;

	if (soft == 0 || getrlimit(which, &limit) == -1)
		return;
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > (rlim_t)hard)
		limit.rlim_max = (rlim_t)hard;
	limit.rlim_cur = limit.rlim_max < (rlim_t)soft ? limit.rlim_max :
	    (rlim_t)soft;
	(void)setrlimit(which, &limit);
}

/* Main wakes a program with each request, and would lose the processor to it
 * each time: a batch process waits until main has done what there is to do.  A
 * policy that somebody has chosen (CPUSchedulingPolicy of systemd) stays. */
static void
give_way(int nice)
{
#ifdef SCHED_BATCH
	const struct sched_param	none = { 0 };

	if (sched_getscheduler(0) == SCHED_OTHER)
		(void)sched_setscheduler(0, SCHED_BATCH, &none);
#endif
	(void)setpriority(PRIO_PROCESS, 0, nice);
}

/* A core file would be in the script's directory, and served. */
static void
set_limits(const struct conf_program *p)
{
	static const struct rlimit	none = { 0, 0 };
	int64_t				seconds = (p->cpu + 999) / 1000;

	(void)setrlimit(RLIMIT_CORE, &none);
	set_limit(RLIMIT_AS, p->memory, p->memory);
	/* SIGXCPU, and a second later SIGKILL. */
	set_limit(RLIMIT_CPU, seconds, seconds + 1);
	set_limit(RLIMIT_NOFILE, p->files, p->files);
	if (p->is_filter)
		set_limit(RLIMIT_FSIZE, p->result, p->result);
#ifdef RLIMIT_NPROC
	set_limit(RLIMIT_NPROC, p->processes, p->processes);
#endif
	give_way((int)p->nice);
	umask(FILES_MODE);
	if (p->confine != CONFINEMENT_OFF)
		proc_no_new_privileges();
}

/*
 * Before the process
 */

/* The value of a parameter of a query that main has found right; "": there is
 * none.  Returns a copy. */
static char *
copy_parameter(char *const *variables, struct str name)
{
	const char	*query = variables_get(variables, "QUERY_STRING");
	struct str	 rest = str_of(query != NULL ? query : ""), value;
	struct buf	 copy = { 0 };
	char		*text;

	while (rest.len > 0) {
		value = str_cut(&rest, '&');
		if (str_same(str_cut(&value, '='), name))
			buf_add(&copy, value.at, value.len);
	}
	text = mem_string(buf_string(&copy));
	buf_free(&copy);
	return text;
}

/* Copies an argument of a filter, with values in place of %{name}. */
static char *
fill_argument(const char *argument, char *const *variables)
{
	const char	*end;
	struct buf	 filled = { 0 };
	char		*value;

	for (; *argument != '\0'; argument++) {
		end = argument[0] == '%' && argument[1] == '{' ?
		    strchr(argument, '}') : NULL;
		if (end == NULL) {
			buf_addc(&filled, *argument);
			continue;
		}
		value = copy_parameter(variables, (struct str){ argument + 2,
		    (size_t)(end - argument) - 2 });
		buf_adds(&filled, value);
		free(value);
		argument = end;
	}
	value = mem_string(buf_string(&filled));
	buf_free(&filled);
	return value;
}

/* The command with its arguments, and the file, or the script. */
static void
make_arguments(struct execute *e, const char *script, const char *file)
{
	const struct conf_words	*command = &e->program->command;
	size_t			 n = 0;

	e->arguments = mem_array(command->n + 3, sizeof(*e->arguments));
	if (script != NULL)
		e->arguments[n++] = mem_string(script);
	for (size_t i = 0; script == NULL && i < command->n; i++)
		e->arguments[n++] = e->program->is_filter ?
		    fill_argument(command->at[i], e->variables) :
		    mem_string(command->at[i]);
	/* An interpreter without a file would take the body for a script. */
	if (script == NULL && file != NULL)
		e->arguments[n++] = mem_string(file);
}

/* The version of the files that a command names: the program, scripts.  0: one
 * is not there, or there is none.  Directories and sockets, which change as a
 * program works, do not count, nor do they in helpers/resolve.c. */
static uint64_t
sum_files(const struct conf_words *command)
{
	static const struct hash_key	no_key = { 0, 0 };
	struct job_version		v;
	struct stat			st;
	uint64_t			sum = 0;

	for (size_t i = 0; i < command->n; i++) {
		if (command->at[i][0] != '/')
			continue;
		if (stat(command->at[i], &st) == -1)
			return 0;
		if (!S_ISREG(st.st_mode))
			continue;
		v = file_version_of(&st);
		sum = hash_bytes(&no_key, sum, &v, sizeof(v));
	}
	return sum;
}

/* The files that make up what answers: those of a FASTCGI that stays. */
static uint64_t
find_version(const struct conf_program *p)
{
	const struct conf_program	*of = p->application != NULL ?
					    p->application : p;

	return of->protocol == CONF_FASTCGI ? sum_files(&of->command) : 0;
}

static int
prepare_file(struct execute *e, const char *script)
{
	const char	*file = script;

	e->variables = variables_make(e->conf, e->program, e->environment,
	    script);
	if (e->variables == NULL)
		return -1;
	if (script == NULL)
		file = variables_get(e->variables, "SCRIPT_FILENAME");
	make_arguments(e, script, file);
	e->directory = make_directory_of(file != NULL ? file :
	    e->arguments[0]);
	return check_owners(e, e->arguments[0], file);
}

int
execute_prepare(struct execute *e)
{
	char	*script = NULL;
	int	 result = -1;

	e->is_script = e->program->command.n == 0;
	e->rules = -1;
	e->version = find_version(e->program);
	if (e->expected != 0 && e->version != 0 &&
	    e->version != e->expected) {
		errno = ESTALE;
		return -1;
	}
	if (check_input(e) == 0)
		script = e->is_script ? find_script(e) : NULL;
	else
		return -1;
	if (script != NULL || !e->is_script)
		result = prepare_file(e, script);
	free(script);
	return result == 0 ? confine_prepare(e->conf, e->program, &e->rules) :
	    -1;
}

void
execute_clear(struct execute *e)
{
	int	error = errno;

	for (char **at = e->arguments; at != NULL && *at != NULL; at++)
		free(*at);
	mem_drop(&e->arguments);
	if (e->variables != NULL)
		variables_free(&e->variables);
	mem_drop(&e->directory);
	io_close(&e->rules);
	errno = error;
}

/*
 * In the process
 */

_Noreturn void
execute_program(const struct execute *e, pid_t parent, int failure)
{
	setpgid(0, 0);
	proc_die_with_parent(parent);
	if (place_fds(e, &failure) == -1 || chdir(e->directory) == -1)
		report_failure(failure);
	set_limits(e->program);
	if (e->rules != -1 && landlock_enter(e->rules) == -1)
		report_failure(failure);
	proc_signals_unblock();
	execve(e->arguments[0], e->arguments, e->variables);
	/* The script is there, as check_file() has seen; its interpreter is
	 * not. */
	if (e->is_script && errno == ENOENT)
		errno = ENOEXEC;
	report_failure(failure);
}
