/*
 * helper: main() of amped-helper: does the jobs that come over the stream pipe
 * on its standard input, one at a time.
 *
 * Jobs may block here.  Must not know what a job is for, and must not exit
 * because a job fails; the process exits when the pipe closes.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "helpers/append.h"
#include "helpers/cli.h"
#include "helpers/error_writer.h"
#include "helpers/filters/filter.h"
#include "helpers/fds.h"
#include "helpers/log_sink.h"
#include "helpers/notify.h"
#include "helpers/rdns.h"
#include "helpers/syslog.h"
#include "helpers/wire.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/options.h"
#include "lib/proc.h"
#include "lib/sandbox.h"
#include "lib/str.h"
#include "lib/syscall_filter.h"

/* Roles of a process with a stream pipe. */
enum role { HELPER, ACCESS_LOGGER, ERROR_LOGGER };

static const char *const role_names[] = { "helper", "access logger",
    "error logger" };
static const char *const titles[] = { "amped: helper", "amped: access log",
    "amped: error log" };

static const struct options_row	option_table[] = {
	{ 'c', NULL, "calls",
	    "Enters a sandbox: the roles whose system calls are allowed." },
	{ 'e', NULL, NULL, "Is the error logger." },
	{ 'j', NULL, NULL, "With -e: writes each line as JSON." },
	{ 'k', NULL, "links", "Follows these symbolic links: none, beneath, "
	    "owner, all." },
	{ 'l', NULL, "number", "Is the access logger, with so many logs." },
	{ 'n', NULL, NULL, "Looks up the host names of clients." },
	{ 'r', NULL, NULL,
	    "With -c: exits if a part of the sandbox is missing." },
	{ 's', NULL, "facility,tag,socket",
	    "Writes to the system's log there." },
	{ 'u', NULL, "user", "Looks names up in this user's home." },
	OPTIONS_COMMON
};

static void
print_usage(FILE *out)
{
	fputs("usage: amped-helper [-ehjnrV] [-c calls] [-l number] "
	    "[-s facility,tag,socket]\n"
	    "       amped-helper [-k links] [-u user] resolve root path "
	    "[name ...]\n"
	    "       amped-helper read file [offset length]\n"
	    "       amped-helper append file text ...\n"
	    "       amped-helper [-k links] [-u user] list root path "
	    "[pattern ...]\n"
	    "       amped-helper [-k links] [-u user] compress root path "
	    "[name ...]\n"
	    "       amped-helper verify file user\n"
	    "       amped-helper copy file [offset length]\n"
	    "       amped-helper close file [offset length]\n"
	    "       amped-helper digest file [offset length]\n"
	    "       amped-helper spool text ...\n"
	    "Without a job, standard input must be a stream pipe that brings "
	    "jobs.\n",
	    out);
}

static int
refuse_usage(void)
{
	print_usage(stderr);
	return EX_USAGE;
}

static bool
on_stream_pipe(void)
{
	struct stat	st;

	return fstat(STDIN_FILENO, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* The logs of the access logger, which the monitor has opened. */
static void
set_logs(size_t n)
{
	int	*logs = mem_array(n + 1, sizeof(*logs));	/* not 0 */

	for (size_t i = 0; i < n; i++) {
		logs[i] = i == 0 ? FD_LOG : FD_MORE_LOGS + (int)i - 1;
		if (fcntl(logs[i], F_GETFD) == -1)
			fatal("log number %zu is not open at descriptor %d", i,
			    logs[i]);
	}
	job_set_logs(logs, n);
	free(logs);
}

/* A terminal and kill(1) may send their signals to the whole process group, but
 * a helper ends when its pipe does.  A full disk is an error of a job. */
static void
set_signals(void)
{
	static const int	ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
				    SIGPIPE, SIGXFSZ };

	proc_signals_reset();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	proc_signals_unblock();		/* the monitor has blocked them */
}

/* Whether errno says that the other end of the pipe is closed. */
static bool
is_pipe_closed(void)
{
	return errno == EPIPE || errno == ECONNRESET;
}

static int
serve_jobs(void)
{
	static char	buffer[WIRE_MAX];
	struct job	job;
	int		asked, got, sent = 0;

	while ((got = wire_recv_request(STDIN_FILENO, &job, buffer)) == 1) {
		asked = job.fd;
		job_perform(&job);
		if (job.kind == JOB_VERIFY)	/* has a password */
			explicit_bzero(buffer, sizeof(buffer));
		sent = wire_send_reply(STDIN_FILENO, &job);
		/* The helper's copies of main's file, and of the result. */
		if (job.fd != asked)
			io_close(&job.fd);
		if (job.kind != JOB_CLOSE)
			io_close(&asked);
		if (sent == -1)
			break;
	}
	if ((got == -1 || sent == -1) && !is_pipe_closed())
		fatal("the stream pipe to main has failed");
	return 0;
}

/* Enters the sandbox of option -c, with the ruleset at FD_RULES. */
static void
enter_sandbox(struct sandbox *s)
{
	if (s->roles == 0)
		return;
	if (fcntl(FD_RULES, F_GETFD) != -1)
		s->rules = FD_RULES;
	else if ((s->roles & SYSCALL_ROLE_FILES) != 0)
		s->rules = SANDBOX_NO_RULES;
	sandbox_enter(s);
}

/* The error logger outlives the monitor for a moment, for the last lines. */
static int
write_errors(struct sandbox *s, struct syslog *syslog, bool json)
{
	struct log_sink	log = { .fd = STDERR_FILENO, .syslog = syslog,
			    .json = json };

	if (syslog != NULL)
		syslog->has_levels = true;
	proc_survive_parent(getppid());
	enter_sandbox(s);
	error_writer_run(STDIN_FILENO, FD_LINES, FD_DROPS, &log);
	return 0;
}

static int
run_role(enum role role, size_t logs, struct sandbox *s, struct syslog *syslog,
    bool json)
{
	set_signals();
	log_init(role_names[role], LOG_LEVEL_NOTICE);
	proc_title(titles[role]);
	if (role != ERROR_LOGGER) {
		proc_die_with_parent(getppid());
		log_count_drops(FD_DROPS);
	}
	if (role == ACCESS_LOGGER)
		set_logs(logs);
	if (role == ACCESS_LOGGER && syslog != NULL && logs > 0)
		append_set_syslog(syslog);
	if (role == ERROR_LOGGER)
		return write_errors(s, syslog, json);
	if (role == HELPER && fcntl(FD_NOTIFY, F_GETFD) != -1)
		notify_use(FD_NOTIFY);
	enter_sandbox(s);
	return serve_jobs();
}

static int
print_info(int option)
{
	if (option == 'h') {
		print_usage(stdout);
		putchar('\n');
		options_print(stdout, option_table);
	} else
		puts("amped-helper " PACKAGE_VERSION);
	return 0;
}

static int
run_cli(enum job_links links, const char *user, int n, char **words)
{
	int	status = strcmp(words[0], "filter") == 0 ?
		    filter_main(n - 1, words + 1) :
		    cli_perform(links, user, n, words);

	return status == EX_USAGE ? refuse_usage() : status;
}

int
main(int argc, char **argv)
{
	enum job_links	 links = JOB_LINKS_BENEATH;
	const char	*user = NULL;
	int64_t		 logs = 0;
	enum role	 role = HELPER;
	struct sandbox	 sandbox = { .rules = -1 };
	struct syslog	 syslog, *system = NULL;
	bool		 json = false;
	int		 c;

	proc_title_init(argc, argv);
	while ((c = options_next(argc, argv, option_table, true)) != -1)
		switch (c) {
		case 'c':
			sandbox.roles = syscall_filter_roles(optarg);
			if (sandbox.roles == 0)
				return refuse_usage();
			break;
		case 'e':
			role = ERROR_LOGGER;
			break;
		case 'h':
		case 'V':
			return print_info(c);
		case 'k':
			links = job_links_find(optarg);
			if (links == JOB_LINKS_COUNT)
				return refuse_usage();
			break;
		case 'l':
			role = ACCESS_LOGGER;
			if (!str_number(str_of(optarg), &logs) ||
			    logs > FD_LOGS_END - FD_MORE_LOGS)
				return refuse_usage();
			break;
		case 'n':
			append_set_rdns(rdns_new(rdns_lookup));
			break;
		case 'j':
		case 'r':
			*(c == 'j' ? &json : &sandbox.required) = true;
			break;
		case 's':
			system = &syslog;
			if (!syslog_init(system, optarg))
				return refuse_usage();
			break;
		case 'u':
			user = optarg;
			break;
		default:
			return refuse_usage();
		}
	if (optind < argc && role == HELPER)
		return run_cli(links, user, argc - optind, argv + optind);
	if (optind < argc || !on_stream_pipe())
		return refuse_usage();
	return run_role(role, (size_t)logs, &sandbox, system, json);
}
