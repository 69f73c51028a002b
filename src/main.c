/*
 * main: options, the conf, what must be open before privileges go; then the
 * monitor.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/listener.h"
#include "arch/question.h"
#include "conf.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor.h"
#include "stats.h"

#ifndef AMPED_CONF
#define AMPED_CONF	"/etc/amped/amped.conf"
#endif
#ifndef AMPED_LIBEXEC
#define AMPED_LIBEXEC	"/usr/libexec/amped"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION	"unknown"
#endif

#define HELPER	"amped-helper"

/* With less, some process of ours finds none for what it cannot do without,
 * and cannot even say so. */
#define DESCRIPTORS_LEAST	40

struct options {
	const char	*file;		/* -f */
	const char	*arch;		/* -A */
	const char	*address;	/* -l */
	const char	*directory;	/* the argument */
	bool		 foreground;	/* -D */
	bool		 test, dump;	/* -t, -T */
	struct question	 question;	/* -u, -H */
};

static _Noreturn void
usage(int status)
{
	fprintf(status == 0 ? stdout : stderr,
	    "usage: amped [-A architecture] [-l address:port] directory\n"
	    "       amped [-D] [-A architecture] [-f file]\n"
	    "       amped -t | -T [-A architecture] [-f file]\n"
	    "       amped -u URL [-H field] ... [-c address] "
	    "[-f file | directory]\n"
	    "       amped -C | -L | -V | -h\n");
	exit(status);
}

static void
only_words(int option)
{
	switch (option) {
	case 'C':
		stats_list(stdout);
		break;
	case 'L':
		conf_list(stdout);
		break;
	case 'V':
		printf("amped %s\n", PACKAGE_VERSION);
		break;
	default:
		usage(0);
	}
	exit(0);
}

static void
add_field(struct question *q, char *field)
{
	if (strpbrk(field, "\r\n") != NULL || strchr(field, ':') == NULL)
		usage(EX_USAGE);
	q->fields = mem_grow(q->fields, q->nfields + 1, sizeof(q->fields[0]));
	q->fields[q->nfields++] = field;
}

static void
parse(int argc, char **argv, struct options *o)
{
	int	option;

	while ((option = getopt(argc, argv, "A:CDH:LTVc:f:hl:tu:")) != -1)
		switch (option) {
		case 'A':
			o->arch = optarg;
			break;
		case 'D':
			o->foreground = true;
			break;
		case 'H':
			add_field(&o->question, optarg);
			break;
		case 'T':
			o->dump = true;
			break;
		case 'c':
			o->question.client = optarg;
			break;
		case 'f':
			o->file = optarg;
			break;
		case 'l':
			o->address = optarg;
			break;
		case 't':
			o->test = true;
			break;
		case 'u':
			o->question.url = optarg;
			break;
		case '?':
			usage(EX_USAGE);
		default:
			only_words(option);
		}
	if (argc - optind > 1)
		usage(EX_USAGE);
	o->directory = argv[optind];
	if ((o->directory != NULL && o->file != NULL) ||
	    (o->directory == NULL && o->address != NULL) ||
	    (o->question.url == NULL && (o->question.nfields > 0 ||
	    o->question.client != NULL)))
		usage(EX_USAGE);
}

/* A word of the conf in quotes. */
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

/* "amped DIR" is a conf too, just not in a file. */
static struct conf *
conf_for_directory(const struct options *o, struct buf *complaints)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_adds(&text, "site default {\nlisten ");
	add_quoted(&text, o->address != NULL ? o->address : "127.0.0.1:8080");
	buf_adds(&text, "\nroot ");
	add_quoted(&text, o->directory);
	buf_adds(&text, "\n}\n");
	conf = conf_read_text("command line", buf_string(&text), complaints);
	buf_free(&text);
	return conf;
}

static void
choose_architecture(struct conf *conf, const char *name)
{
	static const char *const names[] = {
#define X(id, text) [ARCHITECTURE_##id] = text,
		CONF_ARCHITECTURES(X)
#undef X
	};

	for (int i = 0; name != NULL && i < ARCHITECTURE_COUNT; i++)
		if (strcmp(names[i], name) == 0) {
			conf->architecture = i;
			return;
		}
	if (name == NULL)
		return;
	fprintf(stderr, "amped: no architecture is called \"%s\"; there are:",
	    name);
	for (int i = 0; i < ARCHITECTURE_COUNT; i++)
		fprintf(stderr, " %s", names[i]);
	fprintf(stderr, "\n");
	exit(EX_USAGE);
}

static struct conf *
read_conf(const struct options *o)
{
	struct buf	 complaints = { 0 };
	struct conf	*conf;

	conf = o->directory != NULL ? conf_for_directory(o, &complaints) :
	    conf_read(o->file != NULL ? o->file : AMPED_CONF, &complaints);
	if (conf == NULL) {
		fputs(buf_string(&complaints), stderr);
		exit(1);
	}
	buf_free(&complaints);
	choose_architecture(conf, o->arch);
	return conf;
}

/* Beside this very program, as in the build directory, or where installed. */
static int
open_helper(const char *argv0)
{
	char	 path[PATH_MAX];
	ssize_t	 n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char	*slash;
	int	 fd = -1;

	if (n > 0)
		path[n] = '\0';
	else if (strchr(argv0, '/') == NULL || realpath(argv0, path) == NULL)
		path[0] = '\0';
	slash = strrchr(path, '/');
	if (slash != NULL && (size_t)(slash - path) + sizeof(HELPER) + 1 <
	    sizeof(path)) {
		strcpy(slash + 1, HELPER);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd == -1)
		fd = open(AMPED_LIBEXEC "/" HELPER, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		fatal("cannot find " HELPER " beside this program nor in "
		    AMPED_LIBEXEC);
	return fd;
}

static int
open_log(const char *file)
{
	int	fd;

	if (file == NULL)
		return -1;
	if (strcmp(file, "stderr") == 0)
		return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	/* A FIFO that nobody reads must not keep us. */
	fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
	    0640);
	if (fd == -1)
		fatal("cannot open the log %s", file);
	return fd;
}

/*
 * To close a file may wait for its file system, and so may ending with it: the
 * monitor has handles of its logs in place of files.  What is no file, or may
 * not be opened again, stays as it is.
 */
static void
hold_log(int *log)
{
	struct stat	st;
	int		handle, again;

	if (*log == -1 || fstat(*log, &st) == -1 || !S_ISREG(st.st_mode) ||
	    (fcntl(*log, F_GETFL) & O_APPEND) == 0)
		return;
	handle = io_handle(*log);
	again = io_open_again(handle, O_WRONLY | O_APPEND);
	if (again == -1) {
		io_close(&handle);
		return;
	}
	close(again);
	close(*log);
	*log = handle;
}

/* Who main and the helpers are to be, when started as root. */
static void
choose_user(struct monitor_setup *setup, const struct options *o)
{
	struct passwd	*pw;
	struct stat	 st;

	if (geteuid() != 0 || setup->conf->user == NULL)
		return;
	pw = getpwnam(setup->conf->user);
	if (pw == NULL)
		fatalx("there is no user %s: name another one in the conf "
		    "(user)", setup->conf->user);
	setup->user = mem_string(pw->pw_name);
	setup->uid = pw->pw_uid;
	setup->gid = pw->pw_gid;
	if (o->directory == NULL || proc_may_read(o->directory,
	    setup->user, setup->uid, setup->gid))
		return;
	/* Somebody tries it on a directory of their own: be its owner. */
	if (stat(o->directory, &st) == -1 ||
	    (pw = getpwuid(st.st_uid)) == NULL)
		fatal("cannot look at %s", o->directory);
	log_warnx("user %s may not read %s: serving it as its owner, %s",
	    setup->user, o->directory, pw->pw_name);
	setup->user = mem_string(pw->pw_name);
	setup->uid = pw->pw_uid;
	setup->gid = pw->pw_gid;
}

/* -u: with the privileges that the question will be answered with. */
static int
explain(struct monitor_setup *setup, struct options *o)
{
	struct buf	 wrong = { 0 };
	const char	*why;

	choose_user(setup, o);
	if (setup->user != NULL &&
	    proc_become(setup->user, setup->uid, setup->gid) == -1)
		fatal("cannot become user %s", setup->user);
	why = question_answer(&o->question, setup->conf, &wrong, stdout);
	if (why != NULL)
		fprintf(stderr, "amped: %s\n", why);
	buf_free(&wrong);
	mem_drop(&o->question.fields);
	return why != NULL ? EX_DATAERR : 0;
}

int
main(int argc, char **argv)
{
	static struct monitor_setup	setup;
	struct options			o = { 0 };
	struct conf			*conf;
	int				status;

	proc_standard_descriptors();
	proc_title_init(argc, argv);
	log_init("amped", LOG_GRADE_NOTICE);
	parse(argc, argv, &o);
	conf = read_conf(&o);
	if (o.dump)
		conf_dump(conf, stdout);
	if (o.test)
		fprintf(stderr, "amped: the conf is fine\n");
	if (o.dump || o.test) {
		conf_free(&conf);
		return 0;
	}
	setup.conf = conf;
	if (o.question.url != NULL) {
		status = explain(&setup, &o);
		free((char *)(uintptr_t)setup.user);
		conf_free(&conf);
		return status;
	}
	setup.helper = open_helper(argv[0]);
	choose_user(&setup, &o);
	setup.listeners = listener_open(conf, &setup.nlisteners);
	if (setup.listeners == NULL)
		return 1;
	setup.logs[0] = open_log(conf->log.access);
	setup.logs[1] = open_log(conf->log.error);
	setup.descriptors = proc_descriptors();
	if (setup.descriptors < DESCRIPTORS_LEAST)
		fatalx("%zu open files are too few: %d are needed at least, "
		    "for many clients more (ulimit -n)", setup.descriptors,
		    DESCRIPTORS_LEAST);
	if (o.directory != NULL) {
		setup.announce = stdout;
		setup.serving = o.directory;
	} else if (!o.foreground && proc_daemon() == -1)
		fatal("cannot go into the background");
	log_init("monitor", (enum log_grade)conf->log.error_grade);
	/* Until there is somebody to write what we say. */
	if (dup2(setup.logs[1], STDERR_FILENO) == -1)
		fatal("cannot write to the error log");
	hold_log(&setup.logs[0]);
	hold_log(&setup.logs[1]);
	proc_title("amped: monitor");
	status = monitor_run(&setup);
	free((char *)(uintptr_t)setup.user);
	conf_free(&conf);
	return status;
}
