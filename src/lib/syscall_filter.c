/*
 * syscall_filter: the one file that knows libseccomp.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/syscall_filter.h"

static const char *const role_names[] = {
#define X(id, name) [SYSCALL_ROLE_NUMBER_##id] = name,
	SYSCALL_ROLES(X)
#undef X
};

static unsigned
role_of(const char *name, size_t len)
{
	for (unsigned i = 0; i < SYSCALL_ROLE_COUNT; i++)
		if (strlen(role_names[i]) == len &&
		    strncmp(role_names[i], name, len) == 0)
			return 1u << i;
	return 0;
}

unsigned
syscall_filter_roles(const char *names)
{
	unsigned	all = 0, one;
	size_t		len;

	for (;; names += len + 1) {
		len = strcspn(names, ",");
		one = role_of(names, len);
		if (one == 0)
			return 0;
		all |= one;
		if (names[len] == '\0')
			return all;
	}
}

#ifdef HAVE_SECCOMP

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>

#include "lib/log.h"
#include "lib/pagemap.h"

#ifndef F_GET_SEALS
#define F_GET_SEALS	1034	/* an older libc does without */
#endif
#define ALL	(~0u)
/* The roles that use libraries of the system, as for user databases. */
#define LIBRARIES	(SYSCALL_ROLE_USERS | SYSCALL_ROLE_NAMES)
#define INT_BITS	UINT32_MAX	/* the bits of an int argument */

enum how { CALL, REFUSE, OWN, ASK, WHERE };

/* Of these bits of an argument, exactly those of set must be set. */
struct test {
	unsigned	 argument;
	uint64_t	 bits, set;
};

static const struct call_rule {
	const char	*name;
	enum how	 how;
	unsigned	 roles;
	unsigned	 ntests;
	struct test	 tests[2];
} call_rules[] = {
#define MAIN	SYSCALL_ROLE_MAIN
#define FILES	SYSCALL_ROLE_FILES
#define USERS	SYSCALL_ROLE_USERS
#define LOG	SYSCALL_ROLE_LOG
#define SYSLOG	SYSCALL_ROLE_SYSLOG
#define NAMES	SYSCALL_ROLE_NAMES
#define THREADS	SYSCALL_ROLE_THREADS
#define FILTER	SYSCALL_ROLE_FILTER
#define CALL(name, roles)	{ #name, CALL, roles, 0, { { 0 } } },
#define REFUSE(name, roles)	{ #name, REFUSE, roles, 0, { { 0 } } },
#define OWN(name)		{ #name, OWN, ALL, 0, { { 0 } } },
#define ASK(name)		{ #name, ASK, 0, 0, { { 0 } } },
#define SELF(name, roles)						\
	{ #name, WHERE, roles, 1, { { 0, INT_BITS, 0 } } },
#define BITS(name, roles, bits, set)					\
	{ #name, WHERE, roles, 1, { { 2, bits, set } } },
#define DOES(name, roles, command)					\
	{ #name, WHERE, roles, 1, { { 1, INT_BITS, command } } },
#define DOES_BUT(name, roles, command, bits)				\
	{ #name, WHERE, roles, 2, { { 1, INT_BITS, command },		\
	    { 2, bits, 0 } } },
#define OPTION(name, roles, level, option)				\
	{ #name, WHERE, roles, 2, { { 1, INT_BITS, level },		\
	    { 2, INT_BITS, option } } },
#include "lib/syscalls.tbl"
#undef CALL
#undef REFUSE
#undef OWN
#undef ASK
#undef SELF
#undef BITS
#undef DOES
#undef DOES_BUT
#undef OPTION
#undef MAIN
#undef FILES
#undef USERS
#undef LOG
#undef SYSLOG
#undef NAMES
#undef THREADS
#undef FILTER
};

#define NRULES	(sizeof(call_rules) / sizeof(call_rules[0]))

/* Fails on a system without seccomp(2), and under valgrind, allowed own calls
 * would be filtered too. */
bool
syscall_filter_available(void)
{
	const uint32_t	trap = SECCOMP_RET_TRAP;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &trap) == 0;
}

/* A signal handler: only async-signal-safe calls. */
static void
on_forbidden(int signo, siginfo_t *info, void *context)
{
	char	 digits[3 * sizeof(int) + 1], *at = digits + sizeof(digits);
	int	 n = info->si_syscall;

	(void)context;
	*--at = '\0';
	do
		*--at = (char)('0' + n % 10);
	while ((n /= 10) > 0 && at > digits);
	log_crash((const char *const []){ "system call number ", at,
	    " is forbidden to this process: report it; sandbox off in the "
	    "conf allows it", NULL });
	raise(signo);		/* ends the process when this returns */
}

static void
catch_forbidden(void)
{
	struct sigaction	sa = { .sa_sigaction = on_forbidden,
				    .sa_flags = SA_RESETHAND | SA_SIGINFO };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGSYS, &sa, NULL);
}

static int
add_if(scmp_filter_ctx filter, uint32_t action, int number,
    struct scmp_arg_cmp condition)
{
	return seccomp_rule_add_array(filter, action, number, 1, &condition);
}

static int
add_where(scmp_filter_ctx filter, int number, const struct call_rule *c)
{
	struct scmp_arg_cmp	all[2];

	for (unsigned i = 0; i < c->ntests; i++)
		all[i] = (struct scmp_arg_cmp){ .arg = c->tests[i].argument,
		    .op = SCMP_CMP_MASKED_EQ, .datum_a = c->tests[i].bits,
		    .datum_b = c->tests[i].set };
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number,
	    c->ntests, all);
}

static int
add_refused(scmp_filter_ctx filter, int number, unsigned allowed,
    unsigned roles)
{
	if ((allowed & roles) != 0)
		return seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
	return (roles & LIBRARIES) != 0 ? 0 : seccomp_rule_add(filter,
	    SCMP_ACT_ERRNO(EPERM), number, 0);
}

static int
add_pagemap_only(scmp_filter_ctx filter, int number, unsigned roles)
{
	const struct scmp_arg_cmp	scan = { .arg = 1, .op = SCMP_CMP_EQ,
					    .datum_a = PAGEMAP_IOC_SCAN };
	const struct scmp_arg_cmp	other = { .arg = 1, .op = SCMP_CMP_NE,
					    .datum_a = PAGEMAP_IOC_SCAN };
	int				error;

	if ((roles & SYSCALL_ROLE_MAIN) == 0)
		return add_refused(filter, number, 0, roles);
	error = add_if(filter, SCMP_ACT_ALLOW, number, scan);
	return error != 0 || (roles & LIBRARIES) != 0 ? error : add_if(filter,
	    SCMP_ACT_ERRNO(EPERM), number, other);
}

static int
add_call(scmp_filter_ctx filter, const struct call_rule *c, unsigned roles)
{
	const struct scmp_arg_cmp	own = { .op = SCMP_CMP_EQ,
					    .datum_a = (scmp_datum_t)getpid() };
	int				number;

	number = seccomp_syscall_resolve_name(c->name);
	if (number < 0)			/* this system has no such call */
		return 0;
	switch (c->how) {
	case OWN:
		return add_if(filter, SCMP_ACT_ALLOW, number, own);
	case REFUSE:
		return add_refused(filter, number, c->roles, roles);
	case ASK:
		return add_pagemap_only(filter, number, roles);
	case WHERE:
		return (c->roles & roles) == 0 ? 0 : add_where(filter, number,
		    c);
	default:
		return (c->roles & roles) == 0 ? 0 : seccomp_rule_add(filter,
		    SCMP_ACT_ALLOW, number, 0);
	}
}

/* Only AF_UNIX, except for NAMES; other families fail with EAFNOSUPPORT. */
static int
add_sockets(scmp_filter_ctx filter, unsigned roles)
{
	const struct scmp_arg_cmp	local = { .op = SCMP_CMP_EQ,
					    .datum_a = AF_UNIX };
	const struct scmp_arg_cmp	remote = { .op = SCMP_CMP_NE,
					    .datum_a = AF_UNIX };
	int				number, error;

	number = seccomp_syscall_resolve_name("socket");
	if ((roles & (LIBRARIES | SYSCALL_ROLE_SYSLOG)) == 0 || number < 0)
		return 0;
	if ((roles & SYSCALL_ROLE_NAMES) != 0)
		return seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
	error = add_if(filter, SCMP_ACT_ALLOW, number, local);
	return error != 0 ? error : add_if(filter,
	    SCMP_ACT_ERRNO(EAFNOSUPPORT), number, remote);
}

/* Allows NAMES and THREADS to start threads, but no process.  clone3(2) has its
 * flags in memory, which a filter cannot read; with ENOSYS libraries use
 * clone(2). */
static int
add_threads(scmp_filter_ctx filter, unsigned roles)
{
	const struct scmp_arg_cmp	thread = { .op = SCMP_CMP_MASKED_EQ,
					    .datum_a = CLONE_THREAD,
					    .datum_b = CLONE_THREAD };
	int				number, error = 0;

	if ((roles & (SYSCALL_ROLE_NAMES | SYSCALL_ROLE_THREADS)) == 0)
		return 0;
	number = seccomp_syscall_resolve_name("clone");
	if (number >= 0)
		error = add_if(filter, SCMP_ACT_ALLOW, number, thread);
	number = seccomp_syscall_resolve_name("clone3");
	if (error == 0 && number >= 0)
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS),
		    number, 0);
	return error;
}

static int
add_all(scmp_filter_ctx filter, unsigned roles)
{
	int	error = 0;

	for (size_t i = 0; i < NRULES && error == 0; i++)
		error = add_call(filter, &call_rules[i], roles);
	if (error == 0)
		error = add_sockets(filter, roles);
	return error != 0 ? error : add_threads(filter, roles);
}

int
syscall_filter_enter(unsigned roles)
{
	/* The libraries of these roles make calls that amped does not know. */
	scmp_filter_ctx	filter = seccomp_init((roles & LIBRARIES) != 0 ?
			    SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP);
	int		error;

	if (filter == NULL) {
		errno = ENOMEM;
		return -1;
	}
	/* Binary search, if libseccomp has it: some calls are frequent, and
	 * older kernels do not cache the filter's results. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (error == 0)
		error = add_all(filter, roles);
	catch_forbidden();
	if (error == 0)
		error = seccomp_load(filter);
	seccomp_release(filter);
	errno = -error;
	return error == 0 ? 0 : -1;
}

#else

bool
syscall_filter_available(void)
{
	return false;
}

int
syscall_filter_enter(unsigned roles)
{
	(void)roles;
	errno = ENOSYS;
	return -1;
}

#endif
