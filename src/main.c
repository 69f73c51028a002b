/*
 * main: reads options and the conf, opens what needs privileges, and becomes
 * the monitor.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "admin/directory.h"
#include "admin/explain_url.h"
#include "admin/needs.h"
#include "arch/arch.h"
#include "arch/budget.h"
#include "conf/conf.h"
#include "conf/value.h"
#include "lib/buf.h"
#include "lib/compiler.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/options.h"
#include "lib/proc.h"
#include "lib/user.h"
#include "monitor/control_server.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/program_managers.h"
#include "monitor/roots.h"
#include "monitor/socket_files.h"
#include "shared/listener.h"
#include "stats/rows.h"

#define HELPER_NAME	"amped-helper"

#ifdef __clang__
#define COMPILER	__VERSION__
#else
#define COMPILER	"gcc " __VERSION__
#endif

struct options {
	const char		*file;		/* -f */
	const char		*arch;		/* -A */
	const char		*address;	/* -l */
	const char		*directory;	/* the argument */
	bool			 foreground;	/* -D */
	bool			 test, dump;	/* -t, -T */
	bool			 quiet;		/* -q */
	const char		*helper;	/* the file of amped-helper */
	struct explain_request	 explain;	/* -u, -H, -c */
};

static const struct options_row	option_table[] = {
	{ 'A', NULL, "architecture",
	    "Serves in this architecture, not in that of the conf." },
	{ 'C', NULL, NULL, "Lists all metrics, one a line." },
	{ 'c', NULL, "address",
	    "With -u: the client's address, not 127.0.0.1." },
	{ 'D', NULL, NULL, "Stays in the foreground, for a supervisor." },
	{ 'f', NULL, "file", "Reads this conf, not " AMPED_CONF "." },
	{ 'H', NULL, "field",
	    "With -u: a field of the request, as \"Accept: text/html\"." },
	{ 'L', NULL, NULL, "Lists all directives of the conf, one a line." },
	{ 'l', NULL, "address:port",
	    "Serves a directory there, not on " DIRECTORY_ADDRESS "." },
	{ 'q', NULL, NULL, "With -t or -T: prints warnings and errors only." },
	{ 'T', NULL, NULL,
	    "Checks the conf, and prints all settings, with their origin." },
	{ 't', NULL, NULL, "Checks the conf, and exits." },
	{ 'u', NULL, "URL",
	    "Explains how the server would answer this URL." },
	OPTIONS_COMMON
};

static _Noreturn void
usage(int status)
{
	FILE	*out = status == 0 ? stdout : stderr;

	fprintf(out,
	    "usage: amped [-A architecture] [-l address:port] directory\n"
	    "       amped [-D] [-A architecture] [-f file]\n"
	    "       amped -t | -T [-q] [-A architecture] [-f file]\n"
	    "       amped -u URL [-H field] ... [-c address] "
	    "[-f file | directory]\n"
	    "       amped -C | -L | -V | -h\n");
	if (status == 0) {
		fputc('\n', out);
		options_print(out, option_table);
	} else
		fputs("amped -h explains the options\n", out);
	exit(status);
}

static void
print_version(void)
{
	printf("amped %s\n", PACKAGE_VERSION);
	printf("compiler: %s%s\n", COMPILER,
	    COMPILER_ASAN || COMPILER_TSAN ? ", with sanitizers" : "");
	printf("libraries: %s\n", AMPED_LIBRARIES);
	printf("architectures:");
#define X(id, name) printf(" %s", name);
	CONF_ARCHITECTURES(X)
#undef X
	printf("\nconf: %s\nhelper: %s\n", AMPED_CONF,
	    AMPED_LIBEXEC "/" HELPER_NAME);
}

static void
print_and_exit(int option)
{
	switch (option) {
	case 'C':
		stats_list(stdout);
		break;
	case 'L':
		conf_dump_table(stdout);
		break;
	case 'V':
		print_version();
		break;
	default:
		usage(0);
	}
	exit(0);
}

static _Noreturn void
usage_error(const char *why)
{
	fprintf(stderr, "amped: %s\n", why);
	usage(EX_USAGE);
}

static void
add_field(struct explain_request *q, char *field)
{
	if (strpbrk(field, "\r\n") != NULL || strchr(field, ':') == NULL)
		usage_error("-H takes one field, as \"Accept: text/html\"");
	q->fields = mem_grow(q->fields, q->nfields + 1, sizeof(q->fields[0]));
	q->fields[q->nfields++] = field;
}

/* Options that make no sense together are an error. */
static void
check_options(const struct options *o)
{
	if (o->directory != NULL && o->file != NULL)
		usage_error("a directory is served without a conf: leave out "
		    "-f or the directory");
	if (o->address != NULL && o->file != NULL)
		usage_error("-l is for a directory: with -f, \"listen\" in the "
		    "conf names the addresses");
	if (o->address != NULL && o->directory == NULL)
		usage_error("-l is for a directory: name the one to serve, as "
		    "amped -l 8080 .");
	if (o->explain.url != NULL && (o->test || o->dump))
		usage_error("-u explains one URL: -t and -T are other "
		    "commands");
	if (o->quiet && !o->test && !o->dump)
		usage_error("-q is for -t and -T");
	if (o->explain.url == NULL && (o->explain.nfields > 0 ||
	    o->explain.client != NULL))
		usage_error("-H and -c are for -u");
}

static void
parse_options(int argc, char **argv, struct options *o)
{
	int	option;

	while ((option = options_next(argc, argv, option_table, false)) != -1)
		switch (option) {
		case 'A':
			o->arch = optarg;
			break;
		case 'D':
			o->foreground = true;
			break;
		case 'H':
			add_field(&o->explain, optarg);
			break;
		case 'T':
			o->dump = true;
			break;
		case 'c':
			o->explain.client = optarg;
			break;
		case 'f':
			o->file = optarg;
			break;
		case 'l':
			o->address = optarg;
			break;
		case 'q':
			o->quiet = true;
			break;
		case 't':
			o->test = true;
			break;
		case 'u':
			o->explain.url = optarg;
			break;
		case '?':
			usage(EX_USAGE);
		default:
			print_and_exit(option);
		}
	if (argc - optind > 1)
		usage_error("one directory can be served: a conf has more, "
		    "and -f names it");
	o->directory = argv[optind];
	check_options(o);
}

/* The architecture of that name; -1 for NULL.  Exits if there is none. */
static int
find_architecture(const char *name)
{
	static const char *const names[] = {
#define X(id, text) [ARCHITECTURE_##id] = text,
		CONF_ARCHITECTURES(X)
#undef X
	};

	if (name == NULL)
		return -1;
	for (int i = 0; i < ARCHITECTURE_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	fprintf(stderr, "amped: no architecture is called \"%s\"; there are:",
	    name);
	for (int i = 0; i < ARCHITECTURE_COUNT; i++)
		fprintf(stderr, " %s", names[i]);
	fprintf(stderr, "\n");
	exit(EX_USAGE);
}

/* Exits if the conf cannot be opened. */
static void
check_conf_file(const struct options *o)
{
	const char	*file = o->file != NULL ? o->file : AMPED_CONF;

	if (faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) == 0)
		return;
	fprintf(stderr, "amped: cannot read %s: %s%s\n", file,
	    strerror(errno), o->file != NULL ? "" : "; -f names another conf, "
	    "and \"amped DIRECTORY\" serves a directory without one");
	exit(EX_CONFIG);
}

static struct conf *
read_conf(const struct options *o)
{
	struct buf	 errors = { 0 };
	struct conf	*conf;

	if (o->directory != NULL) {
		directory_check(o->directory);
		conf = directory_conf(o->directory, o->address);
	} else {
		check_conf_file(o);
		conf = conf_read(o->file != NULL ? o->file : AMPED_CONF,
		    &errors);
	}
	if (conf == NULL) {
		fputs(buf_string(&errors), stderr);
		exit(EX_CONFIG);
	}
	arch_choose(conf, find_architecture(o->arch));
	if (!arch_check(conf, &errors)) {
		fprintf(stderr, "amped: %s", buf_string(&errors));
		exit(EX_CONFIG);
	}
	buf_free(&errors);
	return conf;
}

/* Finds the helper program: beside this program, as in the build directory, or
 * where it is installed. */
static const char *
find_helper(const char *argv0)
{
	static char	 path[PATH_MAX];
	ssize_t		 n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char		*slash;

	if (n > 0)
		path[n] = '\0';
	else if (strchr(argv0, '/') == NULL || realpath(argv0, path) == NULL)
		path[0] = '\0';
	slash = strrchr(path, '/');
	if (slash != NULL && (size_t)(slash - path) + sizeof(HELPER_NAME) + 1 <
	    sizeof(path)) {
		strcpy(slash + 1, HELPER_NAME);
		if (access(path, X_OK) == 0)
			return path;
	}
	return AMPED_LIBEXEC "/" HELPER_NAME;
}

/* Opens the helper program, which the user of helpers and loggers executes. */
static int
open_helper(const char *path, const struct user *user)
{
	int	fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		log_error("cannot find " HELPER_NAME " beside this program "
		    "nor in " AMPED_LIBEXEC ": install it, or start amped "
		    "from where it was built");
	else if (!proc_may_execute(user, fd))
		log_errorx("%s%s may not execute %s: chmod 755 it",
		    user->name != NULL ? "user " : "this user",
		    user->name != NULL ? user->name : "", path);
	else
		return fd;
	exit(EX_OSFILE);
}

/* The generation that has opened its sockets. */
static const struct generation	*opened;

/* Ends amped before it has served. */
static _Noreturn void
exit_early(int status)
{
	if (opened != NULL)
		socket_files_drop(opened);
	pidfile_end(&prepared.pidfile);
	exit(status);
}

/* Opens a log.  For standard error that is a copy of the descriptor that amped
 * was started with, because descriptor 2 may be the predecessor's. */
static int
open_log(const char *file)
{
	int	fd;

	if (logs_target(file) != LOGS_FILE)
		return standard_error_copy(logs_target(file));
	fd = logs_open(file);
	if (fd == -1) {
		log_error("cannot open the log %s: make it writable, or name "
		    "another one in block log", file);
		exit_early(EX_CANTCREAT);
	}
	return fd;
}

/* Chooses the user that main and the helpers become if amped runs as root. */
static void
choose_user(struct generation *g, const struct options *o)
{
	if (generation_choose_user(g) == -1)
		exit(EX_NOUSER);
	user_load_groups(&g->user);
	if (o->directory != NULL)
		directory_choose_user(o->directory, &g->user);
}

/* Prints the addresses of all sites, each once. */
static void
print_addresses(const struct conf *conf, FILE *out)
{
	const char	*text, *before = NULL;

	for (size_t i = 0; i < conf_listener_count(conf); i++) {
		text = conf_listener(conf, i)->text;
		/* "*:80" is two listeners with the same text. */
		if (before == NULL || strcmp(before, text) != 0)
			fprintf(out, "%s %s", before != NULL ? "," : "", text);
		before = text;
	}
}

/* Says what is in a conf without errors. */
static void
print_summary(const struct conf *conf, const struct options *o)
{
	const char	*file = o->file != NULL ? o->file : AMPED_CONF;

	fprintf(stderr, "amped: %s is fine: %zu site%s on",
	    o->directory != NULL ? "the command line" : file, conf->nsites,
	    conf->nsites == 1 ? "" : "s");
	print_addresses(conf, stderr);
	fprintf(stderr, "\n");
}

/* Tells who has started amped at a terminal that it serves in the background;
 * a program that has started it gets nothing. */
static void
tell_started(pid_t monitor)
{
	FILE	*out = isatty(STDERR_FILENO) ? stderr : stdout;
	bool	 is_default = strcmp(prepared.conf_file, AMPED_CONF) == 0;

	if (!isatty(fileno(out)))
		return;
	fprintf(out, "amped: serving %s on", prepared.conf_file);
	print_addresses(opened->conf, out);
	fprintf(out, ", in the background as process %d; to stop it: ",
	    (int)monitor);
	if (opened->conf->control.file != NULL)
		fprintf(out, "ampedctl %s%s%sstop\n", is_default ? "" : "-f ",
		    is_default ? "" : prepared.conf_file,
		    is_default ? "" : " ");
	else
		fprintf(out, "kill %d\n", (int)monitor);
	fflush(out);
}

/* The file's absolute path, valid in any directory. */
static const char *
make_absolute(const char *file)
{
	char	 dir[PATH_MAX];
	char	*path;

	if (file[0] == '/' || getcwd(dir, sizeof(dir)) == NULL ||
	    asprintf(&path, "%s/%s", dir, file) == -1)
		return file;
	return path;
}

/* -t: beside the errors of the conf, finds what keeps amped from starting and
 * main from serving. */
static int
check_conf(struct generation *g, const struct options *o)
{
	int	status = generation_choose_user(g) == -1 ? EX_NOUSER : 0;

	if (status == 0 && program_managers_check(g->conf) == -1)
		status = EX_NOPERM;
	if (status == 0)
		close(open_helper(o->helper, &g->user));
	if (status == 0 && !roots_check_start(g))
		status = EX_CONFIG;
	if (status == 0 && o->directory == NULL)
		needs_unit_check(g->conf, make_absolute(o->file != NULL ?
		    o->file : AMPED_CONF), "");
	if (status == 0 && !o->quiet)
		print_summary(g->conf, o);
	generation_free(&g);
	return status;
}

/* -u: explains with the privileges that main serves with. */
static int
explain_request(struct generation *g, struct options *o)
{
	struct buf	 wrong = { 0 };
	const char	*why;

	choose_user(g, o);
	if (g->conf->nchains > 0)
		o->explain.managers = program_managers_lend(g);
	if (user_become(&g->user) == -1)
		fatal("cannot become user %s", g->user.name);
	why = explain_url_answer(&o->explain, g->conf, &wrong, stdout);
	if (why != NULL)
		fprintf(stderr, "amped: %s\n", why);
	buf_free(&wrong);
	mem_drop(&o->explain.managers);
	mem_drop(&o->explain.fields);
	generation_free(&g);
	return why != NULL ? EX_DATAERR : 0;
}

/* Opens all that needs privileges; in the foreground, so that errors appear
 * where amped was started. */
static void
open_all(struct generation *g, const struct options *o)
{
	const struct inherited	*h = &prepared.inherited;
	const struct listeners	 passed = { .passed = h->sockets,
				    .npassed = h->nsockets };
	enum logs_target	 target;
	const char		*name;

	if (roots_check_sandbox(g->conf) == -1)
		exit(EX_UNAVAILABLE);
	choose_user(g, o);
	prepared.helper = open_helper(o->helper, &g->user);
	if (program_managers_check(g->conf) == -1)
		exit(EX_NOPERM);
	roots_check(g);
	/* Signals wait from here on until the monitor handles them. */
	proc_signals_block();
	if (g->conf->pid != NULL && pidfile_lock(&prepared.pidfile,
	    g->conf->pid, h->pidfile) == -1)
		exit(errno == EWOULDBLOCK ? EX_UNAVAILABLE : EX_CANTCREAT);
	g->listeners = listener_open(g->conf, &passed, &g->nlisteners);
	if (g->listeners == NULL)
		exit_early(EX_UNAVAILABLE);
	opened = g;
	upgrade_warn_unused(g);
	standard_error_open(o->directory == NULL && !o->foreground);
	if (!standard_error_is_allowed(g->conf))
		exit_early(EX_UNAVAILABLE);
	for (size_t i = 0; i < g->naccess_logs; i++) {
		name = g->conf->log.all.targets[i];
		target = logs_target(name);
		if (target == LOGS_FILE || target == LOGS_STDERR ||
		    target == LOGS_STDOUT)
			g->access_logs[i] = open_log(name);
	}
	prepared.error_log = open_log(g->conf->log.error.to);
	prepared.descriptors = proc_raise_fd_limit();
	if (!budget_suffices(g->conf, g->nlisteners, prepared.descriptors))
		exit_early(EX_OSERR);
	/* Last: its file would stay if a later step failed. */
	if (control_server_prepare(g->conf, h->old_monitor != -1) == -1)
		exit_early(EX_UNAVAILABLE);
}

static void
add_argument(size_t *n, const char *option, const char *value)
{
	const char	*words[] = { option, value };

	for (size_t i = 0; i < 2; i++) {
		if (words[i] == NULL)
			continue;
		prepared.arguments[(*n)++] = mem_string(words[i]);
	}
}

/* Sets the arguments with which an upgrade starts the new program: the same
 * options, valid in any directory. */
static void
set_arguments(const struct options *o)
{
	size_t	n = 0;

	prepared.arguments = mem_array(12, sizeof(prepared.arguments[0]));
	add_argument(&n, prepared.program, NULL);
	if (o->arch != NULL)
		add_argument(&n, "-A", o->arch);
	if (o->directory == NULL) {
		add_argument(&n, "-D", "-f");
		add_argument(&n, prepared.conf_file, NULL);
		return;
	}
	if (o->address != NULL)
		add_argument(&n, "-l", o->address);
	add_argument(&n, "--", make_absolute(o->directory));
}

static int
run_server(struct generation *g, const struct options *o)
{
	sd_notify_open(&prepared.notify);
	prepared.pidfile.fd = prepared.daemon_pipe = -1;
	prepared.architecture = o->arch != NULL ? g->conf->architecture : -1;
	prepared.conf_file = make_absolute(o->file != NULL ? o->file :
	    AMPED_CONF);
	set_arguments(o);
	open_all(g, o);
	if (o->directory != NULL) {
		prepared.announce = stdout;
		prepared.served = o->directory;
	} else if (!o->foreground) {
		if (proc_daemon(&prepared.daemon_pipe, tell_started) == -1)
			fatal("cannot go into the background; -D stays in the "
			    "foreground");
	}
	log_init("monitor", (enum log_level)g->conf->log.error_level);
	/* Until there is an error logger; an old monitor's goes on for us. */
	if (prepared.inherited.old_monitor == -1 &&
	    dup2(prepared.error_log, STDERR_FILENO) == -1)
		fatal("cannot write to the error log");
	for (size_t i = 0; i < g->naccess_logs; i++)
		logs_use_handle(&g->access_logs[i]);
	logs_use_handle(&prepared.error_log);
	logs_use_handle(&prepared.standard_error.fd);
	proc_title_of("amped: monitor", o->directory != NULL ?
	    make_absolute(o->directory) : prepared.conf_file);
	return monitor_run(g);
}

int
main(int argc, char **argv)
{
	struct options	 o = { .helper = find_helper(argv[0]) };
	struct conf	*conf;

	conf_program_set_helper(o.helper);
	proc_open_standard_fds();
	proc_title_init(argc, argv);
	log_init("amped", LOG_LEVEL_NOTICE);
	/* First: later descriptors could get the inherited ones' numbers. */
	upgrade_inherit(&prepared.inherited);
	prepared.program = proc_path(argv[0]);
	parse_options(argc, argv, &o);
	if (o.foreground && !isatty(STDERR_FILENO))
		conf_value_allow_missing_logs();
	conf = read_conf(&o);
	conf_value_end_missing_logs();
	if (o.dump) {
		conf_dump(conf, stdout);
		arch_print(conf, stdout);
	}
	if (o.test)
		return check_conf(generation_new(conf), &o);
	if (o.dump) {
		conf_free(&conf);
		return 0;
	}
	if (o.explain.url != NULL)
		return explain_request(generation_new(conf), &o);
	/* Children must not inherit further descriptors.  Only now: the conf
	 * may be read from one of them (/dev/fd). */
	proc_close_from(prepared.inherited.end_fd);
	return run_server(generation_new(conf), &o);
}
