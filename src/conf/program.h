/*
 * program: the programs of a conf, which answer requests (CGI/1.1, RFC 3875).
 */
#ifndef CONF_PROGRAM_H
#define CONF_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/guard.h"

/* How a request is told to a program. */
enum conf_protocol {
	CONF_CGI,		/* a process for each request (RFC 3875) */
	CONF_FASTCGI,		/* over a connection that stays (FastCGI 1.0) */
	CONF_SCGI		/* over a connection for each request */
};

/*
 * program NAME { }, or the unnamed one of a directive cgi.
 *
 * A program with a directory is each executable file beneath it.  One with a
 * command is that command: an interpreter, which gets the file that the path
 * names as SCRIPT_FILENAME (run NAME for PATTERN...), or a program of its own,
 * which gets the rest of the path as PATH_INFO (run NAME).  A server that
 * others have started gets the same; amped leaves its processes alone.
 */
struct conf_program {
	char			*name;		/* NULL: of a cgi */
	struct {				/* private to conf/ */
		struct conf_words command, fastcgi, scgi, filter;
		struct conf_words made;	/* from filter */
	}			 given;
	char			*directory;	/* absolute; NULL: a command, or
						 * servers */
	/* Computed from the members above. */
	int64_t			 protocol;	/* enum conf_protocol */
	bool			 is_filter;	/* its protocol is CGI */
	/* Of a filter: one of amped's; the program of FASTCGI that does its
	 * work, or NULL; a switch; bytes. */
	bool			 is_own;
	const struct conf_program *application;
	int64_t			 optional, result;
	struct conf_words	 command;	/* an absolute file, arguments;
						 * n is 0: directory, servers */
	/* Where servers listen that others have started, for
	 * conf_server_parse().  n is 0: amped starts processes. */
	struct conf_words	 servers;
	char			*user, *group;	/* NULL: the server's user; the
						 * group of the user */
	int64_t			 confine;	/* enum conf_confinement */
	struct conf_words	 writes;	/* directories, for FILES */
	/* FASTCGI, of own processes: ms without a request; ms and requests of
	 * one, which then is replaced; 0: any. */
	int64_t			 idle, life, requests;
	struct conf_pairs	 variables;	/* of its environment */
	int64_t			 most;		/* processes at once; 0: two a
						 * processor */
	int64_t			 queue;		/* requests that may wait */
	int64_t			 within;	/* ms that one may wait */
	/* ms to the first byte, or to a filter's end; to the next byte. */
	int64_t			 answer, silence;
	int64_t			 stream;	/* a switch: bodies come late */
	int64_t			 hold;		/* bytes of output */
	int64_t			 nice;		/* 0 to 19 */
	int64_t			 memory;	/* bytes; 0: any, as the next */
	int64_t			 cpu;		/* ms of processor time */
	int64_t			 files;		/* open descriptors */
	int64_t			 processes;	/* of its user; 0: any */
	int64_t			 authorization;	/* a switch: it may see
						 * passwords of requests */
	struct conf_words	 sendfile;	/* absolute directories, beneath
						 * which it may name files */
	size_t			 sendfile_at;	/* the first one is this path of
						 * the site that has them */
	size_t			 number;	/* index in conf.programs */
	size_t			 manager;	/* below conf.nmanagers; see
						 * run.c: have_one_manager() */
	size_t			 place;		/* index among the programs of
						 * that manager */
	struct conf_origin	*origins;	/* private to conf/ */
};

/* A program that rules run, for files of these names. */
struct conf_run {
	const struct conf_program *program;
	const char		*pattern;	/* for fnmatch(3), of the last
						 * segment; NULL: each path */
};

struct conf;
struct conf_rules;

/* Where amped-helper is, which has the filters; borrowed. */
void		 conf_program_set_helper(const char *file);

/* Returns NULL if a text is the name of a variable that a program may be given
 * beside those of a request, else a message: a format whose only argument is
 * the text. */
const char	*conf_program_wrong_variable(const char *);
const char	*conf_program_label(const struct conf_program *); /* name */
/* How many processes of a program may run at once. */
unsigned	conf_program_most(const struct conf_program *);
/* Whether no body is kept: all programs that rules run have stream on. */
bool		conf_program_all_stream(const struct conf_rules *);
/* The program that rules run for each path; NULL: there is none, or by name. */
const struct conf_program *conf_program_of_all(const struct conf_rules *);
/* The program that rules run for a file of that name, which is terminated;
 * NULL: none. */
const struct conf_program *conf_program_of_file(const struct conf_rules *,
		    const char *name);
/* Calls a function with each directory that files of the program's requests may
 * be in: its own, and the roots and aliases of each site that runs it. */
void		conf_program_each_directory(const struct conf *,
		    const struct conf_program *,
		    void (*)(void *context, const char *directory),
		    void *context);

#endif
