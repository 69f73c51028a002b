/*
 * exchange: shared by the tests of pools.
 *
 * The manager knows nothing of records, so the application has lines: each one
 * that it reads from its connection is Perl, and it answers with the value.  A
 * process that has ended has no connection any more.
 */
#ifndef T_UNIT_PROGRAMS_EXCHANGE_H
#define T_UNIT_PROGRAMS_EXCHANGE_H

#include "t/unit/programs/mains.h"

static const char	application[] =
    "#!/usr/bin/env perl\n"
    "use Cwd; use POSIX (); use Socket;\n"
    "open(my $listener, '+<&=', 0);\n"
    "if (@ARGV == 1) {\n"
    "	accept(my $first, $listener);\n"
    "	close($first);\n"
    "	syswrite(STDERR, \"closed\\n\");\n"
    "}\n"
    "while (accept(our $c, $listener)) {\n"
    "	while (defined(my $line = <$c>)) {\n"
    "		my $value = eval($line) // $@;\n"
    "		syswrite($c, \"$value\\n\");\n"
    "	}\n"
    "	close($c);\n"
    "}\n";

/* A request, and the connection to its process. */
struct exchange {
	int		 request, connection;
	struct buf	 answer;
};

static inline void
ask(struct exchange *x, const char *line)
{
	ck_assert_int_eq(io_write_all(x->connection, line, strlen(line)), 0);
}

/* Returns the answer as a number. */
static inline int
await_number(struct exchange *x)
{
	x->answer.len = 0;
	return atoi(read_output(x->connection, "\n", &x->answer));
}

static inline struct exchange
begin(uint32_t program)
{
	struct exchange	x = { .request = start_texts(program, "", "", -1) };

	x.connection = await_start(x.request);
	return x;
}

/* Begins a request whose process answers with its id. */
static inline struct exchange
begin_at(uint32_t program, int *pid)
{
	struct exchange	x = begin(program);

	ask(&x, "$$\n");
	*pid = await_number(&x);
	ck_assert_int_gt(*pid, 0);
	return x;
}

static inline void
close_exchange(struct exchange *x)
{
	io_close(&x->connection);
	buf_free(&x->answer);
}

static inline void
finish_with(struct exchange *x, bool again)
{
	ck_assert_int_eq(program_message_send_done(x->request,
	    &(struct program_done){ .nanswered = 1, .again = again }), 0);
	await_end(&x->request);
	close_exchange(x);
}

static inline void
finish(struct exchange *x)
{
	finish_with(x, true);
}

/* A whole request; returns the id of its process. */
static inline int
run(uint32_t program)
{
	int		pid;
	struct exchange	x = begin_at(program, &pid);

	finish(&x);
	return pid;
}

/* Waits until no process has the other end of the connection. */
static inline void
await_gone(struct exchange *x)
{
	await_no_process(&x->connection);
	close_exchange(x);
}

#endif
